"""D-UCB (Vernade, Cappé, Perchet 2017): UCB for one known delay distribution for all arms.

A reward that has not arrived counts as zero. To correct for this, a play counts only with the
probability that its reward would have arrived by now. The means are then unbiased long before the
last rewards arrive.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import MOST_ROUNDS, as_number, in_order
from belated.compiled.kernels import compiled
from belated.learners.contract import Prediction, Verbs
from belated.learners.states import ArmCounts, ArmFloats
from belated.learners.stochastic.confidence_bounds import (
    IndexLearner,
    blank_index,
    mean_reward,
    share_among_least_played,
)
from belated.learners.stochastic.poisson import poisson_upper
from belated.learners.stochastic.stochastic import not_negative
from belated.numerics.exact_sums import add_exactly
from belated.types import Covers, Need, Origin

UNIT = 2.0**-32  # probabilities are whole multiples of it, so that their sums are exact
LEFT_OUT = -1  # stands for an arm that has been removed


class DUcbState(NamedTuple):
    """State, by arm: the number of arrived rewards, their exact sum, plays, and `counted`.

    counted is the sum of P(delay <= age) over the arm's plays, in units of UNIT. `recent` has the
    arms of the last rounds. When a play reaches the age ages[k], it adds gains[k] units.
    """

    observed: ArmCounts
    rewards: ArmFloats
    plays: ArmCounts
    counted: ArmCounts
    recent: Counts
    ages: Counts
    gains: Counts
    censor: Counts
    scale: Floats
    poisson: Counts
    round: Counts


@compiled
def index_of(state: DUcbState, arm: int, level: float) -> float:
    """Return the index of an arm, where theta is the sum of its arrived rewards over Ntil.

    It is theta + sqrt(N/Ntil) sqrt((1+eps) ln t / (2 Ntil)); with the Poisson divergence d, it is
    the largest x with Ntil d(theta, x) <= (1+eps) ln t.
    """
    counted = UNIT * state.counted[arm]
    if counted == 0.0:
        return math.inf
    mean = mean_reward(state.rewards, arm, counted)
    if state.poisson[0] == 1:
        return poisson_upper(mean, level / counted)
    return mean + math.sqrt(state.plays[arm] * level / 2.0) / float(counted)


@compiled
def predict(state: DUcbState, prediction: Prediction) -> None:
    """Play the arm of the largest index; among equal indices, the least played arm."""
    level = state.scale[0] * math.log(state.round[0])
    for i in range(prediction.q.shape[0]):
        prediction.info.indices[i] = index_of(state, i, level)
    share_among_least_played(prediction.info.indices, state.plays, prediction.q)


@compiled
def commit(state: DUcbState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Count the play and update Ntil_i, the sum over plays s <= t of P(delay <= t - s).

    This is the value for the next round t + 1. The round of the play is frozen.
    """
    now, turn = state.round[0], state.recent.shape[0] - 1  # a power of two, less one
    state.recent[now & turn] = arm
    for k in range(state.ages.shape[0]):
        if state.ages[k] < now:
            played = state.recent[(now - state.ages[k]) & turn]
            if played != LEFT_OUT:
                state.counted[played] += state.gains[k]
    state.plays[arm] += 1
    plays[0, 0] = now
    state.round[0] += 1


@compiled
def withdraw(state: DUcbState, play: Floats, arm: int) -> None:
    """Do nothing: a reward that has not arrived already counts as zero."""


@compiled
def observe(state: DUcbState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add the reward 1 - l to the arm's sum, unless its delay is longer than `censor`."""
    if state.round[0] - 1 - int(play[0]) <= state.censor[0]:
        state.observed[arm] += 1
        add_exactly(state.rewards, arm, 1.0 - loss)


@dataclass(frozen=True)
class DUcb(IndexLearner):
    """D-UCB. A round costs O(K) and one step for each delay at which `delay_law` rises.

    delay_law[x] is P(delay <= x), rounded to 2^-32; its last value holds for all larger x. Rewards
    that take more than `censor` rounds are ignored, and delay_law is cut off there. `epsilon`
    widens the confidence bounds.
    """

    delay_law: tuple[float, ...] = (1.0,)
    censor: int | None = None
    epsilon: float = 0.0

    name: ClassVar[str] = "d-ucb"
    poisson: ClassVar[bool] = False
    needs: ClassVar[tuple[Need, ...]] = (Need.DELAY_LAW,)
    guarantee: ClassVar[str] = (
        "stochastic losses, one law of delays for all arms: regret logarithmic in T"
    )
    covers: ClassVar[Covers] = Covers.SHARED
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = "Vernade et al. 2017, read in others' notes and code"
    play_width: ClassVar[int] = 1
    can_change_arms: ClassVar[bool] = True
    state: ClassVar[type] = DUcbState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "delay_law", checked_law(self.delay_law))
        if self.censor is not None:
            self._check_count("censor", 0)
        object.__setattr__(self, "epsilon", not_negative(self.epsilon, "epsilon"))

    def start(self) -> DUcbState:
        censor = MOST_ROUNDS if self.censor is None else self.censor
        units = np.round(np.array(self.delay_law[: censor + 1]) / UNIT).astype(np.int64)
        gains = np.diff(units, prepend=0)
        return DUcbState(
            observed=np.zeros(self.arms, dtype=np.int64),
            rewards=np.zeros((2, self.arms)),
            plays=np.zeros(self.arms, dtype=np.int64),
            counted=np.zeros(self.arms, dtype=np.int64),
            recent=np.zeros(1 << (units.size - 1).bit_length(), dtype=np.int64),
            ages=np.flatnonzero(gains),
            gains=gains[gains != 0],
            censor=np.full(1, censor, dtype=np.int64),
            scale=np.full(1, 1.0 + self.epsilon),
            poisson=np.full(1, int(self.poisson), dtype=np.int64),
            round=np.ones(1, dtype=np.int64),
        )

    def with_arms(self, state: DUcbState, kept: Sequence[int], added: int) -> DUcbState:
        places = np.full(self.arms + 1, LEFT_OUT, dtype=np.int64)  # the last is LEFT_OUT's own
        places[list(kept)] = np.arange(len(kept))
        other: DUcbState = super().with_arms(state, kept, added)
        return other._replace(recent=places[state.recent])

    def blank(self) -> Prediction:
        return blank_index(self.arms)


def checked_law(law: object) -> tuple[float, ...]:
    """Return the probabilities of a delay law as a tuple.

    A ValueError is raised if there are none, if they ever fall, or if one is outside [0, 1].
    """
    given = in_order(law)
    if not given:
        raise ValueError(f"delay_law is {law!r}; it must be a list of at least one probability")
    shares = tuple(as_number(share, "delay_law") for share in given)
    before = 0.0
    for share in shares:
        if not before <= share <= 1.0:
            raise ValueError(
                f"delay_law has {share!r} after {before!r}; it must never fall, and end by 1"
            )
        before = share
    return shares
