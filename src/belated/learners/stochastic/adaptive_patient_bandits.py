"""Adapt-PatientBandits (Gael, Vernade, Carpentier, Valko 2020): PatientBandits that learn the tail.

PatientBandits must be told alpha, the index of the tails of the delays. This learner estimates it
from the arm that was played most: by how much the mean of what arrived within D rounds exceeds that
of what arrived within d rounds. It must be told three other numbers instead, about all arms: a
constant of the tails, a lower bound on alpha and one on the mean rewards. The cost of a round grows
with the number of rounds played, because D and d grow.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import as_number
from belated.compiled.kernels import compiled, compiled_apart
from belated.learners.contract import Prediction, Verbs
from belated.learners.stochastic.confidence_bounds import mean_reward, share_among_least_played
from belated.learners.stochastic.stochastic import StochasticLearner
from belated.numerics.exact_sums import add_exactly
from belated.types import Covers, Need, Origin

UNKNOWN = -1  # the delay of a play whose reward has not arrived
FIRST_PLAYS = 2  # of each arm, before anything is estimated
FIRST_ROOM = 1
MOST_INDEX = 0.5  # a lighter tail does not lower the bonus any more


class PlayHistory(NamedTuple):
    """The arm of every round played, and the delay and the reward of what has arrived."""

    arm: Counts
    delay: Counts
    reward: Floats


class AdaptivePatientState(NamedTuple):
    """State: by arm, the number of arrived rewards, their exact sum in two rows, and the plays.

    deviation is 2 ln(2 K T^3). reach is (c/2)^(1/least alpha), the ratio of d and D, and margin the
    logarithm of 2^4 sqrt(ln(2 K T^3))/(c times the least mean reward).
    """

    observed: Counts
    rewards: Floats
    plays: Counts
    history: PlayHistory
    deviation: Floats
    reach: Floats
    margin: Floats
    round: Counts


class AdaptivePatientInfo(NamedTuple):
    """The index of each arm, and the lower bound on alpha with which it was computed."""

    indices: Floats
    tail_index: Floats


@compiled
def predict(state: AdaptivePatientState, prediction: Prediction) -> None:
    """Play each arm twice, then the arm of the largest upper bound of PatientBandits with alpha_t.

    It is arrived rewards over plays n, plus sqrt(2 ln(2 K T^3)/n) + 2 n^-min(alpha_t, 1/2).
    """
    info, fewest = prediction.info, state.plays[0]
    for count in state.plays:
        fewest = min(fewest, count)
    if fewest < FIRST_PLAYS:
        info.tail_index[0] = 0.0
        for i in range(prediction.q.shape[0]):
            info.indices[i] = 0.0
    else:
        info.tail_index[0] = tail_index_now(state)
        for i in range(prediction.q.shape[0]):
            count = float(state.plays[i])
            bias = 2.0 * count ** -info.tail_index[0]
            bonus = math.sqrt(state.deviation[0] / count) + bias
            info.indices[i] = mean_reward(state.rewards, i, count) + bonus
    share_among_least_played(info.indices, state.plays, prediction.q)


@compiled_apart
def tail_index_now(state: AdaptivePatientState) -> float:
    """Return alpha_t, the lower confidence bound on alpha from the plays of the arm played most.

    If several arms were played most often, it is the smallest of theirs.
    """
    most = 0
    for count in state.plays:
        most = max(most, count)
    late = most // 2
    early = int(state.reach[0] * late)
    least = MOST_INDEX
    for i in range(state.plays.shape[0]):
        if state.plays[i] == most:
            rise = mean_within(state, i, late) - mean_within(state, i, early)
            if rise > 0.0:
                least = min(least, -math.log(rise) / math.log(most))
    return float(max(0.0, least - state.margin[0] / math.log(most)))


@compiled_apart
def mean_within(state: AdaptivePatientState, arm: int, delay: int) -> float:
    """Return the mean of what arrived within `delay` rounds, of the plays that are at least as old.

    A reward that arrived later, or not at all, counts as zero.
    """
    history, sum_, count = state.history, 0.0, 0
    for s in range(state.round[0] - 1 - delay):
        if history.arm[s] == arm:
            count += 1
            if UNKNOWN < history.delay[s] <= delay:
                sum_ += history.reward[s]
    return sum_ / count


@compiled
def commit(state: AdaptivePatientState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Count the play, and freeze the place of its round in the history."""
    place = state.round[0] - 1
    state.history.arm[place] = arm
    state.history.delay[place] = UNKNOWN
    state.plays[arm] += 1
    state.round[0] += 1
    plays[0, 0] = place


