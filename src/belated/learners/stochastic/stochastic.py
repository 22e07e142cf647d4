"""The parts that learners for stochastic losses share: they see one reward 1 - l a round.

Their guarantees are about losses that are drawn independently from one law for each arm, and
depend on the gaps between the means, which the rounds and delays of a game do not show.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from belated.arrays import Floats
from belated.checks import as_number
from belated.learners.contract import Learner
from belated.types import Setting


@dataclass(frozen=True)
class StochasticLearner(Learner):
    """Keeps, by arm, `observed`, a count, and `rewards`, an exact sum in two rows."""

    setting: ClassVar[Setting] = Setting.CONCEALED

    def losses(self, state: Any) -> Floats:
        """The sum of the losses that have been learned."""
        losses: Floats = state.observed - state.rewards.sum(axis=0)
        return losses[:, np.newaxis]


def log_horizon(horizon: int) -> Floats:
    """ln T as part of a state; a single round counts as two, so that no width is zero."""
    return np.full(1, math.log(max(2, horizon)))


def not_negative(value: float, name: str) -> float:
    """A number that is zero or more, or a clear error."""
    number = as_number(value, name)
    if number < 0.0:
        raise ValueError(f"{name} is {value!r}; it must not be negative")
    return number
