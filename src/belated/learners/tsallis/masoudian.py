"""The best-of-both-worlds hybrid of Masoudian, Zimmert and Seldin, 2022.

This is the hybrid of Zimmert and Seldin with rates that start so low that no outstanding loss can
change the weights much. Its regret is small against any adversary, and smaller still for stochastic
losses. It must know d_max.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from belated.learners.tsallis.hybrid_regularizer import Hybrid, Schedule
from belated.types import Covers, Need, Origin


@dataclass(frozen=True)
class Masoudian(Hybrid):
    """The hybrid learner with rates lowered by the constants eta_0 and gamma_0.

    The inverse rates are sqrt(t + eta_0) for the Tsallis entropy and sqrt((D_t + gamma_0) / ln K)
    for the negative entropy.
    """

    max_delay: int = 0

    name: ClassVar[str] = "masoudian"
    needs: ClassVar[tuple[Need, ...]] = (Need.MAX_DELAY,)
    guarantee: ClassVar[str] = (
        "expected regret of order sqrt(KT) + sqrt(D ln K) + d_max K^(1/3) ln K"
    )
    covers: ClassVar[Covers] = Covers.SHARED
    origin: ClassVar[Origin] = Origin.MEMORY
    source: ClassVar[str] = "Masoudian et al. 2022, constants from memory"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_count("max_delay", 0)

    @property
    def schedule(self) -> Schedule:
        """The constants of the rates, with the two offsets eta_0 and gamma_0.

        eta_0 = 10 d_max + (d_max / (K^(1/3) ln K))^2, gamma_0 = (24 d_max)^2 K^(2/3) ln K.
        """
        log_arms, root = math.log(max(self.arms, 2)), self.arms ** (1 / 3)
        return Schedule(
            delay_weight=1.0,
            tsallis_offset=10.0 * self.max_delay + (self.max_delay / (root * log_arms)) ** 2,
            entropy_offset=(24.0 * self.max_delay * root) ** 2 * log_arms,
        )
