"""Delayed Exp3 of Bistritz, Zhou, Chen, Bambos and Blanchet, 2019: tuned to T and D.

Exp3 in the order of arrival at one rate. Their variant that doubles what it does not know is not
here: its analysis is reported to be wrong.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from belated.learners.dew import FixedRateState, commit, fixed_rate_bound, predict
from belated.learners.exp3 import observe, withdraw
from belated.learners.learner import Facts, Learner, Prediction, Verbs
from belated.types import Covers, Need, Setting


@dataclass(frozen=True)
class Bistritz(Learner):
    """Delayed Exp3, told beforehand how many rounds there are and how much is late."""

    horizon: int = 1
    total_delay: int = 0

    name: ClassVar[str] = "bistritz"
    setting: ClassVar[Setting] = Setting.CONCEALED
    needs: ClassVar[tuple[Need, ...]] = (Need.HORIZON, Need.TOTAL_DELAY)
    guarantee: ClassVar[str] = (
        "expected regret at most ln K/eta + eta (KT + D), that is 2 sqrt((KT + D) ln K)"
    )
    covers: ClassVar[Covers] = Covers.SHARED
    source: ClassVar[str] = "Bistritz et al. 2019, rate from memory; the bound is derived"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = FixedRateState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_count("horizon", 1)
        self._check_count("total_delay", 0)

    @property
    def rate(self) -> float:
        """sqrt(ln K / (K T + D))."""
        return math.sqrt(math.log(self.arms) / (self.arms * self.horizon + self.total_delay))

    def start(self) -> FixedRateState:
        return FixedRateState(
            losses=np.zeros(self.arms),
            rate=np.full(1, self.rate),
            round=np.ones(1, dtype=np.int64),
        )

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1)

    def bound(self, facts: Facts) -> float:
        return fixed_rate_bound(self.rate, facts.arms, facts.rounds, facts.total_delay)
