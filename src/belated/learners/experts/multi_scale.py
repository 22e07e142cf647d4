"""Multi-scale exponential weights: arms whose losses have ranges of very different size.

After Bubeck, Devanur, Huang and Niazadeh (2017). If the losses of arm i are known to lie between 0
and c(i), the entropy of the arm counts c(i) times. The regret against an arm of a small range then
depends on that range, not on the largest one. It ignores delays: each loss is used as it arrives.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import as_number, in_order
from belated.compiled.kernels import compiled
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.solvers.multiplier import MOST_STEPS, exhausted, normalise
from belated.types import Covers, Need, Origin, Setting


class MultiScaleState(NamedTuple):
    """State: losses sums the losses that have arrived, and ranges is c, both by arm."""

    losses: Floats
    ranges: Floats
    rate: Floats
    round: Counts


@compiled
def predict(state: MultiScaleState, prediction: Prediction) -> None:
    """Fill in q_t, the argmin of <q, L> + (1/eta) sum_i c(i) q(i) ln(K q(i)).

    q(i) = exp(-(eta L(i) + x)/c(i)) / K, with the x at which these sum to one. The logarithm of the
    sum is convex and falls in x, so Newton's method from the left never passes the root. It begins
    where one of the weights is 1 and no other is larger.
    """
    losses, ranges, q, eta = state.losses, state.ranges, prediction.q, state.rate[0]
    arms = q.shape[0]
    log_prior = -math.log(arms)
    prediction.eta[0] = eta
    x, excess = -np.inf, np.inf
    for i in range(arms):
        x = max(x, ranges[i] * log_prior - eta * losses[i])
    for _ in range(MOST_STEPS):
        total, slope = 0.0, 0.0
        for i in range(arms):
            q[i] = math.exp(log_prior - (eta * losses[i] + x) / ranges[i])
            total += q[i]
            slope += q[i] / ranges[i]
        previous, excess = excess, total - 1.0
        if exhausted(excess, previous):
            break
        x += math.log(total) * total / slope
    normalise(q)


@compiled
def commit(state: MultiScaleState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Count the round; nothing has to be frozen."""
    for row in range(plays.shape[0]):
        plays[row, 0] = 0.0
    state.round[0] += 1


@compiled
def withdraw(state: MultiScaleState, play: Floats, arm: int) -> None:
    """Do nothing: this learner keeps no record of the plays that are outstanding."""


@compiled
def observe(state: MultiScaleState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add the loss to the sum of its arm."""
    state.losses[arm] += loss


@dataclass(frozen=True)
class MultiScale(Learner):
    """Multi-scale exponential weights; `ranges` has the largest loss of each arm, 1 by default.

    Mirror descent with this entropy loses at most (eta/2) sum_i q_t(i) l_t(i)^2 / c(i) in round t,
    because exp(-y) - 1 + y <= y^2/2 for y >= 0, and l <= c makes that at most (eta/2) <q_t, l_t>.
    The divergence of arm i from the even prior is c(i) (ln K - 1) + mean of c. Hence

        regret against i <= (c(i) (ln K - 1) + mean c)/eta + (eta/2) sum_t <q_t, l_t>.
    """

    horizon: int = 1
    ranges: Sequence[float] | None = None

    name: ClassVar[str] = "multi-scale"
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    needs: ClassVar[tuple[Need, ...]] = (Need.HORIZON,)
    guarantee: ClassVar[str] = (
        "regret against every arm i at most (c(i) (ln K - 1) + mean c)/eta + (eta/2) sum_t <q_t, "
        "l_t> without delays, if the losses of i are at most c(i); eta = sqrt(2 ln K / T); none "
        "with delays"
    )
    covers: ClassVar[Covers] = Covers.NO_DELAY
    origin: ClassVar[Origin] = Origin.DERIVED
    source: ClassVar[str] = "after Bubeck et al. 2017; update and bound are derived"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = MultiScaleState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_count("horizon", 1)
        given = in_order((1.0,) * self.arms if self.ranges is None else self.ranges)
        if given is None or len(given) != self.arms:
            raise ValueError(
                f"ranges is {self.ranges!r}; it must have a number for each of {self.arms} arms"
            )
        ranges = tuple(as_number(each, "ranges") for each in given)
        for each in ranges:
            if not 0.0 < each <= 1.0:
                raise ValueError(f"ranges holds {each!r}; the largest loss must be in (0, 1]")
        object.__setattr__(self, "ranges", ranges)

    @property
    def rate(self) -> float:
        """The rate eta = sqrt(2 ln K / T); a single arm, which needs none, has that of two."""
        return math.sqrt(2.0 * math.log(max(2, self.arms)) / self.horizon)

    def bound(self, facts: Facts) -> float:
        """Return the bound against the arm of the largest range; all losses are at most 1."""
        ranges = np.asarray(self.ranges)
        apart = ranges.max() * (math.log(self.arms) - 1.0) + ranges.mean()
        return float(apart) / self.rate + 0.5 * self.rate * facts.rounds

    def start(self) -> MultiScaleState:
        return MultiScaleState(
            losses=np.zeros(self.arms),
            ranges=np.array(self.ranges),
            rate=np.full(1, self.rate),
            round=np.ones(1, dtype=np.int64),
        )

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1)
