"""The hybrid FTRL of Zimmert and Seldin, 2020, with their simple tuning.

This is Tsallis-INF with an added entropy, whose rate falls with the number of outstanding plays in
each round. It is optimal if all arms share their delays, and needs to know nothing beforehand. The
paper's concealed learner is built on it.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from belated.learners.contract import Facts
from belated.learners.tsallis.hybrid_regularizer import Hybrid, Schedule
from belated.types import Covers, Origin


@dataclass(frozen=True)
class ZimmertSeldin(Hybrid):
    """Algorithm 1 of Zimmert and Seldin: the inverse rate of the entropy is sqrt(2 D_t / ln K)."""

    name: ClassVar[str] = "zimmert-seldin"
    guarantee: ClassVar[str] = "expected regret at most 4 sqrt(KT) + sqrt(8 D ln K)"
    covers: ClassVar[Covers] = Covers.SHARED
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = "Zimmert and Seldin 2020, read"

    @property
    def schedule(self) -> Schedule:
        return Schedule(delay_weight=2.0)

    def bound(self, facts: Facts) -> float:
        late = 8.0 * facts.total_delay * math.log(facts.arms)
        return 4.0 * math.sqrt(facts.arms * facts.rounds) + math.sqrt(late)
