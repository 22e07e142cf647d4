"""Tsallis-INF of Zimmert and Seldin, 2019, which ignores delays and uses losses as they arrive.

This is FTRL with the Tsallis regularizer and importance-weighted losses. Without delays it is
optimal against any adversary and, with the same rate, also for stochastic losses.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from belated.learners.contract import Facts
from belated.learners.tsallis.hybrid_regularizer import Hybrid
from belated.types import Covers, Origin


@dataclass(frozen=True)
class TsallisInf(Hybrid):
    """Tsallis-INF for any number of rounds: q_t(i) = t/(L(i) - c)^2, with c for the sum 1."""

    name: ClassVar[str] = "tsallis-inf"
    guarantee: ClassVar[str] = (
        "expected regret at most 4 sqrt(KT) + 1 without delays; none with delays"
    )
    covers: ClassVar[Covers] = Covers.NO_DELAY
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = "Zimmert and Seldin 2019, read"

    def bound(self, facts: Facts) -> float:
        return 4.0 * math.sqrt(facts.arms * facts.rounds) + 1.0
