"""DEW that skips the latest losses, of Thune, Cesa-Bianchi and Seldin, 2019.

It is told the delay of a play as soon as the arm is drawn, and never uses a loss that takes too
long: a few rounds that are lost altogether cost less than a rate low enough to wait for them.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.jit import compiled
from belated.learners.adversarial.dew import TunedWeights, fixed_rate_bound, predict, tuned_rate
from belated.learners.adversarial.exp3 import observe, withdraw
from belated.learners.contract import Facts, Prediction, Verbs
from belated.numerics.importance_weights import divisor
from belated.types import Need


class SkippingState(NamedTuple):
    """losses is the sum of the estimates that have arrived; threshold is beta, rate is eta."""

    losses: Floats
    rate: Floats
    threshold: Floats
    round: Counts


@compiled
def commit(state: SkippingState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze q_t(i_t); if d_t(i_t) >= beta infinity instead, so that the loss adds nothing."""
    skipped = plays[0, 0] >= state.threshold[0]
    plays[0, 0] = np.inf if skipped else divisor(prediction.q[arm])
    state.round[0] += 1


@dataclass(frozen=True)
class DelayedExponentialWeightsSkipping(TunedWeights):
    """DEW with skipping, told beforehand how many rounds there are and how much is late."""

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
    source: ClassVar[str] = "Thune et al. 2019, from memory; threshold and bound are derived"
    state: ClassVar[type] = SkippingState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    @property
    def rate(self) -> float:
        """sqrt(ln K / (e K T/2 + D)), which is 1/(4 e beta)."""
        return tuned_rate(self.arms, self.horizon, self.total_delay)

    @property
    def threshold(self) -> float:
        """beta = sqrt((e K T/2 + D) / ln K) / (4 e); infinite with one arm."""
        return math.inf if self.arms == 1 else 1.0 / (4.0 * math.e * self.rate)

    def start(self) -> SkippingState:
        return SkippingState(
            losses=np.zeros(self.arms),
            rate=np.full(1, self.rate),
            threshold=np.full(1, self.threshold),
            round=np.ones(1, dtype=np.int64),
        )

    def bound(self, facts: Facts) -> float:
        """Each skipped play is counted in D beta times, but for those of the last beta rounds."""
        if facts.arms == 1:
            return 0.0
        skipped = facts.total_delay / self.threshold + self.threshold + 1.0
        return skipped + fixed_rate_bound(self.rate, facts.arms, facts.rounds, facts.total_delay)
