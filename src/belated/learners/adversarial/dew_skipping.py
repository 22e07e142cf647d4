"""DEW that skips the latest losses, of Thune, Cesa-Bianchi and Seldin, 2019.

The learner is told the delay of a play as soon as the arm is drawn, and ignores a loss whose delay
is too long. Losing a few rounds costs less than a learning rate that is low enough for their delay.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.adversarial.dew import TunedWeights, fixed_rate_bound, predict, tuned_rate
from belated.learners.adversarial.exp3 import observe, withdraw
from belated.learners.contract import Facts, Prediction, Verbs
from belated.numerics.importance_weights import divisor
from belated.types import Need, Origin


class SkippingState(NamedTuple):
    """State: losses is the sum of the arrived estimates by arm, threshold is beta, rate is eta."""

    losses: Floats
    rate: Floats
    threshold: Floats
    round: Counts


@compiled
def commit(state: SkippingState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze q_t(i_t), or infinity if d_t(i_t) >= beta, so that a skipped loss adds nothing."""
    skipped = plays[0, 0] >= state.threshold[0]
    plays[0, 0] = np.inf if skipped else divisor(prediction.q[arm])
    state.round[0] += 1


@dataclass(frozen=True)
class DelayedExponentialWeightsSkipping(TunedWeights):
    """DEW with skipping, tuned to the number of rounds T and the total delay D."""

    name: ClassVar[str] = "dew-skipping"
    needs: ClassVar[tuple[Need, ...]] = (
        Need.HORIZON,
        Need.TOTAL_DELAY,
        Need.DELAY_AT_DECISION,
    )
    guarantee: ClassVar[str] = (
        "expected regret at most D/beta + beta + 1 + ln K/eta + eta (KT + D), "
        "where eta = 1/(4 e beta)"
    )
    origin: ClassVar[Origin] = Origin.DERIVED
    source: ClassVar[str] = "Thune et al. 2019, from memory; threshold and bound are derived"
    state: ClassVar[type] = SkippingState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    @property
    def rate(self) -> float:
        """The learning rate eta = sqrt(ln K / (e K T/2 + D)), which is 1/(4 e beta)."""
        return tuned_rate(self.arms, self.horizon, self.total_delay)

    @property
    def threshold(self) -> float:
        """The delay from which losses are skipped, beta = sqrt((e K T/2 + D) / ln K) / (4 e).

        It is infinite with one arm.
        """
        return math.inf if self.arms == 1 else 1.0 / (4.0 * math.e * self.rate)

    def start(self) -> SkippingState:
        return SkippingState(
            losses=np.zeros(self.arms),
            rate=np.full(1, self.rate),
            threshold=np.full(1, self.threshold),
            round=np.ones(1, dtype=np.int64),
        )

    def bound(self, facts: Facts) -> float:
        """Bound the regret of the skipped plays and of the others.

        Each skipped play is counted in D at least beta times, except those of the last beta rounds.
        """
        if facts.arms == 1:
            return 0.0
        skipped = facts.total_delay / self.threshold + self.threshold + 1.0
        return skipped + fixed_rate_bound(self.rate, facts.arms, facts.rounds, facts.total_delay)
