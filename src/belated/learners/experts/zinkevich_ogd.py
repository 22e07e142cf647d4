"""Online gradient descent for a constant delay: the slow learners of Zinkevich, Langford and Smola.

Published in 2009: the gradient of round t - tau moves the play after round t, by a step that falls
with sqrt(t - tau). It differs from Quanrud and Khashabi's in its falling steps, tuned to the
longest delay instead of their sum.
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
from belated.types import Covers, Delivery, Need, Setting


@dataclass(frozen=True)
class ZinkevichOGD(Learner):
    """Gradient descent with steps eta_t = 1 / sqrt(2 K tau (t - tau)), tau = max_delay.

    Until round tau + 1 it is the largest step, and tau counts as 1 at least under the root. Where
    delays differ, every loss goes into the step of the round in which it comes. Two losses of one
    arm, one of them missing when the other was made, cost the step of the round in which the first
    of them comes; that is no larger than the step of the later play (see `DelayedOGD`). Hence

        regret <= 1/eta_T + K sum_t eta_t (1/2 + max_i rho_t(i)),

    where a constant delay spares the first tau rounds and leaves 4 sqrt(K tau T).
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
    source: ClassVar[str] = "Zinkevich et al. 2009 from memory; the constants derived"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = DescentState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_count("max_delay", 0)

    @property
    def first_rate(self) -> float:
        """sigma = 1 / sqrt(2 K tau)."""
        return 1.0 / math.sqrt(2.0 * self.arms * max(1, self.max_delay))

    def bound(self, facts: Facts) -> float:
        """1/eta_T + K (1/2 + rho*) S, where S >= sum_t eta_t.

        The first tau rounds have the step sigma each, and n falling ones add at most 2 sqrt(n).
        """
        falling = max(0, facts.rounds - self.max_delay)
        steps = min(facts.rounds, self.max_delay) + 2.0 * math.sqrt(falling)
        cost = self.arms * (0.5 + facts.most_missing) * self.first_rate * steps
        return math.sqrt(max(1, falling)) / self.first_rate + cost

    def start(self) -> DescentState:
        return descent_start(self.arms, self.first_rate, lag=self.max_delay)

    def blank(self) -> Prediction:
        return blank_descent(self.arms)
