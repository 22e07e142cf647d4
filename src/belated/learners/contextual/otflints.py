"""OTFLinTS (Vernade et al. 2020): Thompson sampling beside OTFLinUCB.

The paper draws theta from N(V^-1 B, beta_t V^-1) and plays the arm whose <phi, theta> is largest;
its authors call that a heuristic. Here each arm has parameters of its own, so that V is one block
for each arm and the values of arms are independent. The probability that an arm's value is the
largest is one integral, and the learner draws no random numbers.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.learners.contextual.censored_model import (
    CensoredLearner,
    CensoredModel,
    commit,
    fill_estimates,
    observe,
    untold_norms,
    width_of,
    withdraw,
)
from belated.learners.contextual.normal_chances import fill_largest, working_space
from belated.learners.contract import Prediction, Verbs


class OtfLinTsState(NamedTuple):
    """The state of OTFLinTS: its model."""

    model: CensoredModel


class OtfLinTsInfo(NamedTuple):
    """The vector x; of each arm its estimate, norm and spread; and working space."""

    x: Floats
    foretold: Floats
    deviation: Floats
    spread: Floats
    work: Floats


@compiled
def predict(state: OtfLinTsState, prediction: Prediction) -> None:
    """Fill in q(a) = P(<phi_a, theta> is the largest), where theta is N(V^-1 B, beta_t V^-1).

    beta_t = 1 + S/f_t, where S is the sum of the norms of the plays of the last m rounds.
    """
    model, info = state.model, prediction.info
    fill_estimates(model, info)
    scale = math.sqrt(1.0 + max(0.0, untold_norms(model)) / width_of(model))
    for i in range(info.spread.shape[0]):
        info.spread[i] = scale * info.deviation[i]
    fill_largest(info.foretold, info.spread, model.eligible, info.work, prediction.q)


@dataclass(frozen=True)
class OtfLinTs(CensoredLearner):
    """OTFLinTS with a block of parameters for each arm, and exact probabilities."""

    name: ClassVar[str] = "otflints"
    guarantee: ClassVar[str] = "none: its authors call it a heuristic"
    source: ClassVar[str] = "Vernade et al. 2020, read"
    state: ClassVar[type] = OtfLinTsState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def blank(self) -> Prediction:
        foretold, deviation, spread = np.zeros((3, self.arms))
        work = working_space(self.arms)
        info = OtfLinTsInfo(np.zeros(self.width), foretold, deviation, spread, work)
        return Prediction.blank(self.arms, info=info)
