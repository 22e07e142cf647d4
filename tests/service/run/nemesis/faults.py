"""The faults: each breaks something, waits a little, and lets it be whole again.

Those in a storm may keep the service from answering for a while. All others are faults of one
request, of one problem, or such as everybody can wait for: no other request may be refused.
"""

import contextlib
import random
import resource
import signal
import socket
import sqlite3
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import psutil
import psycopg

from tests.service.run.nemesis.battle import Battle, eventually
from tests.service.run.nemesis.poison import DAMAGES, answer_to, damage, poisons, request

UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
NO_MORE = (1, resource.RLIM_INFINITY)  # bytes in a file
REFUSE_ROWS = (
    "create function no_room() returns trigger language plpgsql as $$ begin raise exception "
    "'could not extend file' using errcode = 'disk_full'; end $$",
    "create trigger full_disk before insert on journal execute function no_room()",
)
MOST_VICTIMS = 12
HALF_OPEN, VANISHING = 40, 20

Fault = Callable[[Battle, random.Random], None]


def pause(chance: random.Random, most: float) -> None:
    """Wait for a random time."""
    time.sleep(chance.uniform(0.0, most))


# -- faults of the whole service


def kill_service(battle: Battle, chance: random.Random) -> None:
    """Kill -9 of the service; with workers, of their supervisor."""
    with battle.weather.storm():
        battle.kill()
        battle.wait_until_ready()


def kill_worker(battle: Battle, chance: random.Random) -> None:
    """Kill -9 of a worker, which is replaced."""
    with battle.weather.storm():
        with contextlib.suppress(psutil.NoSuchProcess):
            chance.choice(battle.processes).kill()
        time.sleep(1.0)  # the supervisor looks twice a second
        battle.wait_until_ready()


def kill_database(battle: Battle, chance: random.Random) -> None:
    """Kill -9 of all PostgreSQL, which is started again."""
    assert battle.postgres is not None
    with battle.weather.storm():
        battle.postgres.kill()
        pause(chance, 0.5)
        battle.postgres.start_again()
        battle.wait_until_ready()


def kill_backend(battle: Battle, chance: random.Random) -> None:
    """Kill -9 of one connection's process: PostgreSQL then ends all others and recovers."""
    with battle.weather.storm():
        eventually(lambda: bool(battle.backends), "there are connections")
        before = battle.backends
        chance.choice(before).kill()
        eventually(lambda: not any(each.is_running() for each in before), "all are ended")
        battle.wait_until_ready()


def full_disk(battle: Battle, chance: random.Random) -> None:
    """No file of the service may grow."""
    (process,) = battle.processes
    with battle.weather.storm():
        process.rlimit(resource.RLIMIT_FSIZE, NO_MORE)
        eventually(lambda: battle.http.get("/readyz").status_code == 503, "it is not ready")
        pause(chance, 0.5)
        process.rlimit(resource.RLIMIT_FSIZE, UNLIMITED)
        battle.wait_until_ready()


def full_disk_of_database(battle: Battle, chance: random.Random) -> None:
    """PostgreSQL refuses new rows of the journal as it does if its disk is full."""

    def done(*statements: str) -> bool:
        with away_allowed(), psycopg.connect(battle.database) as other:
            for statement in statements:
                other.execute(statement)
            return True
        return False

    with battle.weather.storm():
        eventually(lambda: done(*REFUSE_ROWS), "the disk is full")
        pause(chance, 1.0)
        eventually(lambda: done("drop function no_room() cascade"), "the disk has room")
        battle.wait_until_ready()


# -- faults that everybody can wait for


def stop_process(battle: Battle, chance: random.Random) -> None:
    """A worker, or a process of PostgreSQL, sleeps for a while."""
    with contextlib.suppress(psutil.NoSuchProcess):  # another fault has ended it
        those = battle.processes
        if battle.postgres is not None and chance.random() < 0.5:
            those = battle.backends or those
        for chosen in chance.sample(those, min(1, len(those))):
            chosen.send_signal(signal.SIGSTOP)
            pause(chance, 1.5)
            chosen.send_signal(signal.SIGCONT)


def wrong_clock(battle: Battle, chance: random.Random) -> None:
    """The time of day is set forward by a day, or back by some minutes, and then right again."""
    battle.set_clock(chance.choice((86_400.0, 5.0, -5.0, -1_800.0)))
    pause(chance, 2.0)
    battle.set_clock(0.0)
    pause(chance, 0.5)


