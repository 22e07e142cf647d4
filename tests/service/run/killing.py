"""What the kill loops share: services that end with their test, and what must stand then."""

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence

import httpx
import pytest

from belated.service.admin.offline import create
from belated.service.store import open_store
from tests.cli.commands import belated
from tests.service.run.crowd import PROBLEM, SECONDS, Crowd
from tests.service.server import PLAIN, Server

KILLS = int(os.environ.get("BELATED_KILLS", "1"))
POSTGRES_KILLS = int(os.environ.get("BELATED_POSTGRES_KILLS", "1"))
CLIENTS = int(os.environ.get("BELATED_CLIENTS", "8"))
Start = Callable[..., Server]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts services; none of them outlives its test."""
    started: list[Server] = []

    def begun(database: str, *options: str) -> Server:
        started.append(Server(database, *(options or ("--no-auth",))))
        return started[-1]

    yield begun
    for server in started:
        if server.process.poll() is None:
            server.kill()


def begin(database: str) -> None:
    """A store with a problem in it."""
    with open_store(database) as store:
        create(store, PROBLEM, {"arms": ["red", "green"]}, time.time())


def check_acknowledged(database: str, crowd: Crowd) -> None:
    """All that was acknowledged is there, once: every decision with its arm, every loss."""
    told, decided, records = dict(crowd.told), dict(crowd.decided), {}
    assert crowd.wrong == []
    assert max(dict(crowd.counted).values(), default=0) <= 1
    tickets = list(decided)
    with open_store(database) as store:
        for first in range(0, len(tickets), 500):
            records |= store.tickets(tickets[first : first + 500])
    assert {ticket: records[ticket].decision.arm for ticket in tickets} == decided
    losses = {ticket: [each.loss for each in records[ticket].outcomes] for ticket in told}
    assert losses == {ticket: [loss] for ticket, loss in told.items()}


def check_clean(database: str) -> None:
    """`belated verify` finds nothing wrong with a store at rest."""
    done = belated("verify", "--db", database, "--json", **PLAIN)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["clean"] is True


def wait_for(crowd: Crowd, more: int) -> None:
    """Until so many more decisions were acknowledged."""
    until, aim = time.monotonic() + SECONDS, len(crowd.decided) + more
    while len(crowd.decided) < aim:
        assert time.monotonic() < until
        time.sleep(0.01)


def states(services: Sequence[Server]) -> list[str]:
    """The live states of services, each found to be the fold of the journal."""
    found = []
    for service in services:
        with service.client() as http:
            report = http.post("/v1/verify").json()
            assert report["clean"] is True, report
            (problem,) = report["problems"]
            found.append(f"{problem['events']} {problem['state']}")
    return found


def wait_until_they_agree(services: Sequence[Server]) -> None:
    """Until each has read all that the others have written."""
    until = time.monotonic() + SECONDS
    while len(set(states(services))) > 1:
        assert time.monotonic() < until
        time.sleep(0.05)


def seconds_to_answer(address: str) -> float:
    """How long it takes until a service, which may be away, makes a decision."""
    started = time.monotonic()
    with httpx.Client(base_url=address, timeout=600) as http:
        while True:
            try:
                if http.post(f"/v1/problems/{PROBLEM}/ask").status_code == 200:
                    return time.monotonic() - started
            except httpx.TransportError:
                pass
            assert time.monotonic() < started + SECONDS
            time.sleep(0.01)


def tell_of(what: str, kills: int, crowd: Crowd, seconds: Sequence[float]) -> None:
    """The numbers of a loop, for those who let pytest show what is printed."""
    middle, most = sorted(seconds)[len(seconds) // 2], max(seconds)
    print(
        f"\n{what} killed {kills} times under {CLIENTS} clients: {len(crowd.decided)} decisions "
        f"and {len(crowd.told)} outcomes acknowledged, {crowd.again} requests sent again, none "
        f"lost, none counted twice; answers after {middle:.2f} s (median), {most:.2f} s (most)"
    )
