"""SquareCB (Foster and Rakhlin 2020): inverse gaps of the losses that a regression foretells.

The regression is the ridge of `linear`, from the rewards that were told, as they arrive: a play
that is silent says nothing. There is no width, and no optimism: what is behind is drawn less often
the further it is behind. The paper sets gamma for a known number of rounds and a known regret of
the regression, and knows no delays; here gamma grows with the number n of rewards told, as it does
in Vowpal Wabbit, whose default it is (gamma_scale 10, gamma_exponent 0.5).
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contextual.contextual_learner import (
    FEATURES,
    ContextualLearner,
    foretell,
    freeze,
)
from belated.learners.contextual.linear import weigh_inverse_gaps
from belated.learners.contextual.ridge import Ridge, learn, nothing_learned
from belated.learners.contextual.scaling import Scaling, nothing_seen
from belated.learners.contract import Prediction, Verbs
from belated.learners.states import ArmFloats
from belated.types import Origin

STEEPNESS = 10.0  # gamma is this times the root of the number of rewards told


class ToldModel(NamedTuple):
    """What is learned from told rewards alone, whose number is `told`."""

    round: Counts
    context: Floats
    eligible: ArmFloats
    scaling: Scaling
    ridge: Ridge
    told: Counts


class SquareCbState(NamedTuple):
    """The state of SquareCB: its model."""

    model: ToldModel


@compiled
def predict(state: SquareCbState, prediction: Prediction) -> None:
    """Fill in q(a) = 1/(K + gamma (y_a - y_b)) for all arms behind b, whose loss y_b is least.

    y_a = 1 - f_a(x), and gamma = 10 sqrt(max(1, n)); the rest belongs to b.
    """
    model, info = state.model, prediction.info
    foretell(model, info)
    gamma = STEEPNESS * math.sqrt(max(1.0, float(model.told[0])))
    weigh_inverse_gaps(info.foretold, model.eligible, gamma, prediction.q)
    prediction.gamma[0] = gamma


@compiled
def commit(state: SquareCbState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Play the round, and freeze its vector."""
    freeze(state.model, prediction.info, arm, plays)
    state.model.round[0] += 1


@compiled
def withdraw(state: SquareCbState, play: Floats, arm: int) -> None:
    """Do nothing: this learner counts only the rewards that arrive."""


@compiled
def observe(state: SquareCbState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Learn the reward 1 - l of a play, with its vector as it was seen."""
    learn(state.model.ridge, arm, play[FEATURES:], 1.0, 1.0 - loss)
    state.model.told[0] += 1


@dataclass(frozen=True)
class SquareCb(ContextualLearner):
    """SquareCB with a ridge regression for each arm, told on arrival."""

    name: ClassVar[str] = "squarecb"
    guarantee: ClassVar[str] = (
        "none with delays, nor at this rate; without delays, at the rate for a known horizon, "
        "4 sqrt(K T R) + 8 sqrt(K T ln(2/delta)) if the regression's regret is R"
    )
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = "Foster and Rakhlin 2020, read; its rate is Vowpal Wabbit's default"
    state: ClassVar[type] = SquareCbState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def first_model(self) -> ToldModel:
        return ToldModel(
            round=np.ones(1, dtype=np.int64),
            context=self.encoder.nothing(),
            eligible=np.ones(self.arms),
            scaling=nothing_seen(self.scaled()),
            ridge=nothing_learned(self.arms, self.width),
            told=np.zeros(1, dtype=np.int64),
        )