def locked_file(battle: Battle, chance: random.Random) -> None:
    """Somebody else holds the write lock of the database for a while."""
    with contextlib.closing(sqlite3.connect(battle.database, isolation_level=None)) as other:
        other.execute("pragma busy_timeout = 60000")
        other.execute("begin immediate")
        pause(chance, 2.0)
        other.execute("rollback")


def long_transaction(battle: Battle, chance: random.Random) -> None:
    """Somebody's transaction stays open, or is prepared and forgotten, and holds learning back."""
    assert battle.postgres is not None
    url, name = battle.postgres.url, f"forgotten-{time.time_ns()}"
    with away_allowed(), psycopg.connect(url, autocommit=True) as other:
        other.execute("begin")
        other.execute("select pg_current_xact_id()")
        if prepared := chance.random() < 0.5:
            other.execute(f"prepare transaction '{name}'")
        pause(chance, 3.0)
        if not prepared:
            other.execute("rollback")
    eventually(lambda: is_rolled_back(url, name), "a prepared transaction is rolled back")


def is_rolled_back(url: str, name: str) -> bool:
    """Whether there is no such prepared transaction any more."""
    with away_allowed(), psycopg.connect(url, autocommit=True) as other:
        if other.execute("select 1 from pg_prepared_xacts where gid = %s", (name,)).fetchone():
            other.execute(f"rollback prepared '{name}'")
        return True
    return False


def away_allowed() -> contextlib.AbstractContextManager[None]:
    """Another fault may have the database away just now."""
    return contextlib.suppress(psycopg.OperationalError)


# -- faults of one request, or of one problem


def poisoned_requests(battle: Battle, chance: random.Random) -> None:
    """Requests that must be refused."""
    for sent in poisons(battle.key, chance):
        before = battle.weather.calm()
        status, reason = answer_to(battle.server.address, sent)
        is_answered = 200 <= status < 500
        if not is_answered and before is not None and before == battle.weather.calm():
            battle.model.complain(f"{sent.data[:200]!r} in a calm: {reason}")
        elif status == 500:
            battle.model.complain(f"{sent.data[:200]!r}: {reason}")


def half_open_connections(battle: Battle, chance: random.Random) -> None:
    """Connections that send the beginning of a request, and then nothing."""
    place = urlsplit(battle.server.address)
    with contextlib.ExitStack() as held:
        for number in range(HALF_OPEN):
            with contextlib.suppress(OSError):
                each = socket.create_connection((place.hostname, place.port), timeout=5)
                held.enter_context(each)
                each.sendall(b"POST /v1/problems/plain/ask HTTP/1.1\r\nX: y\r\n"[: number + 1])
        pause(chance, 2.0)


def vanishing_clients(battle: Battle, chance: random.Random) -> None:
    """Clients that ask, and are gone before the answer; nobody knows of what is decided."""
    place = urlsplit(battle.server.address)
    path = f"/v1/problems/{battle.victims[-1]}/ask"
    for _ in range(VANISHING):
        with (
            contextlib.suppress(OSError),
            socket.create_connection((place.hostname, place.port), timeout=5) as each,
        ):
            each.sendall(request("POST", path, "", battle.key).data)
        pause(chance, 0.05)


def damaged_problem(battle: Battle, chance: random.Random) -> None:
    """A row that cannot be folded, put into the journal of one problem by SQL."""
    what = chance.choice(list(DAMAGES))

    def done() -> bool:
        with away_allowed():
            damage(battle.database, battle.victims[-1], what)
            return True
        return False  # or perhaps it is done: twice is no more damage than once

    with battle.damaging:  # one victim after the other
        if len(battle.victims) < MOST_VICTIMS:
            eventually(done, f"{what} is written")
            battle.next_victim()


SMALL: list[Fault] = [
    poisoned_requests, half_open_connections, vanishing_clients, damaged_problem,
]  # fmt: skip
# Of these only one at a time: nobody promises anything about a start while the clock is wrong.
LARGE_OF_SQLITE: list[Fault] = [wrong_clock, kill_service, full_disk]
LARGE_OF_POSTGRES: list[Fault] = [
    wrong_clock, kill_service, kill_worker, kill_database, kill_backend, full_disk_of_database,
]  # fmt: skip
WAITS_OF_SQLITE: list[Fault] = [stop_process, locked_file]
WAITS_OF_POSTGRES: list[Fault] = [stop_process, long_transaction]
