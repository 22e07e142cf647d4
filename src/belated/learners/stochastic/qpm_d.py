"""QPM-D: any bandit algorithm run on queues of late rewards (Joulani, György, Szepesvári 2013).

Rewards wait in a queue for each arm. Whenever the base algorithm, here UCB1, chooses an arm whose
queue holds a reward, it receives that reward and chooses again; an arm is really played only if its
queue is empty. The base therefore never sees a delay. Its guarantee grows by a term in the largest
number of missing rewards of each arm.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Prediction, Verbs
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
from belated.types import Covers, Origin


class QpmDState(NamedTuple):
    """State, by arm: the number and exact sum of the rewards given to the base, and the plays."""

    observed: Counts
    rewards: Floats
    plays: Counts
    round: Counts
    queues: Queues


class QpmDInfo(NamedTuple):
    """The base after it took rewards from the queues: their sums and number, and its indices.

    first has, for each arm, the first place of the queue whose reward the base did not take.
    """

    rewards: Floats
    observed: Floats
    first: Counts
    indices: Floats


@compiled
def served_next(state: QpmDState, info: QpmDInfo) -> int:
    """Return the arm that UCB1 chooses and whose queue has a reward, or NOWHERE if there is none.

    Among arms of equal index it is the one whose first queued reward was played first. Rounds of
    play are all different, so the choice does not depend on the numbers of the arms.
    """
    largest, earliest, best = -math.inf, 0, NOWHERE
    for i in range(info.indices.shape[0]):
        if info.indices[i] > largest:
            largest, best = info.indices[i], NOWHERE
        if info.indices[i] == largest and info.first[i] != NOWHERE:
            played = state.queues.played[info.first[i]]
            if best == NOWHERE or played < earliest:
                earliest, best = played, i
    return best


@compiled
def predict(state: QpmDState, prediction: Prediction) -> None:
    """Give queued rewards to a copy of UCB1 until it chooses an arm whose queue is empty."""
    info, time = prediction.info, 1.0
    for i in range(info.indices.shape[0]):
        info.rewards[0, i] = state.rewards[0, i]
        info.rewards[1, i] = state.rewards[1, i]
        info.observed[i] = state.observed[i]
        info.first[i] = state.queues.first[i]
        time += info.observed[i]
    arm = 0
    while arm != NOWHERE:
        log_time = math.log(time)
        for i in range(info.indices.shape[0]):
            info.indices[i] = ucb1_index(info.rewards, i, info.observed[i], log_time)
        arm = served_next(state, info)
        if arm != NOWHERE:
            place = info.first[arm]
            add_exactly(info.rewards, arm, state.queues.reward[place])
            info.observed[arm] += 1.0
            info.first[arm] = state.queues.next[place]
            time += 1.0
    share_among_least_played(info.indices, state.plays, prediction.q)


@compiled
def commit(state: QpmDState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Store the rewards that the base took from the queues, and freeze the round of the play."""
    info = prediction.info
    for i in range(info.indices.shape[0]):
        if info.observed[i] != state.observed[i]:
            release(state.queues, i, info.first[i])
            state.rewards[0, i] = info.rewards[0, i]
            state.rewards[1, i] = info.rewards[1, i]
            state.observed[i] = int(info.observed[i])
    plays[0, 0] = state.round[0]
    state.plays[arm] += 1
    state.queues.due[0] += 1
    state.round[0] += 1


@compiled
def withdraw(state: QpmDState, play: Floats, arm: int) -> None:
    """Count one reward fewer that needs a place in a queue."""
    state.queues.due[0] -= 1


@compiled
def observe(state: QpmDState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Insert the reward 1 - l into the arm's queue."""
    enqueue(state.queues, arm, int(play[0]), 1.0 - loss, state.round[0])


@dataclass(frozen=True)
class QpmD(StochasticLearner):
    """QPM-D over UCB1. A round costs O(K), and O(K) more for each reward that the base takes.

    If several arms have the largest index, one with a queued reward comes first; if none has one,
    the least played among them share the weight equally. The queues keep room for the reward of
    every play that is still outstanding.
    """

    name: ClassVar[str] = "qpm-d"
    guarantee: ClassVar[str] = (
        "stochastic losses: expected regret at most that of UCB1 without delays, plus the sum over "
        "arms of gap E max rho"
    )
    covers: ClassVar[Covers] = Covers.ANY
    origin: ClassVar[Origin] = Origin.READ
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
            queues=empty_queues(self.arms),
        )

    def reserved(self, state: QpmDState, rounds: int) -> QpmDState:
        queues = with_room(state.queues, rounds)
        return state if queues is state.queues else state._replace(queues=queues)

    def blank(self) -> Prediction:
        info = QpmDInfo(
            rewards=np.zeros((2, self.arms)),
            observed=np.zeros(self.arms),
            first=np.zeros(self.arms, dtype=np.int64),
            indices=np.zeros(self.arms),
        )
        return Prediction.blank(self.arms, info=info)
