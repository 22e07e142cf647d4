"""LinUCB with the model and the law of silence of `linear`: the largest optimistic value.

It draws nothing: the best arm has the probability 1, so that nothing can be evaluated afterwards
from what it logs. It is a rival, not for use.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.learners.contextual.linear import OPTIMISM, TIED
from belated.learners.contextual.linear_model import (
    LinearLearner,
    LinearModel,
    end_play,
    foretell_rewards,
    play,
    tell,
)
from belated.learners.contract import Prediction, Verbs


class LinearUcbState(NamedTuple):
    """The state of LinUCB: its model."""

    model: LinearModel


@compiled
def weigh_largest(values: Floats, eligible: Floats, q: Floats) -> None:
    """Give all weight to the largest value of the eligible arms; arms that are tied share it."""
    best, tied = -np.inf, 0
    for i in range(q.shape[0]):
        if eligible[i] > 0.0:
            best = max(best, values[i])
    for i in range(q.shape[0]):
        tied += 1 if eligible[i] > 0.0 and values[i] >= best - TIED else 0
    for i in range(q.shape[0]):
        q[i] = 1.0 / tied if eligible[i] > 0.0 and values[i] >= best - TIED else 0.0


@compiled
def predict(state: LinearUcbState, prediction: Prediction) -> None:
    """Give all weight to the largest u_a = f_a(x) + sd_a(x); arms that are tied share it."""
    model, info = state.model, prediction.info
    foretell_rewards(model, info)
    for i in range(info.optimistic.shape[0]):
        info.optimistic[i] = info.foretold[i] + OPTIMISM * info.deviation[i]
    weigh_largest(info.optimistic, model.eligible, prediction.q)


@compiled
def commit(state: LinearUcbState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Play the round, and freeze its vector."""
    play(state.model, prediction.info, arm, plays)


@compiled
def withdraw(state: LinearUcbState, play: Floats, arm: int) -> None:
    """Take out what the silence of the play counted as."""
    end_play(state.model, play, arm, 0.0, 0.0)


@compiled
def observe(state: LinearUcbState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Learn the reward, in the place of what the silence of the play counted as."""
    tell(state.model, play, arm, loss)


@dataclass(frozen=True)
class LinearUcb(LinearLearner):
    """LinUCB with what silence says; deterministic but for ties."""

    name: ClassVar[str] = "linear-ucb"
    source: ClassVar[str] = "ours; the form is LinUCB, Li et al. 2010"
    state: ClassVar[type] = LinearUcbState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)
