"""All faults at once, at random: whatever breaks, nothing acknowledged is lost or done twice.

A fault of one request touches that request, one of a problem that problem. BELATED_NEMESIS says for
how many seconds, BELATED_SEED with which faults in which order.
"""

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.postgres_server import OwnServer, empty_database
from tests.service.run.nemesis import faults
from tests.service.run.nemesis.battle import Battle
from tests.service.run.nemesis.faults import Fault

SECONDS = float(os.environ.get("BELATED_NEMESIS", "8"))
LONG = 45.0  # in `make check`
SEED = int(os.environ.get("BELATED_SEED", "1"))


def test_nothing_breaks_a_service_on_sqlite(tmp_path: Path) -> None:
    """One process that owns its file."""
    fight(Battle(str(tmp_path / "belated.db"), tmp_path, SEED), SECONDS)


@pytest.mark.check
def test_nothing_breaks_workers_on_postgresql(own_server: OwnServer, tmp_path: Path) -> None:
    """Two workers behind one port, on a server that may be killed, too."""
    with empty_database(own_server.url) as database:
        fight(Battle(database, tmp_path, SEED, own_server), SECONDS)


@pytest.mark.check
def test_nothing_breaks_for_longer(own_server: OwnServer, tmp_path: Path) -> None:
    """Both again, with other faults in another order."""
    fight(Battle(str(tmp_path / "belated.db"), tmp_path, SEED + 1), LONG)
    with empty_database(own_server.url) as database:
        fight(Battle(database, tmp_path, SEED + 1, own_server), LONG)


def fight(battle: Battle, seconds: float) -> None:
    """Break a service for so many seconds, unless they are few in every way; then all is well."""
    is_short = seconds < LONG
    done: Counter[str] = Counter()
    try:
        battle.begin()
        until = time.monotonic() + seconds
        for number, those in enumerate(rounds_of(battle)):
            if time.monotonic() > until and (is_short or all_done(battle, done)):
                break
            done.update(each.__name__ for each in those)
            run_together(battle, those, number)
            assert battle.model.wrong == []
        battle.finish()
        tell_of(battle, done)
    finally:
        battle.close()


def decks_of(battle: Battle) -> tuple[list[Fault], list[Fault]]:
    """The faults of which one at a time is enough, and those that everybody can wait for."""
    if battle.postgres is None:
        return faults.LARGE_OF_SQLITE, faults.WAITS_OF_SQLITE
    return faults.LARGE_OF_POSTGRES, faults.WAITS_OF_POSTGRES


def all_done(battle: Battle, done: Counter[str]) -> bool:
    """Whether each fault has been tried."""
    large, waits = decks_of(battle)
    return all(done[each.__name__] for each in (*large, *waits, *faults.SMALL))


def rounds_of(battle: Battle) -> Iterator[list[Fault]]:
    """Faults that come together: one large one, often some others."""
    chance, (large, waits) = random.Random(battle.seed), decks_of(battle)
    turns = [endless(deck, chance) for deck in (large, waits, faults.SMALL, faults.SMALL)]
    while True:
        yield [next(turn) for turn in turns if chance.random() < 0.7]


def endless(deck: list[Fault], chance: random.Random) -> Iterator[Fault]:
    """All faults of a deck in random order, again and again."""
    while True:
        yield from chance.sample(deck, len(deck))


def run_together(battle: Battle, those: list[Fault], number: int) -> None:
    """Run faults at the same time, each with chances of its own."""
    failed: list[str] = []

    def run(fault: Fault, place: int) -> None:
        try:
            fault(battle, random.Random(f"{battle.seed}-{number}-{place}"))
        except Exception as error:  # which would else be lost with the thread
            failed.append(f"{fault.__name__}: {error!r}")

    threads = [
        threading.Thread(target=run, args=(fault, place), daemon=True)
        for place, fault in enumerate(those)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def tell_of(battle: Battle, done: Counter[str]) -> None:
    """The numbers of a fight, for those who let pytest show what is printed."""
    model = battle.model
    print(
        f"\n{battle.workers} worker(s), seed {battle.seed}: {len(model.decided)} decisions and "
        f"{len(model.outcomes)} outcomes acknowledged, and {len(model.named)} with names, "
        f"{model.sent_again} requests sent again, "
        f"none lost, none twice, {len(battle.victims) - 1} problems damaged; {dict(done)}"
    )
