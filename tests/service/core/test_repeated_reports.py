"""Reports that are sent again and again teach what they would have taught if sent once."""

import random
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pytest

from belated.learners.states import leaves
from belated.service.core.requests import RunOnThread, Tell, TicketReport
from belated.service.store import open_store
from tests.service.core.thread_client import ThreadClient, thread_client

ARMS = ["red", "green", "blue"]
ESTIMATES = ("losses", "fallback.losses", "means.sums", "means.counts")
ROUNDS, NEVER, MOST_TIMES, LATEST = 250, 0.1, 5, 40


class Sending(NamedTuple):
    """A report that is sent before the decision of a round; `first` if it was not sent before."""

    before: int
    of: int
    first: bool


def sendings(chance: random.Random) -> list[Sending]:
    """Of each round's report but those that never come: 1 to 5, each some rounds later."""
    found = []
    for round_ in range(ROUNDS):
        if chance.random() < NEVER:
            continue
        times = [chance.randint(1, LATEST) for _ in range(chance.randint(1, MOST_TIMES))]
        moments = sorted(round_ + later for later in times)
        found += [Sending(each, round_, n == 0) for n, each in enumerate(moments)]
    chance.shuffle(found)
    return sorted(found, key=lambda each: each.before)  # which keeps the shuffling in between


def outcome_of(thread: ThreadClient, sent: list[Sending], losses: Any) -> tuple[list[str], Any]:
    """Play with these reports between the decisions; the arms, and what was learned in the end.

    Every report of which the first sending has come before is answered with `counted: false`.
    """
    between = {before: list(those) for before, those in groupby(sent, lambda each: each.before)}
    played: list[Any] = []
    told: set[int] = set()
    for round_ in range(ROUNDS + LATEST):
        those = between.get(round_, [])
        reports = [
            TicketReport(played[each.of].ticket, losses[each.of, ARMS.index(played[each.of].arm)])
            for each in those
        ]
        for each, verdict in zip(those, thread.do(Tell(reports)) if reports else [], strict=True):
            assert verdict.counted is (each.of not in told)
            told.add(each.of)
        if round_ < ROUNDS:
            played.append(thread.ask("game"))
    state = thread.do(RunOnThread(lambda store, replicas: replicas.by_name["game"].state))
    assert len(told) == len({each.of for each in sent})
    return [decision.arm for decision in played], state


@pytest.mark.parametrize(
    ("learner", "options"),
    [
        ("practical-bandit", {}),
        ("concealed", {"max_missing": 60}),
        ("delayed-ucb1", {}),
    ],
)
def test_repetitions_teach_nothing(learner: str, options: dict[str, Any]) -> None:
    """All outcomes 1 to 5 times, shuffled between decisions, 10 % never: as in the clean run."""
    sent = sendings(random.Random(11))
    clean = sorted(each for each in sent if each.first)
    assert len(sent) > 2 * len(clean)
    losses = np.random.default_rng(12).random((ROUNDS, len(ARMS))).round(3) * [0.4, 1.0, 0.7]
    found = []
    for those in (sent, clean):
        with open_store("memory:") as store, thread_client(store, seed=13) as thread:
            thread.create("game", arms=ARMS, learner=learner, options=options)
            found.append(outcome_of(thread, those, losses))
    (arms, learned), (clean_arms, clean_learned) = found
    assert arms == clean_arms
    assert len(set(arms)) == len(ARMS)
    clean_parts = leaves(clean_learned)
    for name, part in leaves(learned).items():
        expected = clean_parts[name]
        most = 0.0 if name in ESTIMATES else np.abs(expected).max(initial=0.0)  # of rounding errors
        np.testing.assert_allclose(part, expected, rtol=1e-12, atol=1e-12 * most, err_msg=name)
