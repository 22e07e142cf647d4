"""Successive elimination on observed rewards (Lancewicki, Segal, Koren, Mansour 2021).

All arms that may still be the best are played in turn, so the delays of one arm never hold up
another arm. If the arms have a common quantile of the delays, the delays add a single term to the
regret.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Prediction, Verbs
from belated.learners.stochastic.confidence_bounds import share_among_least_played
from belated.learners.stochastic.elimination import blank_bounds, drop_the_worse, note_bounds
from belated.learners.stochastic.stochastic import StochasticLearner, log_horizon
from belated.numerics.exact_sums import add_exactly
from belated.types import Covers, Need, Origin


class EliminationState(NamedTuple):
    """State, by arm: active (1 or 0), the number and exact sum of arrived rewards, and plays.

    If `counts_plays` is 1, the confidence widths depend on the number of plays, and otherwise on
    the number of rewards observed.
    """

    active: Counts
    observed: Counts
    rewards: Floats
    plays: Counts
    log_horizon: Floats
    counts_plays: Counts
    round: Counts


@compiled
def predict(state: EliminationState, prediction: Prediction) -> None:
    """Drop i if mu+_i + w_i < mu-_j - w_j for an active j, and play the other arms in turn.

    With n rewards counted, observed or not, mu-_i is the observed sum over n, mu+_i adds a reward
    of 1 for each one not observed, and w = sqrt(2 ln T / n). In SE, n counts observed rewards only.
    """
    bounds = prediction.info
    for i in range(prediction.q.shape[0]):
        bounds.active[i] = state.active[i]
        count = state.plays[i] if state.counts_plays[0] == 1 else state.observed[i]
        width = math.sqrt(2.0 * state.log_horizon[0] / max(count, 1))
        low = state.rewards[0, i] + state.rewards[1, i]
        note_bounds(bounds, i, low, low + (count - state.observed[i]), count, width)
    drop_the_worse(bounds)
    share_among_least_played(bounds.active, state.plays, prediction.q)


@compiled
def commit(state: EliminationState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Count the play, and keep which arms are active; a dropped arm never becomes active again."""
    for i in range(state.active.shape[0]):
        state.active[i] = int(prediction.info.active[i])
    state.plays[arm] += 1
    state.round[0] += 1
    plays[0, 0] = 0.0


@compiled
def withdraw(state: EliminationState, play: Floats, arm: int) -> None:
    """Do nothing: the play still counts as a play, with a reward that is never observed."""


@compiled
def observe(state: EliminationState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Count the observation and add the reward 1 - l to the arm's sum."""
    state.observed[arm] += 1
    add_exactly(state.rewards, arm, 1.0 - loss)


@dataclass(frozen=True)
class SuccessiveElimination(StochasticLearner):
    """Successive elimination (SE), for delays that do not depend on the losses."""

    horizon: int = 1

    name: ClassVar[str] = "successive-elimination"
    counts_plays: ClassVar[bool] = False
    needs: ClassVar[tuple[Need, ...]] = (Need.HORIZON,)
    guarantee: ClassVar[str] = (
        "stochastic losses, delays independent of them: regret of order "
        "min over q of sum ln T / (q gap) + the largest q-quantile of the delays"
    )
    covers: ClassVar[Covers] = Covers.ANY
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = "Lancewicki et al. 2021; bound read, width read in others' code"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = EliminationState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_count("horizon", 1)

    def start(self) -> EliminationState:
        return EliminationState(
            active=np.ones(self.arms, dtype=np.int64),
            observed=np.zeros(self.arms, dtype=np.int64),
            rewards=np.zeros((2, self.arms)),
            plays=np.zeros(self.arms, dtype=np.int64),
            log_horizon=log_horizon(self.horizon),
            counts_plays=np.full(1, int(self.counts_plays), dtype=np.int64),
            round=np.ones(1, dtype=np.int64),
        )

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, info=blank_bounds(self.arms))
