"""A service that lives but cannot do its work says so: `/readyz` is 503, `/healthz` 200."""

import resource
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest

from belated.service.admin.offline import create
from belated.service.store import open_store
from belated.service.web.readiness import ReadinessReport, readiness_view
from tests.service.material import decision
from tests.service.server import SECONDS, serving

UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


def wait_until(
    http: httpx.Client, status: int, fits: Callable[[str], bool] = bool
) -> httpx.Response:
    """The answer of `/readyz` once it has this status, and its reasons fit."""
    until = time.monotonic() + SECONDS
    while True:
        answer = http.get("/readyz")
        assert http.get("/healthz").status_code == 200
        assert (answer.status_code == 200) == (answer.json()["status"] == "ready")
        if answer.status_code == status and (
            status == 200 or fits(" ".join(answer.json()["reasons"]))
        ):
            return answer
        assert time.monotonic() < until, answer.text
        time.sleep(0.05)


def test_a_full_disk(tmp_path: Path) -> None:
    """Files that may not grow: not ready, and ready again when they may."""
    with serving(str(tmp_path / "belated.db")) as server, server.client() as http:
        http.post("/v1/problems", json={"name": "ads", "arms": ["red", "green"]})
        wait_until(http, 200)
        process = psutil.Process(server.process.pid)
        process.rlimit(resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
        wait_until(http, 503, lambda reasons: "the store cannot be used now" in reasons)
        assert http.post("/v1/problems/ads/ask").status_code == 503
        process.rlimit(resource.RLIMIT_FSIZE, UNLIMITED)
        wait_until(http, 200)
        assert http.post("/v1/problems/ads/ask").status_code == 200


def test_a_locked_file(tmp_path: Path) -> None:
    """Somebody else holds the database: not ready, and ready again when it is released."""
    database = tmp_path / "belated.db"
    with serving(str(database)) as server, server.client() as http:
        wait_until(http, 200)
        with closing(sqlite3.connect(database, isolation_level=None)) as holder:
            holder.execute("begin immediate")
            wait_until(http, 503, lambda reasons: "nothing could be committed for 5 s" in reasons)
            holder.execute("rollback")
        wait_until(http, 200)


@pytest.mark.parametrize("kind", ["", "-wal", "-shm"])
def test_a_deleted_file(tmp_path: Path, kind: str) -> None:
    """What is written into a deleted file is lost with it, so nothing is acknowledged any more."""
    database, kept = tmp_path / f"belated.db{kind}", tmp_path / "kept"
    with serving(str(tmp_path / "belated.db")) as server, server.client() as http:
        http.post("/v1/problems", json={"name": "ads", "arms": ["red", "green"]})
        wait_until(http, 200)
        database.rename(kept)
        assert "was deleted or replaced" in http.post("/v1/problems/ads/ask").json()["detail"]
        wait_until(http, 503, lambda reasons: f"{database.name} was deleted" in reasons)
        kept.rename(database)
        wait_until(http, 200)
        assert http.post("/v1/problems/ads/ask").status_code == 200
        assert http.post("/v1/verify").json()["clean"] is True


def test_a_stalled_horizon(database: str) -> None:
    """A transaction that somebody leaves open holds up all reading: not ready after a while."""
    options = ("--no-auth", "--max-lag", "0.5")
    with serving(database, *options) as server, server.client() as http:
        http.post("/v1/problems", json={"name": "ads", "arms": ["red", "green"]})
        wait_until(http, 200)
        with psycopg.connect(database) as holder:
            holder.execute("select pg_current_xact_id()")
            for _ in range(3):
                assert http.post("/v1/problems/ads/ask").status_code == 200
            answer = wait_until(http, 503, lambda reasons: "wait to be read" in reasons)
            lag = answer.json()["lag"]
            assert lag["rows"] == 3
            assert lag["seconds"] > 0.5
        wait_until(http, 200)


def test_a_broken_problem_leaves_the_rest_ready(tmp_path: Path) -> None:
    """It is named, and all others are served."""
    database = str(tmp_path / "belated.db")
    with open_store(database) as store:
        create(store, "ads", {"arms": ["red", "green"], "learner": "exp3"}, time.time())
        spec = {**store.problems()[0].spec, "learner": "of-tomorrow"}
        store.create_problem("odd", spec, time.time())
    with serving(database) as server, server.client() as http:
        assert wait_until(http, 200).json()["broken"] == ["odd"]
        assert http.post("/v1/problems/ads/ask").status_code == 200
        assert http.post("/v1/problems/odd/ask").status_code == 503


def test_what_was_damaged_says_so_wherever_one_looks(tmp_path: Path) -> None:
    """A row that cannot be read: its ticket, its log and its problem answer 503 with the reason."""
    database = str(tmp_path / "belated.db")
    with open_store(database) as store:
        for name in ("bad", "fine"):
            create(store, name, {"arms": ["red", "green"]}, time.time())
        store.append([decision("0" * 26, problem="bad", weights={"red": 1.0})], [])
    with closing(sqlite3.connect(database)) as other, other:
        other.execute("update journal set weights = '{' where kind = 'decided'")
    with serving(database) as server, server.client() as http:
        wait_until(http, 200)
        (broken,) = http.get("/v1/problems").json()["broken"]
        assert broken["name"] == "bad"
        assert "row 3 of the journal cannot be read" in broken["reason"]
        for path in (f"/v1/tickets/{'0' * 26}", "/v1/problems/bad/log", "/v1/problems/bad"):
            answer = http.get(path)
            assert answer.status_code == 503
            assert "row 3 of the journal cannot be read" in answer.json()["detail"]
        assert 'belated_broken_problem{problem="bad"} 1.0' in http.get("/metrics").text
        assert http.post("/v1/problems/fine/ask").status_code == 200
        (bad,) = [each for each in http.post("/v1/verify").json()["problems"] if not each["clean"]]
        assert bad["problem"] == "bad"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            'the store cannot be used now: connection failed: connection to server at "10.0.0.5", '
            "port 5432 failed: FATAL:  the database system is starting up",
            "the store cannot be used now: connection failed: the database system is starting up",
        ),
        (
            "the store cannot be used now: connection is bad: connection to server on socket "
            '"/run/pg/.s.PGSQL.5432" failed: No such file or directory',
            "the store cannot be used now: connection is bad: No such file or directory",
        ),
        ("database or disk is full", "database or disk is full"),
    ],
)
def test_where_the_database_is_is_not_said_to_anybody(said: str, shown: str) -> None:
    """No key is needed to ask, so an address inside a network does not belong there."""
    assert readiness_view(ReadinessReport((said,)), [])["reasons"] == [shown]
