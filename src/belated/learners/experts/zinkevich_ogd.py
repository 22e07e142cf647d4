"""Online gradient descent for a constant delay: the slow learners of Zinkevich, Langford and Smola.

In this algorithm of 2009 the gradient of round t - tau changes the play after round t, with a step
size that falls with sqrt(t - tau). It differs from the algorithm of Quanrud and Khashabi in that
its step size falls, and is tuned to the longest delay instead of the sum of the delays.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.learners.experts.delayed_ogd import (
    DescentState,
    blank_descent,
    commit,
    descent_start,
    observe,
    predict,
    withdraw,
)
from belated.types import Covers, Delivery, Need, Origin, Setting


@dataclass(frozen=True)
class ZinkevichOGD(Learner):
    """Gradient descent with steps eta_t = 1 / sqrt(2 K tau (t - tau)), tau = max_delay.

    Until round tau + 1 the step has its largest size, and the factor tau counts as at least 1. If
    the delays differ, every loss is used in the step of the round in which it arrives. Two losses
    of one arm, one of them missing when the play of the other was made, cost the step size of the
    round in which the first of them arrives. That is no larger than the step size of the later
    play (see `DelayedOGD`). Hence

        regret <= 1/eta_T + K sum_t eta_t (1/2 + max_i rho_t(i)),

    and with a constant delay nothing arrives in the first tau rounds, which gives 4 sqrt(K tau T).
    """

    max_delay: int = 0

    name: ClassVar[str] = "zinkevich-ogd"
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    needs: ClassVar[tuple[Need, ...]] = (Need.MAX_DELAY,)
    deliveries: ClassVar[tuple[Delivery, ...]] = ("own",)
    guarantee: ClassVar[str] = (
        "regret at most 4 sqrt(K tau T) with a constant delay tau; "
        "at most 1/eta_T + K (1/2 + rho*) sum_t eta_t with any"
    )
    covers: ClassVar[Covers] = Covers.ANY
    origin: ClassVar[Origin] = Origin.DERIVED
    source: ClassVar[str] = "Zinkevich et al. 2009 from memory; the constants derived"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = DescentState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_count("max_delay", 0)

    @property
    def first_rate(self) -> float:
        """The first step size sigma = 1 / sqrt(2 K tau), with tau at least 1."""
        return 1.0 / math.sqrt(2.0 * self.arms * max(1, self.max_delay))

    def bound(self, facts: Facts) -> float:
        """Return the regret bound 1/eta_T + K (1/2 + rho*) S, where S >= sum_t eta_t.

        In S each of the first tau rounds adds sigma, and n further rounds add 2 sqrt(n) sigma.
        """
        falling = max(0, facts.rounds - self.max_delay)
        steps = min(facts.rounds, self.max_delay) + 2.0 * math.sqrt(falling)
        cost = self.arms * (0.5 + facts.most_missing) * self.first_rate * steps
        return math.sqrt(max(1, falling)) / self.first_rate + cost

    def start(self) -> DescentState:
        return descent_start(self.arms, self.first_rate, lag=self.max_delay)

    def blank(self) -> Prediction:
        return blank_descent(self.arms)
