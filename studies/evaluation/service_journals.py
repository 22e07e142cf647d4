"""Journals that the decision service writes, and what the policy that ran next truly earned.

In each of these simulated shops the service decides, learns and expires as it does in use; only its
clock is simulated. Outcomes come late, some after their ticket has expired, and some never. Then
the learner is stopped, and its last weights decide on their own. The evaluation estimates from the
journal alone what they earn, and its interval is compared with what they do earn.

In half of the shops an outcome is lost whatever it is (`missing`). In the other half a failure
never reports (`default`).
"""

import tempfile
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.evaluation.evaluate import evaluate
from belated.evaluation.logs.log_sources import read_log
from belated.service.admin.export import rows_of
from belated.service.core.commit_thread import CommitThread, Replies
from belated.service.core.problems import checked_spec
from belated.service.core.replicas import Replicas
from belated.service.core.requests import (
    Ask,
    CreateProblem,
    Job,
    Request,
    RunOnThread,
    Tell,
    TicketReport,
)
from belated.service.store import Decision, Store, open_store

ARMS = ("red", "green", "blue")
NAME = "shop"
STEPS, EACH, SECONDS = 250, 20, 20.0  # batches of decisions, decisions in each, time between two
PATIENCE = 400.0  # seconds until a ticket expires
NEXT = 20_000  # decisions of the policy that ran next
WAYS = ("missing", "default")


class Shop(NamedTuple):
    """What a simulated shop draws from."""

    way: str
    means: Floats  # of the rewards, by arm
    delays: Floats  # mean seconds until an outcome, by arm
    lost: Floats  # share of outcomes that never come, by arm


class Found(NamedTuple):
    """The estimate of a policy's value from a journal, and what the policy then earned."""

    way: str
    low: float | None  # none if the journal is too young for an arm
    high: float | None
    earned: float
    untold: float  # share of the journal's rows

    @property
    def holds(self) -> bool:
        """Whether the interval holds what was earned."""
        if self.low is None or self.high is None:
            return False
        return self.low <= self.earned <= self.high


def shop_of(seed: int) -> tuple[Shop, np.random.Generator]:
    """Draw a shop; failures never report in every second one."""
    random = np.random.default_rng([20, seed])
    way = WAYS[seed % 2]
    lost = random.uniform(0.0, 0.25, 3) if way == "missing" else np.zeros(3)
    return Shop(way, random.uniform(0.1, 0.7, 3), random.uniform(20.0, 250.0, 3), lost), random


def journal_study(seed: int) -> Found:
    """Let the service write a journal, evaluate its learner's last weights on it, and play them."""
    shop, random = shop_of(seed)
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{Path(folder) / 'journal.db'}")
        try:
            rows, weights = journal_of(store, shop, random, seed)
        finally:
            store.close()
    found = evaluate(
        read_log(rows, now=STEPS * SECONDS),
        {"next": dict(zip(ARMS, weights.tolist(), strict=True))},
        silence=shop.way,
        default_loss=1.0 if shop.way == "default" else None,
        estimators=("snips",),
        draws=200,
        seed=seed,
    )["next"]
    played = random.choice(3, NEXT, p=weights)
    earned = float((random.random(NEXT) < shop.means[played]).mean())
    estimate = found.estimates["snips"]
    untold = float(np.mean([row["outcome"] != "told" for row in rows]))
    return Found(shop.way, estimate.low, estimate.high, earned, untold)


def journal_of(
    store: Store, shop: Shop, random: np.random.Generator, seed: int
) -> tuple[list[dict[str, Any]], Floats]:
    """Run the service over a shop; its journal as rows of an export, and its last weights."""
    now = [0.0]
    thread = CommitThread(store, _settle, clock=lambda: now[0], seed=seed)

    def do(request: Request) -> Any:
        future: Future[Any] = Future()
        thread.submit([Job(request, future)])
        return future.result()

    try:
        spec = {"arms": ARMS, "expire_seconds": PATIENCE, "default_loss": 1.0}
        do(CreateProblem(NAME, checked_spec(spec)))
        coming: list[tuple[float, TicketReport]] = []
        for step in range(STEPS):
            now[0] = step * SECONDS
            due = [report for at, report in coming if at <= now[0]]
            coming = [each for each in coming if each[0] > now[0]]
            if due:
                do(Tell(due))
            made: list[Decision] = do(Ask(NAME, EACH))
            coming += [each for one in made for each in _outcome(shop, random, one)]

        def look(store: Store, replicas: Replicas) -> tuple[list[dict[str, Any]], Floats]:
            problem = store.problem(NAME)
            assert problem is not None
            rows = [row._asdict() for row in rows_of(store, problem)]
            return rows, np.array(replicas.by_name[NAME].weights())

        found: tuple[list[dict[str, Any]], Floats] = do(RunOnThread(look))
        return found
    finally:
        thread.stop()


def _outcome(
    shop: Shop, random: np.random.Generator, made: Decision
) -> list[tuple[float, TicketReport]]:
    """When the outcome of a decision is reported, and what; nothing if it never is."""
    arm = ARMS.index(str(made.arm))
    bought = random.random() < shop.means[arm]
    wait, lost = random.exponential(shop.delays[arm]), random.random() < shop.lost[arm]
    if lost or (shop.way == "default" and not bought):
        return []
    return [(made.at + wait, TicketReport(made.ticket, reward=float(bought)))]


def _settle(replies: Replies) -> None:
    for future, answer in replies:
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
