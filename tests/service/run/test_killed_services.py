"""Services that are killed at any moment, under many clients, lose and repeat nothing."""

import os
import random
import signal
import time
from pathlib import Path

from tests.service.postgres_server import OwnServer, empty_database
from tests.service.run.crowd import Crowd
from tests.service.run.killing import (
    CLIENTS,
    KILLS,
    POSTGRES_KILLS,
    Start,
    begin,
    check_acknowledged,
    check_clean,
    seconds_to_answer,
    start,
    states,
    tell_of,
    wait_for,
    wait_until_they_agree,
)
from tests.service.server import SECONDS, Server

__all__ = ["start"]  # a fixture


def test_a_killed_service_loses_nothing(start: Start, tmp_path: Path) -> None:
    """Kill -9 under load, again and again: 0 lost, 0 counted twice, verified each time."""
    database, chance, seconds = str(tmp_path / "belated.db"), random.Random(1), []
    begin(database)
    server, crowd = start(database), Crowd(CLIENTS)
    for _ in range(KILLS):
        crowd.addresses = [server.address]
        wait_for(crowd, 30)
        time.sleep(chance.uniform(0.0, 0.3))
        server.kill()
        crowd.addresses = ()
        check_acknowledged(database, crowd)
        check_clean(database)
        began = time.monotonic()
        server = start(database)
        seconds_to_answer(server.address)
        seconds.append(time.monotonic() - began)
    states([server])
    crowd.addresses = [server.address]
    wait_for(crowd, 20)
    crowd.stop()
    assert server.stop() == 0
    check_acknowledged(database, crowd)
    tell_of("The service on SQLite", KILLS, crowd, seconds)


def test_workers_are_bit_identical_and_lose_nothing(start: Start, database: str) -> None:
    """1, 2, then 4 services on one PostgreSQL database, some killed: all replicas end alike."""
    begin(database)
    services = [start(database) for _ in range(4)]
    crowd, seconds = Crowd(CLIENTS), []
    for number in (1, 2, 4):
        crowd.addresses = [each.address for each in services[:number]]
        wait_for(crowd, 30)
    for kill in range(POSTGRES_KILLS):
        services[kill % 4].kill()
        crowd.addresses = [each.address for each in services if each is not services[kill % 4]]
        wait_for(crowd, 10)
        began = time.monotonic()
        services[kill % 4] = start(database)
        seconds_to_answer(services[kill % 4].address)
        seconds.append(time.monotonic() - began)
        crowd.addresses = [each.address for each in services]
        wait_for(crowd, 10)
        check_at_rest(database, crowd)
    crowd.stop()
    wait_until_they_agree(services)
    assert [each.stop() for each in services] == [0] * 4
    check_acknowledged(database, crowd)
    tell_of("Workers on PostgreSQL", POSTGRES_KILLS, crowd, seconds)


def check_at_rest(database: str, crowd: Crowd) -> None:
    """All of it, while nobody asks."""
    before = crowd.addresses
    crowd.rest()
    check_acknowledged(database, crowd)
    check_clean(database)
    crowd.addresses = before


def test_a_killed_database_loses_nothing(start: Start, own_server: OwnServer) -> None:
    """PostgreSQL, all of it, is killed under services: they answer again when it does."""
    chance, seconds = random.Random(2), []
    with empty_database(own_server.url) as database:
        begin(database)
        number = 2 if POSTGRES_KILLS > 1 else 1
        services, crowd = [start(database) for _ in range(number)], Crowd(CLIENTS)
        for _ in range(POSTGRES_KILLS):
            crowd.addresses = [each.address for each in services]
            wait_for(crowd, 30)
            time.sleep(chance.uniform(0.0, 0.3))
            own_server.kill()
            began = time.monotonic()
            own_server.start_again()
            for service in services:
                seconds_to_answer(service.address)
            seconds.append(time.monotonic() - began)
            check_at_rest(database, crowd)
        wait_for(crowd, 20)
        crowd.stop()
        wait_until_they_agree(services)
        assert [each.stop() for each in services] == [0] * number
        check_acknowledged(database, crowd)
    tell_of("PostgreSQL", POSTGRES_KILLS, crowd, seconds)


def test_workers_of_one_service(start: Start, database: str) -> None:
    """`--workers 2` replaces one that dies, starts again where its supervisor dies, ends whole."""
    begin(database)
    options = ("--no-auth", "--workers", "2", "--port")
    server, crowd, seconds = start(database, *options, "0"), Crowd(4), []
    address = server.address
    crowd.addresses = [address]
    for kill in range(POSTGRES_KILLS):
        wait_for(crowd, 20)
        began = time.monotonic()
        if kill % 2 == 0:
            os.kill(workers_of(server)[0], signal.SIGKILL)
        else:
            server.kill()
            server = start(database, *options, address.rpartition(":")[2])
        seconds_to_answer(address)
        seconds.append(time.monotonic() - began)
        wait_for(crowd, 20)
    last = workers_of(server)
    crowd.stop()
    assert server.stop() == 0
    assert not any(alive(child) for child in last)
    check_acknowledged(database, crowd)
    check_clean(database)
    tell_of("Workers of one service and their supervisor", POSTGRES_KILLS, crowd, seconds)


def test_workers_end_with_their_supervisor(start: Start, database: str) -> None:
    """After a kill -9 of the supervisor nobody holds the port, and a new start serves there."""
    begin(database)
    server = start(database, "--no-auth", "--workers", "2")
    port = server.address.rpartition(":")[2]
    orphans = workers_of(server)
    assert len(orphans) == 2
    os.kill(orphans[0], signal.SIGSTOP)  # one that cannot even see it
    server.process.kill()
    server.process.wait(SECONDS)
    until = time.monotonic() + SECONDS
    while any(alive(each) for each in orphans) and time.monotonic() < until:
        time.sleep(0.01)
    left = [each for each in orphans if alive(each)]
    for each in left:
        os.kill(each, signal.SIGKILL)
    assert not left
    again = start(database, "--no-auth", "--workers", "2", "--port", port)
    assert again.address == server.address
    seconds_to_answer(again.address)
    assert again.stop() == 0


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
