"""Delay-adaptive Exp3-IX of Gyorgy and Joulani, 2021: `gyorgy-joulani` with implicit exploration.

As in `exp3-ix`, a loss is divided by slightly more than the probability with which its arm was
drawn, so that the regret is small with high probability, and not only in expectation.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from belated.learners.adversarial.gyorgy_joulani import (
    DelayAdaptiveState,
    adaptive_bound,
    commit,
    observe,
    predict,
    start_adaptive,
    withdraw,
)
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.types import Covers, Origin, Setting


@dataclass(frozen=True)
class GyorgyJoulaniIX(Learner):
    """Delay-adaptive Exp3-IX: gamma_t = eta_t/2, with the eta_t of `gyorgy-joulani`."""

    name: ClassVar[str] = "gyorgy-joulani-ix"
    setting: ClassVar[Setting] = Setting.CONCEALED
    guarantee: ClassVar[str] = "expected regret at most 2 sqrt(2 (KT + D) ln K) + sqrt(KT ln K / 2)"
    covers: ClassVar[Covers] = Covers.SHARED
    origin: ClassVar[Origin] = Origin.DERIVED
    source: ClassVar[str] = (
        "after Gyorgy and Joulani 2021; exploration from memory, rate and bound are derived"
    )
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = DelayAdaptiveState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> DelayAdaptiveState:
        return start_adaptive(self.arms, exploration=0.5)

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1)

    def bound(self, facts: Facts) -> float:
        """Return the bound of `gyorgy-joulani` plus sqrt(KT ln K / 2) for the estimates' bias.

        The bias adds K gamma_t in each round, and eta_t is at most sqrt(ln K / (2 K t)).
        """
        bias = math.sqrt(facts.arms * facts.rounds * math.log(facts.arms) / 2.0)
        return adaptive_bound(facts) + bias
