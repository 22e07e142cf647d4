"""The best-of-both-worlds hybrid of Masoudian, Zimmert and Seldin, 2022.

The hybrid of Zimmert and Seldin, started so slowly that no loss under way can upset it; then it is
good against any adversary and also where the losses are drawn at random. It must know d_max.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from belated.learners.tsallis.hybrid_regularizer import Hybrid, Schedule
from belated.types import Covers, Need


@dataclass(frozen=True)
class Masoudian(Hybrid):
    """Inverse rates sqrt(t + eta_0) of Tsallis and sqrt((D_t + gamma_0) / ln K) of the entropy."""

    max_delay: int = 0

    name: ClassVar[str] = "masoudian"
    needs: ClassVar[tuple[Need, ...]] = (Need.MAX_DELAY,)
    guarantee: ClassVar[str] = (
        "expected regret of order sqrt(KT) + sqrt(D ln K) + d_max K^(1/3) ln K"
    )
    covers: ClassVar[Covers] = Covers.SHARED
    source: ClassVar[str] = "Masoudian et al. 2022, constants from memory"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_count("max_delay", 0)

    @property
    def schedule(self) -> Schedule:
        """eta_0 = 10 d_max + (d_max / (K^(1/3) ln K))^2, gamma_0 = (24 d_max)^2 K^(2/3) ln K."""
        log_arms, root = math.log(max(self.arms, 2)), self.arms ** (1 / 3)
        return Schedule(
            delay_weight=1.0,
            tsallis_offset=10.0 * self.max_delay + (self.max_delay / (root * log_arms)) ** 2,
            entropy_offset=(24.0 * self.max_delay * root) ** 2 * log_arms,
        )
