"""Delayed Exp3 of Bistritz, Zhou, Chen, Bambos and Blanchet, 2019: tuned to T and D.

This is Exp3 with a constant learning rate, updated with losses as they arrive. The authors' variant
that finds T and D by a doubling trick is not implemented, because its analysis is reported to be
wrong.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from belated.learners.adversarial.dew import TunedWeights
from belated.types import Need, Origin


@dataclass(frozen=True)
class Bistritz(TunedWeights):
    """Delayed Exp3 at a constant rate, tuned to the number of rounds T and the total delay D."""

    name: ClassVar[str] = "bistritz"
    needs: ClassVar[tuple[Need, ...]] = (Need.HORIZON, Need.TOTAL_DELAY)
    guarantee: ClassVar[str] = (
        "expected regret at most ln K/eta + eta (KT + D), that is 2 sqrt((KT + D) ln K)"
    )
    origin: ClassVar[Origin] = Origin.DERIVED
    source: ClassVar[str] = "Bistritz et al. 2019, rate from memory; the bound is derived"

    @property
    def rate(self) -> float:
        """The constant learning rate eta = sqrt(ln K / (K T + D))."""
        return math.sqrt(math.log(self.arms) / (self.arms * self.horizon + self.total_delay))
