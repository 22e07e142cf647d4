"""QPM-D: any bandit algorithm run on queues of late rewards (Joulani, György, Szepesvári 2013).

Rewards wait in a queue for each arm. Whenever the base algorithm, here UCB1, asks for an arm whose
queue holds one, it is served from there and asks again; an arm is played only if its queue is
empty. The base thus never sees a delay, and its guarantee grows by the most that is missing.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.jit import compiled
from belated.learners.contract import Prediction, Verbs, fill_p
from belated.learners.stochastic.confidence_bounds import share_among_least_played, ucb1_index
from belated.learners.stochastic.queues import (
    NOWHERE,
    Queues,
    empty_queues,
    enqueue,
    release,
    with_room,
)
from belated.learners.stochastic.stochastic import StochasticLearner
from belated.numerics.exact_sums import add_exactly
from belated.types import Covers

REWARDS, OBSERVED, FIRST, INDEX, WORK = 0, 2, 3, 4, 5  # rows of work; REWARDS has two


class QpmDState(NamedTuple):
    """observed and rewards are the base's, by arm; the rest are the parts of the queues."""

    observed: Counts
    rewards: Floats
    plays: Counts
    round: Counts
    reward: Floats
    played: Counts
    next: Counts
    free: Counts
    first: Counts
    last: Counts
    settled: Counts
    latest: Counts
    due: Counts


@compiled
def queues_of(state: QpmDState) -> Queues:
    """The queues in a state."""
    return Queues(
        state.reward,
        state.played,
        state.next,
        state.free,
        state.first,
        state.last,
        state.settled,
        state.latest,
        state.due,
    )


@compiled
def served_next(state: QpmDState, work: Floats) -> int:
    """Among the arms that UCB1 asks for, that whose first queued reward was played first.

    Rounds of play are all different, so equal arms are told apart without any order of the arms.
    """
    largest, earliest, best = -math.inf, 0, NOWHERE
    for i in range(work.shape[1]):
        if work[INDEX, i] > largest:
            largest, best = work[INDEX, i], NOWHERE
        if work[INDEX, i] == largest and work[FIRST, i] != NOWHERE:
            played = state.played[int(work[FIRST, i])]
            if best == NOWHERE or played < earliest:
                earliest, best = played, i
    return best


@compiled
def predict(state: QpmDState, prediction: Prediction) -> None:
    """Serve UCB1 from copies of the queues until it asks for an arm whose queue is empty."""
    work, time = prediction.work, 1.0
    for i in range(work.shape[1]):
        work[REWARDS, i] = state.rewards[0, i]
        work[REWARDS + 1, i] = state.rewards[1, i]
        work[OBSERVED, i] = state.observed[i]
        work[FIRST, i] = state.first[i]
        time += work[OBSERVED, i]
    arm = 0
    while arm != NOWHERE:
        log_time = math.log(time)
        for i in range(work.shape[1]):
            work[INDEX, i] = ucb1_index(work, i, work[OBSERVED, i], log_time)
        arm = served_next(state, work)
        if arm != NOWHERE:
            place = int(work[FIRST, arm])
            add_exactly(work, arm, state.reward[place])
            work[OBSERVED, arm] += 1.0
            work[FIRST, arm] = state.next[place]
            time += 1.0
    share_among_least_played(work, INDEX, state.plays, prediction.q)
    fill_p(prediction)


@compiled
def commit(state: QpmDState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Keep what the base was served, and freeze the round of the play."""
    work = prediction.work
    for i in range(work.shape[1]):
        if work[OBSERVED, i] != state.observed[i]:
            release(queues_of(state), i, int(work[FIRST, i]))
            state.rewards[0, i] = work[REWARDS, i]
            state.rewards[1, i] = work[REWARDS + 1, i]
            state.observed[i] = int(work[OBSERVED, i])
    plays[0, 0] = state.round[0]
    state.plays[arm] += 1
    state.due[0] += 1
    state.round[0] += 1


@compiled
def withdraw(state: QpmDState, play: Floats, arm: int) -> None:
    """It needs no place in the queue."""
    state.due[0] -= 1


@compiled
def observe(state: QpmDState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Put the reward 1 - l into the arm's queue."""
    enqueue(queues_of(state), arm, int(play[0]), 1.0 - loss, state.round[0])


@dataclass(frozen=True)
class QpmD(StochasticLearner):
    """QPM-D over UCB1. A round costs O(K), and O(K) more for each reward that the base is served.

    If several arms have the largest index, one with a queued reward is served first; if none has,
    the least played among them share. Room is kept for every play that has not been answered.
    """

    name: ClassVar[str] = "qpm-d"
    guarantee: ClassVar[str] = (
        "stochastic losses: expected regret at most that of UCB1 without delays, plus the sum over "
        "arms of gap E max rho"
    )
    covers: ClassVar[Covers] = Covers.ANY
    source: ClassVar[str] = "Joulani et al. 2013, read; how ties are broken is ours"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = QpmDState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> QpmDState:
        return QpmDState(
            observed=np.zeros(self.arms, dtype=np.int64),
            rewards=np.zeros((2, self.arms)),
            plays=np.zeros(self.arms, dtype=np.int64),
            round=np.ones(1, dtype=np.int64),
            **empty_queues(self.arms)._asdict(),
        )

    def reserved(self, state: QpmDState, rounds: int) -> QpmDState:
        queues = Queues(*(getattr(state, name) for name in Queues._fields))
        roomy = with_room(queues, rounds)
        return state if roomy is queues else state._replace(**roomy._asdict())

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, work=WORK)
