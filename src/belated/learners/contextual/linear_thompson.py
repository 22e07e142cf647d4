"""Thompson sampling with the model and the law of silence of `linear`.

Each arm's value is normal around the reward foretold of it, with half the standard deviation of
that, and an arm is drawn with the probability that its value is the largest. These probabilities
are exact: arms share no parameters, so that their values are independent, and one integral gives
them. The learner draws no random numbers.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.learners.contextual.linear_model import (
    LinearLearner,
    LinearModel,
    end_play,
    foretell_rewards,
    play,
    tell,
)
from belated.learners.contextual.normal_chances import fill_largest, working_space
from belated.learners.contract import Prediction, Verbs

SCALE = 0.5  # of the standard deviation


class LinearThompsonState(NamedTuple):
    """The state of Thompson sampling with a linear model: the model."""

    model: LinearModel


class LinearThompsonInfo(NamedTuple):
    """The vector x, the mean and the standard deviation of each arm's value, and working space."""

    x: Floats
    foretold: Floats
    deviation: Floats
    work: Floats


@compiled
def predict(state: LinearThompsonState, prediction: Prediction) -> None:
    """Fill in q(a) = P(z_a is the largest), where z_a is N(f_a(x), (sd_a(x)/2)^2)."""
    model, info = state.model, prediction.info
    foretell_rewards(model, info)
    for i in range(info.deviation.shape[0]):
        info.deviation[i] *= SCALE
    fill_largest(info.foretold, info.deviation, model.eligible, info.work, prediction.q)


@compiled
def commit(state: LinearThompsonState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Play the round, and freeze its vector."""
    play(state.model, prediction.info, arm, plays)


@compiled
def withdraw(state: LinearThompsonState, play: Floats, arm: int) -> None:
    """Take out what the silence of the play counted as."""
    end_play(state.model, play, arm, 0.0, 0.0)


@compiled
def observe(state: LinearThompsonState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Learn the reward, in the place of what the silence of the play counted as."""
    tell(state.model, play, arm, loss)


@dataclass(frozen=True)
class LinearThompson(LinearLearner):
    """Thompson sampling of a linear model at half its spread, with what silence says."""

    name: ClassVar[str] = "linear-thompson"
    source: ClassVar[str] = "ours; the form is Thompson sampling, as in Agrawal and Goyal 2013"
    state: ClassVar[type] = LinearThompsonState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def blank(self) -> Prediction:
        foretold, deviation = np.zeros((2, self.arms))
        work = working_space(self.arms)
        info = LinearThompsonInfo(np.zeros(self.width), foretold, deviation, work)
        return Prediction.blank(self.arms, info=info)