@compiled
def withdraw(state: AdaptivePatientState, play: Floats, arm: int) -> None:
    """Do nothing: a reward that has not arrived already counts as zero."""


@compiled
def observe(state: AdaptivePatientState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add the reward 1 - l to the arm's sum, and note it in the history with its delay."""
    place = int(play[0])
    state.history.delay[place] = state.round[0] - 2 - place
    state.history.reward[place] = 1.0 - loss
    state.observed[arm] += 1
    add_exactly(state.rewards, arm, 1.0 - loss)


@dataclass(frozen=True)
class AdaptivePatientBandits(StochasticLearner):
    """Adapt-PatientBandits, for delays that exceed m rounds with a chance of order m^-alpha.

    For every arm this chance must be at most m^-alpha and at least `tail_constant` m^-alpha, with
    an alpha of at least `least_tail_index`, and its mean reward at least `least_reward`. The
    defaults are those of the authors' experiment.
    """

    horizon: int = 1
    tail_constant: float = 0.7
    least_tail_index: float = 0.1
    least_reward: float = 0.6

    name: ClassVar[str] = "adaptive-patient-bandits"
    needs: ClassVar[tuple[Need, ...]] = (Need.HORIZON,)
    guarantee: ClassVar[str] = (
        "stochastic losses: with a = min(alpha, 1/2), expected regret of order K^alpha T^(1-a) up "
        "to logarithms, if all arms have the same alpha and keep to the three options"
    )
    covers: ClassVar[Covers] = Covers.ANY
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = "Gael et al. 2020, read; ties are ours"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = AdaptivePatientState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_count("horizon", 1)
        for option, most in (("tail_constant", 1), ("least_tail_index", 100), ("least_reward", 1)):
            number = as_number(getattr(self, option), option)
            if not 0.0 < number <= most:
                raise ValueError(f"{option} is {number!r}; it must be above 0 and at most {most}")
            object.__setattr__(self, option, number)

    def start(self) -> AdaptivePatientState:
        logs = math.log(2 * self.arms) + 3.0 * math.log(self.horizon)
        margin = math.log(16.0 * math.sqrt(logs) / (self.tail_constant * self.least_reward))
        return AdaptivePatientState(
            observed=np.zeros(self.arms, dtype=np.int64),
            rewards=np.zeros((2, self.arms)),
            plays=np.zeros(self.arms, dtype=np.int64),
            history=no_history(FIRST_ROOM),
            deviation=np.full(1, 2.0 * logs),
            reach=np.full(1, (self.tail_constant / 2.0) ** (1.0 / self.least_tail_index)),
            margin=np.full(1, margin),
            round=np.ones(1, dtype=np.int64),
        )

    def reserved(self, state: AdaptivePatientState, rounds: int) -> AdaptivePatientState:
        room, needed = state.history.arm.size, int(state.round[0]) - 1 + rounds
        if room >= needed:
            return state
        larger = no_history(2 * needed)
        for name in PlayHistory._fields:
            getattr(larger, name)[:room] = getattr(state.history, name)
        return state._replace(history=larger)

    def check_saved(self, state: AdaptivePatientState, plays: Iterable[Sequence[float]]) -> None:
        played = int(state.round[0]) - 1
        if not 0 <= played <= state.history.arm.size:
            raise ValueError(f"{played} rounds were played; the history has too little room")
        if any(not 0 <= play[0] < played for play in plays):
            raise ValueError(f"a play is of a round that is not among the {played} played")

    def blank(self) -> Prediction:
        info = AdaptivePatientInfo(indices=np.zeros(self.arms), tail_index=np.zeros(1))
        return Prediction.blank(self.arms, info=info)


def no_history(room: int) -> PlayHistory:
    """Make the history before the first round, with room for so many rounds."""
    return PlayHistory(
        arm=np.zeros(room, dtype=np.int64),
        delay=np.full(room, UNKNOWN, dtype=np.int64),
        reward=np.zeros(room),
    )
