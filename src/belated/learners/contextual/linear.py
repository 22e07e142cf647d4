"""Inverse gaps of optimistic values: the contextual learner to use.

Each arm has an optimistic value, the reward that the linear model foretells of it in this context
plus the standard deviation of that. The arm with the largest value is the most likely, and any
other one is drawn with a probability that falls with how far it lies behind. All probabilities are
exact, above zero, and cheap, so that what is logged can be evaluated afterwards. The form is that
of SquareCB (Foster and Rakhlin 2020) with two changes: optimistic values, and a rate that grows
with the rewards told and falls with their noise, so that units do not matter. Its theorem does not
cover these, nor delays: nothing is proven of this learner.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.learners.contextual.linear_model import (
    NUMBER,
    LinearLearner,
    LinearModel,
    end_play,
    foretell_rewards,
    play,
    tell,
)
from belated.learners.contract import Prediction, Verbs

STEEPNESS = 50.0  # gamma is this times the root of the number of rewards told, over their noise
OPTIMISM = 1.0  # standard deviations
TIED = 1e-10  # values that differ by no more than this are tied


class LinearState(NamedTuple):
    """The state of the linear learner: its model."""

    model: LinearModel


@compiled
def weigh_inverse_gaps(values: Floats, eligible: Floats, gamma: float, q: Floats) -> None:
    """Fill in q(a) = 1/(K + gamma (u_b - u_a)) for the K eligible arms a behind the best one, b.

    The rest belongs to the best one; if there are several, they share it.
    """
    count, best, rest, tied = 0.0, -np.inf, 1.0, 0
    for i in range(q.shape[0]):
        if eligible[i] > 0.0:
            count += 1.0
            best = max(best, values[i])
    for i in range(q.shape[0]):
        q[i] = 0.0
        if eligible[i] > 0.0:
            if best - values[i] <= TIED:
                tied += 1
            else:
                q[i] = 1.0 / (count + gamma * (best - values[i]))
                rest -= q[i]
    for i in range(q.shape[0]):
        if eligible[i] > 0.0 and best - values[i] <= TIED:
            q[i] = rest / tied


@compiled
def predict(state: LinearState, prediction: Prediction) -> None:
    """Draw by the inverse gaps of u_a = f_a(x) + sd_a(x), gamma = 50 sqrt(max(1, told))/sigma."""
    model, info = state.model, prediction.info
    sigma = foretell_rewards(model, info)
    for i in range(info.optimistic.shape[0]):
        info.optimistic[i] = info.foretold[i] + OPTIMISM * info.deviation[i]
    gamma = STEEPNESS * math.sqrt(max(1.0, model.told[NUMBER])) / sigma
    weigh_inverse_gaps(info.optimistic, model.eligible, gamma, prediction.q)
    prediction.gamma[0] = gamma


@compiled
def commit(state: LinearState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Play the round, and freeze its vector."""
    play(state.model, prediction.info, arm, plays)


@compiled
def withdraw(state: LinearState, play: Floats, arm: int) -> None:
    """Take out what the silence of the play counted as."""
    end_play(state.model, play, arm, 0.0, 0.0)


@compiled
def observe(state: LinearState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Learn the reward, in the place of what the silence of the play counted as."""
    tell(state.model, play, arm, loss)


@dataclass(frozen=True)
class Linear(LinearLearner):
    """The linear learner: optimistic values, inverse gaps, and what silence says."""

    name: ClassVar[str] = "linear"
    source: ClassVar[str] = "ours; inverse gaps of Foster and Rakhlin 2020, read"
    state: ClassVar[type] = LinearState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)
