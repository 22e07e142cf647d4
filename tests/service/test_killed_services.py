"""Services that are killed at any moment, under many clients, lose and repeat nothing."""

import json
import os
import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from belated.service.administration import create
from belated.service.store import open_store
from tests.cli.commands import belated
from tests.service.crowd import PROBLEM, Crowd
from tests.service.server import PLAIN, Server

KILLS = int(os.environ.get("BELATED_KILLS", "1"))
CLIENTS = int(os.environ.get("BELATED_CLIENTS", "8"))
Start = Callable[..., Server]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts services; none of them outlives its test."""
    started: list[Server] = []

    def begun(database: str, *options: str) -> Server:
        started.append(Server(database, *options))
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
    decided, told, records = dict(crowd.decided), dict(crowd.told), {}
    assert crowd.wrong == []
    assert max(crowd.counted.values(), default=0) <= 1
    tickets = list(decided)
    with open_store(database) as store:
        for first in range(0, len(tickets), 500):
            records |= store.tickets(tickets[first : first + 500])
    assert {ticket: records[ticket].decision.arm for ticket in tickets} == decided
    losses = {ticket: [each.loss for each in records[ticket].outcomes] for ticket in told}
    assert losses == {ticket: [loss] for ticket, loss in told.items()}


def wait_for(crowd: Crowd, more: int) -> None:
    """Until so many more decisions were acknowledged."""
    until, aim = time.monotonic() + 60, len(crowd.decided) + more
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


def test_a_killed_service_loses_nothing(start: Start, tmp_path: Path) -> None:
    """Kill -9 under load, again and again: 0 lost, 0 counted twice, verified each time."""
    database, chance = str(tmp_path / "belated.db"), random.Random(1)
    begin(database)
    server, crowd = start(database, "--no-auth"), Crowd(CLIENTS)
    for _ in range(KILLS):
        crowd.addresses = [server.address]
        wait_for(crowd, 30)
        time.sleep(chance.uniform(0.0, 0.3))
        server.kill()
        crowd.addresses = ()
        check_acknowledged(database, crowd)
        server = start(database, "--no-auth")
        states([server])
    crowd.addresses = [server.address]
    wait_for(crowd, 20)
    crowd.stop()
    assert server.stop() == 0
    check_acknowledged(database, crowd)
    done = belated("verify", "--db", database, "--json", **PLAIN)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["clean"] is True


def test_workers_are_bit_identical_and_lose_nothing(start: Start, database: str) -> None:
    """1, 2, then 4 services on one PostgreSQL database, some killed: all replicas end alike."""
    begin(database)
    services = [start(database, "--no-auth") for _ in range(4)]
    crowd = Crowd(CLIENTS)
    for number in (1, 2, 4):
        crowd.addresses = [each.address for each in services[:number]]
        wait_for(crowd, 30)
    for kill in range(KILLS):
        services[kill % 4].kill()
        crowd.addresses = [each.address for each in services if each is not services[kill % 4]]
        wait_for(crowd, 10)
        services[kill % 4] = start(database, "--no-auth")
        crowd.addresses = [each.address for each in services]
        wait_for(crowd, 10)
    crowd.stop()
    time.sleep(0.5)  # now there is nothing new to read
    assert len(set(states(services))) == 1
    assert [each.stop() for each in services] == [0] * 4
    check_acknowledged(database, crowd)


def test_workers_of_one_service(start: Start, database: str) -> None:
    """`--workers 2` replaces one that dies, and stops them all."""
    begin(database)
    server = start(database, "--no-auth", "--workers", "2")
    crowd = Crowd(4)
    crowd.addresses = [server.address]
    wait_for(crowd, 20)
    first = workers_of(server)
    os.kill(first[0], signal.SIGKILL)
    wait_for(crowd, 20)
    crowd.stop()
    assert server.stop() == 0
    assert not any(alive(child) for child in first)
    check_acknowledged(database, crowd)


def workers_of(server: Server) -> list[int]:
    """The workers of a service."""
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
    found = [int(child) for child in children.read_text().split()]
    return [child for child in found if b"spawn_main" in command_of(child)]


def command_of(process: int) -> bytes:
    """The command line of a process."""
    return Path(f"/proc/{process}/cmdline").read_bytes()


def alive(process: int) -> bool:
    """Whether there is such a process, and it is not yet over."""
    try:
        return b"spawn_main" in command_of(process)
    except OSError:
        return False
