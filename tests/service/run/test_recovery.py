"""After a kill the service answers again soon: it folds only what came after the last snapshot."""

import os
import random
import shutil
import time
from pathlib import Path

from belated.service.core.replicas import Replicas
from belated.service.core.requests import Ask, Tell, TicketReport
from belated.service.core.snapshot_rounds import FEWEST_EVENTS, PER_OPEN
from belated.service.store import Store, open_store
from tests.service.core.thread_client import (
    ThreadClient,
    catch_up,
    fingerprints_in,
    thread_client,
)
from tests.service.run.crowd import PROBLEM
from tests.service.run.killing import seconds_to_answer
from tests.service.server import serving

ROWS = int(os.environ.get("BELATED_ROWS", "5600"))
LEARNER = os.environ.get("BELATED_LEARNER", "exp3")
AT_ONCE, TOLD = 250, 0.9
STARTS = 5


def fill(thread: ThreadClient, rows: int) -> None:
    """Decide and tell until the journal is so long; of some plays nothing ever comes."""
    chance, written = random.Random(1), 1
    while written < rows:
        made = thread.do(Ask(PROBLEM, AT_ONCE))
        told = [TicketReport(each.ticket, 0.3) for each in made if chance.random() < TOLD]
        thread.do(Tell(told))
        written += len(made) + len(told)


def killed_file(folder: Path) -> Path:
    """The file of a service that was killed with a long journal in it."""
    with open_store(folder / "live.db", durability="off") as store, thread_client(store) as thread:
        thread.create(PROBLEM, arms=["red", "green"], learner=LEARNER)
        fill(thread, ROWS)
        until = time.monotonic() + 60
        while len(store.tail(store.snapshots.complete().position, ROWS)[0]) > most_after(store):
            assert time.monotonic() < until, "no snapshot is taken"
            thread.states()
        return copied(folder / "live.db", folder / "killed.db")


def most_after(store: Store) -> int:
    """How many events there may be after the last round of snapshots."""
    waiting = sum(map(sum, store.ages(PROBLEM, []).values()))
    return max(FEWEST_EVENTS, PER_OPEN * waiting) + 2 * AT_ONCE


def copied(file: Path, to: Path) -> Path:
    """A file and what is not yet in it."""
    for end in ("", "-wal"):
        shutil.copy(f"{file}{end}", f"{to}{end}")
    return to


def test_a_restart_folds_little(tmp_path: Path) -> None:
    """However long the journal: no more than is written between two snapshots is folded again."""
    killed = killed_file(tmp_path)
    with open_store(copied(killed, tmp_path / "looked-at.db")) as store:
        loaded = Replicas.loaded(store)
        replica = loaded.by_name[PROBLEM]
        assert replica.round >= ROWS / (1 + TOLD) - AT_ONCE
        assert loaded.unsaved <= most_after(store) < ROWS
        whole = Replicas(store)
        catch_up(whole)
        assert fingerprints_in(loaded) == fingerprints_in(whole)
        if ROWS >= 100_000:
            print(f"\n{loaded.unsaved} of {ROWS} rows are folded after a kill", end="")
    if ROWS >= 100_000:
        seconds = [seconds_of_a_start(killed) for _ in range(STARTS)]
        shown = ", ".join(f"{each:.2f}" for each in sorted(seconds))
        print(f"; from `belated serve` to the first answer: {shown} s")


def seconds_of_a_start(killed: Path) -> float:
    """From the command to the first decision, on the file as the kill has left it."""
    file = copied(killed, killed.with_name("again.db"))
    began = time.monotonic()
    with serving(str(file)) as server:
        seconds_to_answer(server.address)
        return time.monotonic() - began
