"""A service under clients, and all that its faults need: its processes, its clock, its victims."""

import json
import os
import shutil
import struct
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest

from belated.service.admin.offline import create
from belated.service.store import open_store
from belated.service.web.readiness import FRESH
from tests.cli.commands import belated
from tests.service.postgres_server import OwnServer
from tests.service.run.nemesis.clients import SECONDS, Clients
from tests.service.run.nemesis.model import ARMS, SPECS, Model, Weather
from tests.service.server import PLAIN, Server
from tests.service.web.test_keys import made_key

SOURCE = Path(__file__).with_name("wrong_clock.c")
CLIENTS = 6
FOLDING = 3600.0  # seconds for the whole journal to be folded


class Battle:
    """A service with clients; `postgres` is the server of its database, if it has one.

    `victims` are the problems that are damaged on purpose, the last of them not yet.
    """

    def __init__(
        self, database: str, folder: Path, seed: int, postgres: OwnServer | None = None
    ) -> None:
        self.database, self.seed, self.postgres = database, seed, postgres
        self.weather, self.model = Weather(), Model()
        self.victims: list[str] = []
        self.damaging = threading.Lock()
        self.workers = 1 if postgres is None else 2
        self._clock = folder / "clock"
        self._clock.write_bytes(bytes(8))
        self._library = built_clock(folder)
        with open_store(database) as store:
            for name, spec in SPECS.items():
                create(store, name, spec, time.time())
        self.key = made_key(database, "admin:*", "ask:*", "tell:*")
        self._port = "0"
        self.clients = Clients(self.key, self.model, self.weather, seed)
        self.http = httpx.Client()
        self.server = self._started()

    def begin(self) -> None:
        """Let the clients come, when it serves."""
        self._port = self.server.address.rpartition(":")[2]
        self.http = self.server.client(self.key)
        self.next_victim()
        self.clients.begin(CLIENTS, self.server.address)

    def _started(self) -> Server:
        clock = {"LD_PRELOAD": str(self._library), "BELATED_WRONG_CLOCK": str(self._clock)}
        before = {name: os.environ.get(name) for name in clock}
        os.environ.update(clock)
        try:
            return Server(
                self.database, "--port", self._port, "--workers", str(self.workers), "--rate", "0"
            )
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})

    # -- what faults do

    def kill(self) -> None:
        """End the whole service without warning, and start it again at the same place."""
        self.server.kill()
        self.server = self._started()
        assert self.server.address  # it serves

    def set_clock(self, wrong_by: float) -> None:
        """Set the time of day of the service wrong by so many seconds."""
        with self._clock.open("r+b") as file:
            file.write(struct.pack("=d", float(int(wrong_by))))

    def next_victim(self) -> None:
        """Create a problem that will be damaged."""
        name = f"victim-{len(self.victims)}"
        seen = {"learner": "linear", "features": {"age": "number"}, "default_loss": 1.0}
        body = {"name": name, "arms": ARMS, **seen}

        def created() -> bool:
            return self.http.post("/v1/problems", json=body).status_code in (201, 409)

        eventually(created, "a problem is created")
        self.victims.append(name)
        self.clients.victim = name

    @property
    def processes(self) -> list[psutil.Process]:
        """The processes that serve: the workers, or the one process."""
        found = psutil.Process(self.server.process.pid)
        if self.workers == 1:
            return [found]
        return [each for each in found.children() if "spawn_main" in " ".join(each.cmdline())]

    @property
    def backends(self) -> list[psutil.Process]:
        """The processes of PostgreSQL that serve our connections; none if it is away."""
        assert self.postgres is not None
        rows = []
        with suppress(psycopg.OperationalError), psycopg.connect(self.postgres.url) as other:
            rows = other.execute(
                "select pid from pg_stat_activity where backend_type = 'client backend'"
                " and pid <> pg_backend_pid()"
            ).fetchall()
        return [psutil.Process(pid) for (pid,) in rows if psutil.pid_exists(pid)]

    def wait_until_ready(self) -> None:
        """Wait until all workers serve: each has answered, and can commit."""

        def all_there() -> bool:
            health = self.http.get("/healthz").json()
            return len(self.processes) == self.workers == health["workers"]

        time.sleep(FRESH)  # else what it knew before may be answered
        eventually(all_there, "all workers are there")
        for _ in range(
            3 * self.workers
        ):  # each on a connection, and so perhaps a worker, of its own
            with self.server.client(self.key) as http:
                eventually(lambda http=http: http.get("/readyz").status_code == 200, "it is ready")

    # -- the end

    def finish(self) -> None:
        """Let the clients finish, then check that all is well but for the victims."""
        self.clients.stop()
        with self.weather.storm():
            self.kill()  # SQLite learns of a damaged row at a start
            self.wait_until_ready()
        damaged = self.victims[:-1]
        self._check_visible(damaged)
        report = self.http.post("/v1/verify", timeout=FOLDING).json()
        assert {each["problem"] for each in report["problems"] if not each["clean"]} == set(damaged)
        assert self.server.stop() == 0
        done = belated("verify", "--db", self.database, "--json", **PLAIN)
        report = json.loads(done.stdout)
        assert {each["problem"] for each in report["problems"] if not each["clean"]} == set(damaged)
        assert done.returncode == (1 if damaged else 0)
        with open_store(self.database) as store:
            self.model.check(store, self.victims)

    def _check_visible(self, damaged: list[str]) -> None:
        """The damaged are refused with the reason, and named wherever one looks; others serve."""

        def named() -> bool:
            return self.http.get("/readyz").json()["broken"] == sorted(damaged)  # type: ignore[no-any-return]

        eventually(named, f"{damaged} are found out")
        metrics = self.http.get("/metrics").text
        listed = self.http.get("/v1/problems").json()["broken"]
        assert [each["name"] for each in listed] == sorted(damaged)
        for name in damaged:
            assert f'belated_broken_problem{{problem="{name}"}} 1.0' in metrics
            answer = self.http.post(f"/v1/problems/{name}/ask")
            assert (answer.status_code, "of the journal cannot be" in answer.text) == (503, True)
        for name in SPECS:
            made = self.http.post(f"/v1/problems/{name}/ask")
            assert made.status_code == 200, made.text
            with self.model.lock:
                self.model.decided[made.json()["ticket"]] = name, made.json().get("arm")

    def close(self) -> None:
        """End all that was started."""
        self.clients.leave()
        self.http.close()
        if self.server.process.poll() is None:
            self.server.kill()


def eventually(is_so: Callable[[], bool], what: str) -> None:
    """Wait until something is so, though the service may be away meanwhile."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        try:
            if is_so():
                return
        except (httpx.TransportError, ValueError, KeyError, psutil.Error):
            pass
        time.sleep(0.05)
    raise TimeoutError(f"not in {SECONDS:g} s: {what}")


def built_clock(folder: Path) -> Path:
    """The clock that can be set wrong, as a library; without a compiler the test is skipped."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    library = folder / "wrong_clock.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE)]
    subprocess.run(command, check=True, capture_output=True)
    return library
