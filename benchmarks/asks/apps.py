"""The service to be asked: without its store, and on a slow disk."""

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
    """A store that keeps problems and keys in memory, and of decisions nothing."""

    def __init__(self) -> None:
        super().__init__(None)
        furnish(self)

    def append(
        self,
        decisions: Sequence[Decision],
        outcomes: Sequence[Outcome],
        notes: Sequence[Note] = (),
    ) -> Appended:
        """All of it is new, and nothing is written."""
        return Appended(
            [DecisionResult(each, True) for each in decisions],
            [OutcomeResult(each, True) for each in outcomes],
        )


def furnish(store: Store) -> None:
    """A problem and a key for it."""
    create(store, PROBLEM, {"arms": [f"arm {place}" for place in range(ARMS)]}, time.time())
    store.keys.add(hash_of(KEY), [f"ask:{PROBLEM}"], "benchmark", time.time())


def slowed(store: Store, seconds: float) -> Store:
    """The same store on a slower disk: every commit takes so much longer."""
    event.listen(store._transactions.writer, "commit", lambda connection: time.sleep(seconds))
    return store


def stubbed() -> FastAPI:
    """The service, complete but for what the store writes."""
    return create_app(Settings("", rate=ANY_RATE), lambda database, durability: Unwritten())


def on_slow_disk(database: str, seconds: float) -> FastAPI:
    """The service on a file whose commits take so much longer."""
    settings = Settings(database, rate=ANY_RATE)
    return create_app(settings, lambda *where: slowed(open_store(*where), seconds))
