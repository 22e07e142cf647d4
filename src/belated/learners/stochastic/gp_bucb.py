"""GP-BUCB, after Desautels, Krause and Burdick 2014: a Gaussian process over arms with features.

Arms that are close, such as prices or doses, have similar rewards. The mean of an arm rests on the
rewards that were told. Its deviation rests on all plays, told or pending: it does not depend on
what they bring, so that outstanding plays are not repeated. Constants are from memory.

The prior of the reward of an arm at x is a normal value around 1/2, with the covariance
k(x, y) = exp(-|x - y|^2/(2 l^2))/4; a reward that is told adds noise of the variance 1/4, which is
the largest of rewards in [0, 1]. Each feature is scaled to [0, 1] over the arms.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.checks import as_chance, as_number
from belated.compiled.kernels import compiled
from belated.learners.contract import Prediction, Verbs
from belated.learners.states import ArmCounts, ArmFloats
from belated.learners.stochastic.stochastic import StochasticLearner, not_negative
from belated.numerics.exact_sums import add_exactly
from belated.types import Covers, Origin

PRIOR_MEAN, PRIOR_VARIANCE, NOISE = 0.5, 0.25, 0.25
EVEN = "even"
TIED = 1e-10


class GpBucbState(NamedTuple):
    """The told and the pending plays of each arm, and the exact sum of its rewards in two rows.

    kernel is the covariance of the arms before any play. doubt is ln(K pi^2/(6 delta)), and
    inflation C, or a negative number if C shall be the least that holds.
    """

    observed: ArmCounts
    pending: ArmCounts
    rewards: ArmFloats
    kernel: Floats
    doubt: Floats
    inflation: Floats


class GpBucbInfo(NamedTuple):
    """The mean of each arm, its variance given told plays, and given all; then working space."""

    means: Floats
    told_variance: Floats
    variance: Floats
    indices: Floats
    factor: Floats
    column: Floats
    roots: Floats


@compiled
def factorise(kernel: Floats, roots: Floats, factor: Floats) -> None:
    """Fill in the lower L with L L' = I + R k R, R having the square roots of n/noise."""
    size = roots.shape[0]
    for i in range(size):
        for j in range(i + 1):
            sum_ = roots[i] * kernel[i, j] * roots[j]
            if i == j:
                sum_ += 1.0
            for m in range(j):
                sum_ -= factor[i, m] * factor[j, m]
            factor[i, j] = math.sqrt(sum_) if i == j else sum_ / factor[j, j]


@compiled
def solve_lower(factor: Floats, column: Floats) -> None:
    """Replace a column b by the solution of L x = b."""
    for i in range(column.shape[0]):
        for m in range(i):
            column[i] -= factor[i, m] * column[m]
        column[i] /= factor[i, i]


@compiled
def solve_upper(factor: Floats, column: Floats) -> None:
    """Replace a column b by the solution of L' x = b."""
    for i in range(column.shape[0] - 1, -1, -1):
        for m in range(i + 1, column.shape[0]):
            column[i] -= factor[m, i] * column[m]
        column[i] /= factor[i, i]


@compiled
def fill_variances(kernel: Floats, info: GpBucbInfo, variances: Floats) -> None:
    """Factorise for the plays in `roots`, and fill in k(i, i) - |L^-1 R k_i|^2 for each arm."""
    factorise(kernel, info.roots, info.factor)
    for i in range(variances.shape[0]):
        for m in range(variances.shape[0]):
            info.column[m] = info.roots[m] * kernel[m, i]
        solve_lower(info.factor, info.column)
        variances[i] = kernel[i, i]
        for m in range(variances.shape[0]):
            variances[i] -= info.column[m] * info.column[m]


@compiled
def fill_means(state: GpBucbState, info: GpBucbInfo) -> None:
    """Fill in 1/2 + k_i' R (L L')^-1 R y, y the mean told reward of each arm, less 1/2."""
    column = info.column
    for m in range(column.shape[0]):
        count = max(1.0, float(state.observed[m]))
        total = state.rewards[0, m] + state.rewards[1, m]
        column[m] = info.roots[m] * (total - PRIOR_MEAN * state.observed[m]) / count
    solve_lower(info.factor, column)
    solve_upper(info.factor, column)
    for i in range(info.means.shape[0]):
        info.means[i] = PRIOR_MEAN
        for m in range(column.shape[0]):
            info.means[i] += state.kernel[i, m] * info.roots[m] * column[m]


@compiled
def width_of(state: GpBucbState, info: GpBucbInfo, told: int) -> float:
    """Return sqrt(beta) = exp(C) sqrt(2 ln(K t^2 pi^2/(6 delta))), t - 1 rewards being told.

    C bounds what pending plays tell about any arm. The least is the largest ln(sd_told/sd_all).
    """
    factor = 0.0
    for i in range(info.means.shape[0]):
        factor = max(factor, info.told_variance[i] / info.variance[i])
    if state.inflation[0] >= 0.0:
        factor = math.exp(2.0 * state.inflation[0])
    return math.sqrt(factor * 2.0 * (state.doubt[0] + 2.0 * math.log(float(told + 1))))


