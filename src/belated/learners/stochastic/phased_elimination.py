"""Phased successive elimination, PSE (Lancewicki, Segal, Koren, Mansour 2021).

Arms are compared only at the end of a phase, when each of them has been observed as often as the
accuracy of the phase requires; until then an arm with enough observations is not played. In the
guarantee each arm may have its own quantile of the delays, at the cost of a factor ln K.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Prediction, Verbs
from belated.learners.stochastic.confidence_bounds import share_among_least_played
from belated.learners.stochastic.elimination import (
    ArmBounds,
    blank_bounds,
    drop_the_worse,
    note_bounds,
)
from belated.learners.stochastic.stochastic import StochasticLearner, log_horizon
from belated.numerics.exact_sums import add_exactly
from belated.numerics.tie_breaking import share_among_largest
from belated.types import Covers, Need, Origin

SAMPLES = 32.0


class PhasedEliminationState(NamedTuple):
    """State, by arm: active (1 or 0), the number and exact sum of rewards, plays of the phase."""

    active: Counts
    observed: Counts
    rewards: Floats
    turns: Counts
    phase: Counts
    log_horizon: Floats
    round: Counts


class PhasedEliminationInfo(NamedTuple):
    """The bounds of the arms, which arms the phase still has to observe (1 or 0), and the phase."""

    bounds: ArmBounds
    wanted: Floats
    phase: Floats


@compiled
def samples(state: PhasedEliminationState, phase: float) -> float:
    """Return 32 ln T / eps^2 with eps = 2^-phase, the observations per arm that a phase needs."""
    return float(SAMPLES * state.log_horizon[0] * 4.0**phase)


@compiled
def note_wanted(state: PhasedEliminationState, info: PhasedEliminationInfo) -> bool:
    """Mark the active arms that the phase still has to observe; return whether there are any."""
    needed, found = samples(state, info.phase[0]), False
    for i in range(info.wanted.shape[0]):
        wanted = info.bounds.active[i] == 1.0 and state.observed[i] < needed
        info.wanted[i] = 1.0 if wanted else 0.0
        found = found or wanted
    return found


@compiled
def predict(state: PhasedEliminationState, prediction: Prediction) -> None:
    """Play in turn the active arms that were observed less than 32 ln T / eps^2 times.

    When there are none, the phase ends: i is dropped if mean_i + w_i < mean_j - w_j for an active
    j, with w = sqrt(2 ln T / observed), and eps is halved.
    """
    info = prediction.info
    for i in range(info.wanted.shape[0]):
        info.bounds.active[i] = state.active[i]
        width = math.sqrt(2.0 * state.log_horizon[0] / max(state.observed[i], 1))
        sum_ = state.rewards[0, i] + state.rewards[1, i]
        note_bounds(info.bounds, i, sum_, sum_, state.observed[i], width)
    info.phase[0] = state.phase[0]
    while not note_wanted(state, info):
        drop_the_worse(info.bounds)
        info.phase[0] += 1.0
    if info.phase[0] == state.phase[0]:
        share_among_least_played(info.wanted, state.turns, prediction.q)
    else:
        share_among_largest(info.wanted, prediction.q)


@compiled
def commit(state: PhasedEliminationState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Store the phase and the active arms, and count the play; a new phase resets the counts."""
    active, phase = prediction.info.bounds.active, int(prediction.info.phase[0])
    for i in range(active.shape[0]):
        state.active[i] = int(active[i])
        if phase != state.phase[0]:
            state.turns[i] = 0
    state.phase[0] = phase
    state.turns[arm] += 1
    state.round[0] += 1
    plays[0, 0] = 0.0


@compiled
def withdraw(state: PhasedEliminationState, play: Floats, arm: int) -> None:
    """Do nothing: this learner counts only the rewards that arrive."""


@compiled
def observe(
    state: PhasedEliminationState, play: Floats, arm: int, loss: float, missing: int
) -> None:
    """Count the observation and add the reward 1 - l to the arm's sum."""
    state.observed[arm] += 1
    add_exactly(state.rewards, arm, 1.0 - loss)


@dataclass(frozen=True)
class PhasedElimination(StochasticLearner):
    """Phased successive elimination (PSE), for delays that do not depend on the losses."""

    horizon: int = 1

    name: ClassVar[str] = "phased-elimination"
    needs: ClassVar[tuple[Need, ...]] = (Need.HORIZON,)
    guarantee: ClassVar[str] = (
        "stochastic losses, delays independent of them: regret of order min over q_1, ..., q_K of "
        "sum ln T / (q_i gap_i) + ln K times the largest of the q_i-quantiles of the delays"
    )
    covers: ClassVar[Covers] = Covers.ANY
    origin: ClassVar[Origin] = Origin.MEMORY
    source: ClassVar[str] = "Lancewicki et al. 2021; bound read, the constant 32 from memory"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = PhasedEliminationState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_count("horizon", 1)

    def start(self) -> PhasedEliminationState:
        return PhasedEliminationState(
            active=np.ones(self.arms, dtype=np.int64),
            observed=np.zeros(self.arms, dtype=np.int64),
            rewards=np.zeros((2, self.arms)),
            turns=np.zeros(self.arms, dtype=np.int64),
            phase=np.ones(1, dtype=np.int64),
            log_horizon=log_horizon(self.horizon),
            round=np.ones(1, dtype=np.int64),
        )

    def blank(self) -> Prediction:
        info = PhasedEliminationInfo(blank_bounds(self.arms), np.zeros(self.arms), np.zeros(1))
        return Prediction.blank(self.arms, info=info)
