"""The decision service with a store that writes nothing, and with a slow one."""

import time
from collections.abc import Sequence

from fastapi import FastAPI
from sqlalchemy import event

from belated.service.admin.keys import hash_of
from belated.service.admin.offline import create
from belated.service.run.app import Settings, create_app
from belated.service.store import Appended, Decision, Note, Outcome, Store, open_store
from belated.service.store.records import DecisionResult, OutcomeResult
from belated.service.store.sqlite import SqliteStore
from benchmarks.asks.empty import KEY, PROBLEM

ARMS = 10
ANY_RATE = 1e9


class Unwritten(SqliteStore):
    """A store that keeps problems and keys in memory, and does not store decisions."""

    def __init__(self) -> None:
        super().__init__(None)
        furnish(self)

    def append(
        self,
        decisions: Sequence[Decision],
        outcomes: Sequence[Outcome],
        notes: Sequence[Note] = (),
        more_notes: object = None,
        generations: object = None,
        named: object = None,
    ) -> Appended:
        """Accept all events as new without writing them."""
        return Appended(
            [DecisionResult(each, True) for each in decisions],
            [OutcomeResult(each, True) for each in outcomes],
        )


def furnish(store: Store) -> None:
    """Add a problem, and a key for it, to the store."""
    create(store, PROBLEM, {"arms": [f"arm {place}" for place in range(ARMS)]}, time.time())
    store.keys.add(hash_of(KEY), [f"ask:{PROBLEM}"], "benchmark", time.time())


def slowed(store: Store, seconds: float) -> Store:
    """Return the store with a delay added to every commit, as on a slower disk."""
    event.listen(store._transactions.writer, "commit", lambda connection: time.sleep(seconds))
    return store


def stubbed() -> FastAPI:
    """Make the whole service, with a store that writes nothing."""
    return create_app(Settings("", rate=ANY_RATE), lambda database, durability: Unwritten())


def on_slow_disk(database: str, seconds: float) -> FastAPI:
    """Make the service with a SQLite file, and with a delay added to every commit."""
    settings = Settings(database, rate=ANY_RATE)
    return create_app(settings, lambda *where: slowed(open_store(*where), seconds))