@compiled
def predict(state: GpBucbState, prediction: Prediction) -> None:
    """Give all weight to the largest mean_told + sqrt(beta) sd_all; arms that are tied share it."""
    info, q, told = prediction.info, prediction.q, 0
    for i in range(q.shape[0]):
        info.roots[i] = math.sqrt(state.observed[i] / NOISE)
        told += state.observed[i]
    fill_variances(state.kernel, info, info.told_variance)
    fill_means(state, info)
    for i in range(q.shape[0]):
        info.roots[i] = math.sqrt((state.observed[i] + state.pending[i]) / NOISE)
    fill_variances(state.kernel, info, info.variance)
    width, best, tied = width_of(state, info, told), -np.inf, 0
    for i in range(q.shape[0]):
        info.indices[i] = info.means[i] + width * math.sqrt(info.variance[i])
        best = max(best, info.indices[i])
    for i in range(q.shape[0]):
        tied += 1 if info.indices[i] >= best - TIED else 0
    for i in range(q.shape[0]):
        q[i] = 1.0 / tied if info.indices[i] >= best - TIED else 0.0


@compiled
def commit(state: GpBucbState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Count the play at once; nothing has to be frozen."""
    state.pending[arm] += 1
    plays[0, 0] = 0.0


@compiled
def withdraw(state: GpBucbState, play: Floats, arm: int) -> None:
    """Forget a play whose reward will never come."""
    state.pending[arm] -= 1


@compiled
def observe(state: GpBucbState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add the reward 1 - l to those of the arm."""
    state.pending[arm] -= 1
    state.observed[arm] += 1
    add_exactly(state.rewards, arm, 1.0 - loss)


@dataclass(frozen=True)
class GpBucb(StochasticLearner):
    """GP-BUCB for a few arms, by exact arithmetic; deterministic but for ties.

    `places` are the features of the arms: a number for each, such as its price, or so many numbers
    for each. "even" places them in equal steps, and None says that they have nothing in common.
    `length` is the distance, as a share of the range of a feature, within which rewards are
    similar. `inflation` is C, by which pending plays widen the deviations; None takes the least
    that holds, and 0 leaves them as they are. `delta` is how probable it is that a bound fails.
    """

    places: Sequence[float] | Sequence[Sequence[float]] | str | None = None
    length: float = 0.2
    inflation: float | None = None
    delta: float = 0.05

    name: ClassVar[str] = "gp-bucb"
    guarantee: ClassVar[str] = (
        "with probability 1 - delta, for rewards that are a sample of this process and delays of "
        "any length for which C holds, regret of order exp(C) sqrt(T beta_T I_T), I_T what T plays "
        "can tell at most"
    )
    covers: ClassVar[Covers] = Covers.SHARED
    origin: ClassVar[Origin] = Origin.MEMORY
    source: ClassVar[str] = "after Desautels, Krause and Burdick 2014, constants from memory"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = GpBucbState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "delta", as_chance(self.delta, "delta"))
        length = as_number(self.length, "length")
        if length <= 0.0:
            raise ValueError(f"length is {self.length!r}; it must be above 0")
        object.__setattr__(self, "length", length)
        if self.inflation is not None:
            object.__setattr__(self, "inflation", not_negative(self.inflation, "inflation"))
        if self.places is not None and not (isinstance(self.places, str) and self.places == EVEN):
            object.__setattr__(self, "places", checked_places(self.places, self.arms))

    def kernel(self) -> Floats:
        """Return the covariance of the rewards of each two arms before any play."""
        if self.places is None:
            return PRIOR_VARIANCE * np.eye(self.arms)
        even = isinstance(self.places, str)
        given = np.arange(self.arms) if even else np.array(self.places)
        points = given.reshape(self.arms, -1).astype(np.float64)
        ranges = np.ptp(points, axis=0)
        points /= np.where(ranges > 0.0, ranges, 1.0)
        squares = ((points[:, None] - points[None]) ** 2).sum(axis=2)
        return np.asarray(PRIOR_VARIANCE * np.exp(-squares / (2.0 * self.length**2)))

    def start(self) -> GpBucbState:
        inflation = -1.0 if self.inflation is None else self.inflation
        return GpBucbState(
            observed=np.zeros(self.arms, dtype=np.int64),
            pending=np.zeros(self.arms, dtype=np.int64),
            rewards=np.zeros((2, self.arms)),
            kernel=self.kernel(),
            doubt=np.full(1, math.log(self.arms * math.pi**2 / (6.0 * self.delta))),
            inflation=np.full(1, inflation),
        )

    def blank(self) -> Prediction:
        size = self.arms
        info = GpBucbInfo(
            means=np.zeros(size),
            told_variance=np.zeros(size),
            variance=np.zeros(size),
            indices=np.zeros(size),
            factor=np.zeros((size, size)),
            column=np.zeros(size),
            roots=np.zeros(size),
        )
        return Prediction.blank(size, info=info)


def checked_places(
    places: Sequence[float] | Sequence[Sequence[float]] | str, arms: int
) -> tuple[tuple[float, ...], ...]:
    """Return the features of the arms as a row each, or raise a ValueError."""
    if isinstance(places, str):
        raise ValueError(f"places is {places!r}; it must be {EVEN!r}, or numbers for each arm")
    rows: list[Any] = [each if isinstance(each, Sequence) else [each] for each in list(places)]
    if len(rows) != arms or len({len(row) for row in rows}) != 1 or not rows[0]:
        raise ValueError(f"places must have as many numbers for each of the {arms} arms")
    return tuple(tuple(as_number(value, "a place") for value in row) for row in rows)
