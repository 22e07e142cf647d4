"""The parts that learners for stochastic losses share.

These learners work with rewards 1 - l. Their guarantees are about losses that are drawn
independently from one distribution for each arm. They depend on the gaps between the means, which
cannot be read from the rounds and delays of a game, so these learners compute no bound.
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
    """A learner whose state has, by arm, `observed` and `rewards`.

    observed is the number of rewards that have arrived, and rewards their exact sum in two rows.
    """

    setting: ClassVar[Setting] = Setting.CONCEALED

    def losses(self, state: Any) -> Floats:
        """Return the sum of the observed losses of each arm."""
        losses: Floats = state.observed - state.rewards.sum(axis=0)
        return losses[:, np.newaxis]


def log_horizon(horizon: int) -> Floats:
    """Return ln T as an array for a state; T is at least 2 here, so that no width is zero."""
    return np.full(1, math.log(max(2, horizon)))


def not_negative(value: float, name: str) -> float:
    """Return the value as a float, or raise a ValueError if it is negative."""
    number = as_number(value, name)
    if number < 0.0:
        raise ValueError(f"{name} is {value!r}; it must not be negative")
    return number
