"""Dropout perturbations of van Erven, Kotlowski and Warmuth (2014): leaders of thinned losses.

Each loss l is replaced, once, by 1 with probability (1 - alpha) l and by 0 otherwise, and the arm
with the smallest sum leads; a tie is broken at random. The authors draw these coins. Here the
weights are the probabilities themselves: the law of each arm's sum is kept, as that of a sum of
independent coins, and a loss that arrives is one more coin. It ignores delays: each loss is used as
it arrives. Chances below 1e-17 at the ends of a law are left out.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import as_number
from belated.compiled.kernels import compiled
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.types import Covers, Origin, Setting

NEGLIGIBLE = 1e-17
FIRST_ROOM = 16
# A sum of n coins is within x of its mean but for a chance of 2 exp(-2 x^2/n), which is negligible
# from x = 4.5 sqrt(n) on: a law has at most 9 sqrt(n) chances, and a few at its ends.
ROOM_PER_ROOT = 9.0


class DropoutState(NamedTuple):
    """State: the law of the sum of each arm, and losses, the sums of the losses that have arrived.

    chances[i, k] is the chance that the sum of arm i is first[i] + k, for k below length[i]. thin
    is 1 - alpha. nodes and shares are the quadrature by which ties are shared.
    """

    chances: Floats
    first: Counts
    length: Counts
    losses: Floats
    thin: Floats
    nodes: Floats
    shares: Floats
    round: Counts


class DropoutInfo(NamedTuple):
    """Working space, by arm: the chance that the sum is a value, or larger, and partial products.

    lead is the chance that the arm leads.
    """

    here: Floats
    above: Floats
    products: Floats
    lead: Floats


@compiled
def predict(state: DropoutState, prediction: Prediction) -> None:
    """Fill in q_t(i), the probability that arm i leads.

    It is the sum over v of P(S(i) = v) times the integral over x from 0 to 1 of the product, over
    the other arms j, of P(S(j) > v) + x P(S(j) = v). If m others tie, x^m integrates to the share
    1/(m + 1).
    """
    info, q, arms = prediction.info, prediction.q, prediction.q.shape[0]
    low, high = state.first[0], state.first[0] + state.length[0]
    for i in range(arms):
        info.above[i], info.lead[i] = 1.0, 0.0
        low = min(low, state.first[i])
        high = min(high, state.first[i] + state.length[i])
    for value in range(low, high):
        for i in range(arms):
            place = value - state.first[i]
            info.here[i] = state.chances[i, place] if place >= 0 else 0.0
            info.above[i] = max(0.0, info.above[i] - info.here[i])
        add_leads(state, info)
    sum_ = 0.0
    for i in range(arms):
        sum_ += info.lead[i]
    for i in range(arms):
        q[i] = info.lead[i] / sum_


@compiled
def add_leads(state: DropoutState, info: DropoutInfo) -> None:
    """Add the chance that each arm leads with the value of which `here` and `above` speak."""
    here, above, products, arms = info.here, info.above, info.products, info.here.shape[0]
    for n in range(state.nodes.shape[0]):
        x, before = state.nodes[n], 1.0
        for i in range(arms):
            products[i] = before
            before *= above[i] + x * here[i]
        after = state.shares[n]
        for i in range(arms - 1, -1, -1):
            info.lead[i] += here[i] * products[i] * after
            after *= above[i] + x * here[i]


@compiled
def commit(state: DropoutState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Count the round; nothing has to be frozen."""
    for row in range(plays.shape[0]):
        plays[row, 0] = 0.0
    state.round[0] += 1


@compiled
def withdraw(state: DropoutState, play: Floats, arm: int) -> None:
    """Do nothing: this learner keeps no record of the plays that are outstanding."""


@compiled
def observe(state: DropoutState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add one more coin, of chance (1 - alpha) l, to the sum of the arm."""
    chances, length = state.chances[arm], state.length[arm]
    heads = state.thin[0] * loss
    chances[length] = 0.0
    for k in range(length, 0, -1):
        chances[k] = chances[k] * (1.0 - heads) + chances[k - 1] * heads
    chances[0] *= 1.0 - heads
    length += 1
    while length > 1 and chances[length - 1] < NEGLIGIBLE:
        length -= 1
    gone = 0
    while gone < length - 1 and chances[gone] < NEGLIGIBLE:
        gone += 1
    for k in range(length - gone):
        chances[k] = chances[k + gone]
    state.first[arm] += gone
    state.length[arm] = length - gone
    state.losses[arm] += loss


@dataclass(frozen=True)
class Dropout(Learner):
    """Binarised dropout perturbations; `alpha` is the share of the losses that is dropped."""

    alpha: float = 0.5

    name: ClassVar[str] = "dropout"
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    guarantee: ClassVar[str] = (
        "regret at most (4 sqrt(2 L* ln 3K) + 3 ln(1 + L*))/(a^2 (1 - a)) + ln(3K)/(a (1 - a)^2) + "
        "3/a without delays, where a is alpha and L* the loss of the best arm; none with delays"
    )
    covers: ClassVar[Covers] = Covers.NO_DELAY
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = "van Erven, Kotlowski and Warmuth 2014, read; exact weights derived"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = DropoutState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        alpha = as_number(self.alpha, "alpha")
        if not 0.0 < alpha < 1.0:
            raise ValueError(f"alpha is {alpha!r}; it must be above 0 and below 1")
        object.__setattr__(self, "alpha", alpha)

    def bound(self, facts: Facts) -> float:
        a, best = self.alpha, facts.best_loss
        logs = math.log(3.0 * self.arms)
        root = 4.0 * math.sqrt(2.0 * best * logs) + 3.0 * math.log(1.0 + best)
        kept = 1.0 - a
        return root / (a * a * kept) + logs / (a * kept * kept) + 3.0 / a

    def start(self) -> DropoutState:
        chances = np.zeros((self.arms, FIRST_ROOM))
        chances[:, 0] = 1.0
        abscissas, weights = np.polynomial.legendre.leggauss((self.arms + 1) // 2)
        return DropoutState(
            chances=chances,
            first=np.zeros(self.arms, dtype=np.int64),
            length=np.ones(self.arms, dtype=np.int64),
            losses=np.zeros(self.arms),
            thin=np.full(1, 1.0 - self.alpha),
            nodes=0.5 + 0.5 * abscissas,
            shares=0.5 * weights,
            round=np.ones(1, dtype=np.int64),
        )

    def reserved(self, state: DropoutState, rounds: int) -> DropoutState:
        """Make room for the laws of as many losses as there can be after so many more rounds."""
        coins = int(state.round[0]) + rounds
        room = FIRST_ROOM + math.ceil(ROOM_PER_ROOT * math.sqrt(coins))
        if state.chances.shape[1] >= room:
            return state
        chances = np.zeros((self.arms, room))
        chances[:, : state.chances.shape[1]] = state.chances
        return state._replace(chances=chances)

    def check_saved(self, state: DropoutState, plays: object) -> None:
        room = state.chances.shape[1]
        if not ((state.length >= 1) & (state.length < room) & (state.first >= 0)).all():
            raise ValueError(f"the law of a sum is longer than its room, {room}")

    def blank(self) -> Prediction:
        info = DropoutInfo(*(np.zeros(self.arms) for _ in DropoutInfo._fields))
        return Prediction.blank(self.arms, info=info)
