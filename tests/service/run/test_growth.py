"""A service that retains by itself, and deletes and forgets when it is asked to, over HTTP."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from belated.client import Client, ProblemConflictError, UnknownProblemError
from belated.service.store import open_store
from belated.types import ClosedTicketError, Ticket
from tests.cli.commands import belated
from tests.service.server import PLAIN, SECONDS, serving


def waited_for(client: Client, is_there: Any) -> dict[str, Any]:
    """The statistics of a problem once they are as wanted."""
    until = time.monotonic() + SECONDS
    while not is_there(found := client.stats("ads")):
        assert time.monotonic() < until, found
        time.sleep(0.05)
    return found


def wait_until_swept(client: Client, ticket: Ticket) -> None:
    """Until the rows of a ticket are deleted, and it says so."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        try:
            client.ticket(ticket)
        except ClosedTicketError as error:
            assert "only a checkpoint is kept" in str(error)  # noqa: PT017
            return
        time.sleep(0.05)
    raise AssertionError("its rows are still there")


def test_a_service_retains_by_itself(address: str, tmp_path: Path) -> None:
    """Old tickets end in the archive and in the checkpoint; all numbers stay as they were."""
    folder = tmp_path / "old"
    options = ("--no-auth", "--retain", "1s", "--archive", str(folder))
    with serving(address, *options) as server, Client(server.address) as client:
        client.create_problem("ads", ["red", "green"])
        tickets = [client.ask("ads", key=f"anna-{number}") for number in range(6)]
        for ticket in tickets[:4]:
            client.tell(ticket, 0.25)
        found = waited_for(client, lambda stats: (stats["retained"] or {}).get("tickets") == 4)
        assert found["retained"]["until"] < time.time()
        assert [found["round"], found["pending"]] == [6, 2]
        assert sum(each["told"] for each in found["by_arm"]) == 4
        wait_until_swept(client, tickets[3])
        with pytest.raises(ClosedTicketError, match="only a checkpoint is kept"):
            client.tell(tickets[0], 0.25)
        log = client.log("ads")
        assert log["retained"]["tickets"] == 4
        assert [row[7] for row in log["rows"]] == [each.id for each in tickets[4:]]
        assert client.tell(tickets[4], 0.5).counted
        assert client.verify()["clean"]
        assert client.forget("ads", ticket=tickets[5]) == 1
        assert client.forget("ads", older_than=0.0) in (0, 1)  # the fifth may be retained by now
        with pytest.raises(ProblemConflictError, match="archive it first"):
            client.delete_problem("ads")
        client.archive("ads")
        assert client.delete_problem("ads") == "deleted"
        with pytest.raises(UnknownProblemError):
            client.stats("ads")
        client.create_problem("other", ["red"])
        until = time.monotonic() + SECONDS
        while "ads" not in {each.name for each in client.problems()}:
            assert time.monotonic() < until
            try:
                client.create_problem("ads", ["blue", "grey"])
            except ProblemConflictError as error:
                assert "free soon" in str(error)  # noqa: PT017
                time.sleep(0.05)
        assert client.ask("ads").round == 1
        assert client.verify()["clean"]
    assert list(folder.glob("journal-*.parquet"))


def test_the_command_line_retains_forgets_and_deletes(tmp_path: Path) -> None:
    """On a store at rest; each says what it did, and bad input is one line."""
    database = str(tmp_path / "belated.db")
    where = ("--db", database)
    for name in ("ads", "old"):
        belated("problems", "create", name, "-a", "red", *where, **PLAIN)
    with serving(database) as server, Client(server.address) as client:
        for number in range(5):
            client.tell(client.ask("ads", key=f"anna-{number}"), 0.5)
        client.ask("ads", key="bert")
    done = belated("retain", "--older-than", "90d", *where, **PLAIN)
    assert (done.returncode, done.stdout) == (0, "No closed ticket is that old.\n")
    done = belated("forget", "ads", "--older-than", "0s", *where, "--json", **PLAIN)
    assert json.loads(done.stdout) == {"name": "ads", "forgotten": 6}
    archive = ("--archive", str(tmp_path / "old"))
    done = belated("retain", "--older-than", "0s", *archive, *where, "--json", **PLAIN)
    found = json.loads(done.stdout)
    assert (found["tickets"], found["deleted"]) == (5, 10)
    done = belated("export", "ads", str(tmp_path / "ads.csv"), *where, **PLAIN)
    assert "5 tickets that were closed until" in done.stderr
    assert belated("verify", *where, **PLAIN).returncode == 0
    done = belated("problems", "delete", "old", *where, **PLAIN)
    assert done.returncode == 2
    assert "archive it first" in done.stderr
    belated("problems", "archive", "old", *where, **PLAIN)
    assert belated("problems", "delete", "old", *where, **PLAIN).stdout == "old is deleted.\n"
    for words in (
        ("retain", "--older-than", "90"),
        ("forget", "ads"),
        ("forget", "x", "--ticket", "y"),
    ):
        done = belated(*words, *where, **PLAIN)
        assert done.returncode in (1, 2)
        assert "Traceback" not in done.stderr
    with open_store(database) as store:
        assert [each.name for each in store.problems()] == ["ads"]
