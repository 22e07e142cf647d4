"""The hybrid FTRL of Zimmert and Seldin, 2020, with their advanced tuning, which skips late plays.

A play that has been outstanding for longer than the inverse rate of the entropy is skipped: it is
no longer counted, so that a few very late losses cannot slow the learner down. Its loss is still
used when it arrives.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Facts, Learner, Prediction, SolverInfo, Verbs
from belated.learners.tsallis import hybrid_regularizer
from belated.learners.tsallis.hybrid_regularizer import HybridState, Schedule
from belated.solvers.concealed import WORK
from belated.types import Covers, Origin, Setting

DIVISOR, ROUND = range(2)  # the columns of a play


class ZimmertSeldinSkippingState(NamedTuple):
    """State: the state of the hybrid, whose waiting and total do not count skipped plays.

    Plays are skipped in the order of play, so all plays that count are of the round `oldest` or
    later. `is_waiting` has a 1 for each of them, at its round modulo the length of the array, which
    is a power of two.
    """

    hybrid: HybridState
    is_waiting: Counts
    oldest: Counts


@compiled
def predict(state: ZimmertSeldinSkippingState, prediction: Prediction) -> None:
    """Fill in the weights of the hybrid, whose entropy rate does not count skipped plays."""
    hybrid_regularizer.predict(state.hybrid, prediction)


@compiled
def commit(
    state: ZimmertSeldinSkippingState, prediction: Prediction, arm: int, plays: Floats
) -> None:
    """Freeze q_t(i_t) and t; skip the oldest play if t - s is above the inverse entropy rate.

    At most one play is too old: if the second oldest were so now, then the oldest would have been
    so in the round before, and would have been skipped then.
    """
    now, last = state.hybrid.round[0], state.is_waiting.shape[0] - 1
    hybrid_regularizer.commit(state.hybrid, prediction, arm, plays)
    plays[0, ROUND] = now
    state.is_waiting[now & last] = 1
    while state.is_waiting[state.oldest[0] & last] == 0:
        state.oldest[0] += 1
    if (now - state.oldest[0]) * prediction.gamma[0] > 1.0:
        uncount(state, state.oldest[0])
        state.oldest[0] += 1


@compiled
def uncount(state: ZimmertSeldinSkippingState, played: int) -> None:
    """Stop counting the play of the round `played` as outstanding."""
    state.is_waiting[played & (state.is_waiting.shape[0] - 1)] = 0
    state.hybrid.waiting[0] -= 1


@compiled
def withdraw(state: ZimmertSeldinSkippingState, play: Floats, arm: int) -> None:
    """Stop counting the play as outstanding, unless it was skipped and is not counted already."""
    played = int(play[ROUND])
    if played >= state.oldest[0]:
        uncount(state, played)


@compiled
def observe(
    state: ZimmertSeldinSkippingState, play: Floats, arm: int, loss: float, missing: int
) -> None:
    """Add the estimate l / q_s, with q_s from the round of the play, whether skipped or not."""
    withdraw(state, play, arm)
    state.hybrid.losses[arm] += loss / play[DIVISOR]


@dataclass(frozen=True)
class ZimmertSeldinSkipping(Learner):
    """Algorithm 2 of Zimmert and Seldin, in which D_t does not count skipped plays.

    The inverse rate of the entropy is sqrt(D_t / ln K). The published bound may leave any set S of
    rounds out of D at the cost of |S|; `bound` takes S to be empty.
    """

    name: ClassVar[str] = "zimmert-seldin-skipping"
    setting: ClassVar[Setting] = Setting.CONCEALED
    guarantee: ClassVar[str] = "expected regret at most 4 sqrt(KT) + 10 max{sqrt(D ln K), 2 ln K}"
    covers: ClassVar[Covers] = Covers.SHARED
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = "Zimmert and Seldin 2020, read"
    state: ClassVar[type] = ZimmertSeldinSkippingState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> ZimmertSeldinSkippingState:
        return ZimmertSeldinSkippingState(
            hybrid=hybrid_regularizer.hybrid_start(self.arms, Schedule(delay_weight=1.0)),
            is_waiting=np.zeros(1, dtype=np.int64),
            oldest=np.ones(1, dtype=np.int64),
        )

    def losses(self, state: ZimmertSeldinSkippingState) -> Floats:
        return state.hybrid.losses[:, np.newaxis]

    def from_version_3(self, parts: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
        """Return the parts of a saved flat state in a new order, with those of the hybrid first."""
        order = dict.fromkeys((*HybridState._fields, *parts))
        return {name: parts[name] for name in order}

    def blank(self) -> Prediction:
        info = SolverInfo.blank(self.arms, dual=1 + self.arms, work=WORK)
        return Prediction.blank(self.arms, eta=1, gamma=1, info=info)

    def reserved(
        self, state: ZimmertSeldinSkippingState, rounds: int
    ) -> ZimmertSeldinSkippingState:
        """Return a state with room for the plays from `oldest` on and for `rounds` more rounds."""
        played = np.arange(state.oldest[0], state.hybrid.round[0])
        room = state.is_waiting.size
        if played.size + rounds <= room:
            return state
        larger = 1 << (played.size + rounds).bit_length()
        is_waiting = np.zeros(larger, dtype=np.int64)
        is_waiting[played % larger] = state.is_waiting[played % room]
        return state._replace(is_waiting=is_waiting)

    def bound(self, facts: Facts) -> float:
        log_arms = math.log(facts.arms)
        late = 10.0 * max(math.sqrt(facts.total_delay * log_arms), 2.0 * log_arms)
        return 4.0 * math.sqrt(facts.arms * facts.rounds) + late
