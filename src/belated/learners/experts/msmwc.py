"""MsMwC, multi-scale multiplicative weights with correction (Chen, Luo and Wei 2021, Algorithm 1).

This is optimistic mirror descent in which every arm has its own rate, which falls with the squared
errors of the arm's hints (Theorem 2). A second-order correction is added to the losses. The
algorithm ignores delays: it learns from whole rounds, in the order of play.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Learner, Prediction, Verbs
from belated.solvers.multiplier import MOST_STEPS, exhausted, normalise
from belated.types import Covers, Delivery, Need, Origin, Setting

Hint = Literal["none", "last"]
HINTS: tuple[Hint, ...] = ("none", "last")
FASTEST = 1.0 / 64.0


class MsmwcState(NamedTuple):
    """State: weights is w'_t, rates is eta_t, squares has the sums of (l - m)^2, and hints is m_t.

    told_losses and told_hints are the losses of the round whose losses are arriving and the hints
    with which it was played. finished counts its losses that have arrived or were withdrawn, and
    withdrawn only the latter. corrected and moved are working space.
    """

    weights: Floats
    rates: Floats
    squares: Floats
    hints: Floats
    told_losses: Floats
    told_hints: Floats
    finished: Counts
    withdrawn: Counts
    follows_last: Counts
    horizon: Counts
    corrected: Floats
    moved: Floats
    round: Counts


@compiled
def descend(state: MsmwcState, losses: Floats, w: Floats) -> int:
    """Fill w with the argmin of <w, x> + D(w, w'_t) over weights of at least 1/(KT).

    Every weight is w'(i) exp(-eta(i) (x(i) + c)), or 1/(KT) if that is larger. The sum of the
    weights is convex and falling in c, so Newton's method from the left of the root never passes
    it. It starts at the root of the equation in which exp(z) is replaced by the smaller 1 + z. The
    return value is the number of passes over the arms.
    """
    before, rates, arms = state.weights, state.rates, state.weights.shape[0]
    floor = 1.0 / (arms * float(state.horizon[0]))
    pull, weight = 0.0, 0.0
    for i in range(arms):
        pull += rates[i] * before[i] * losses[i]
        weight += rates[i] * before[i]
    c, excess = -pull / weight, np.inf
    for passes in range(1, MOST_STEPS):  # noqa: B007 (it is returned)
        total, slope = 0.0, 0.0
        for i in range(arms):
            w[i] = before[i] * math.exp(-rates[i] * (losses[i] + c))
            if w[i] > floor:
                slope += rates[i] * w[i]
            else:
                w[i] = floor
            total += w[i]
        previous, excess = excess, total - 1.0
        if slope == 0.0 or exhausted(excess, previous):
            break
        c += excess / slope
    normalise(w)
    return passes


@compiled
def predict(state: MsmwcState, prediction: Prediction) -> None:
    """Fill in w_t, one mirror step from w'_t along the hints m_t; without hints it is w'_t."""
    for i in range(prediction.q.shape[0]):
        prediction.eta[i] = state.rates[i]
        prediction.q[i] = state.weights[i]
    if state.follows_last[0] == 1:
        descend(state, state.hints, prediction.q)


@compiled
def commit(state: MsmwcState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze the hint m_t(i) of each arm."""
    for i in range(plays.shape[0]):
        plays[i, 0] = state.hints[i]
    state.round[0] += 1


@compiled
def withdraw(state: MsmwcState, play: Floats, arm: int) -> None:
    """Count the loss as withdrawn; nothing is learned from a round that lacks a loss."""
    state.withdrawn[0] += 1
    count(state)


@compiled
def observe(state: MsmwcState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Store the loss; if it is the last one of its round, learn from the round."""
    state.told_losses[arm] = loss
    state.told_hints[arm] = play[0]
    count(state)


@compiled
def count(state: MsmwcState) -> None:
    """Count one loss of the round as finished; after the last one, learn unless one is missing."""
    state.finished[0] += 1
    if state.finished[0] == state.weights.shape[0]:
        if state.withdrawn[0] == 0:
            learn(state)
        state.finished[0] = 0
        state.withdrawn[0] = 0


@compiled
def learn(state: MsmwcState) -> None:
    """Compute w'_{t+1}, one step from w'_t along l + a, with a(i) = 32 eta(i) (l(i) - m(i))^2.

    Then compute eta_{t+1}(i), the smaller of sqrt(ln(KT) / sum_s (l_s(i) - m_s(i))^2) and 1/64.
    """
    losses, hints, rates = state.told_losses, state.told_hints, state.rates
    arms = losses.shape[0]
    for i in range(arms):
        error = losses[i] - hints[i]
        state.corrected[i] = losses[i] + 32.0 * rates[i] * (error * error)
    descend(state, state.corrected, state.moved)
    logs = math.log(arms * float(state.horizon[0]))
    for i in range(arms):
        state.weights[i] = state.moved[i]
        error = losses[i] - hints[i]
        state.squares[i] += error * error
        if FASTEST * FASTEST * state.squares[i] > logs > 0.0:
            rates[i] = math.sqrt(logs / state.squares[i])
        if state.follows_last[0] == 1:
            state.hints[i] = losses[i]


@dataclass(frozen=True)
class Msmwc(Learner):
    """MsMwC; the hint m_t is zero, or with hint="last" the losses of the last whole round.

    A late loss is compared with the hint from when it was played, and used at the present rates.
    """

    horizon: int = 1
    hint: Hint = "none"

    name: ClassVar[str] = "msmwc"
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    needs: ClassVar[tuple[Need, ...]] = (Need.HORIZON,)
    deliveries: ClassVar[tuple[Delivery, ...]] = ("in order",)
    guarantee: ClassVar[str] = (
        "regret of order ln(KT) + sqrt(ln(KT) sum_t (l_t(i) - m_t(i))^2) to every arm i without "
        "delays; none with delays"
    )
    covers: ClassVar[Covers] = Covers.NO_DELAY
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = "Chen, Luo and Wei 2021, read"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = MsmwcState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_count("horizon", 1)
        if self.hint not in HINTS:
            known = " or ".join(map(repr, HINTS))
            raise ValueError(f"hint is {self.hint!r}; it must be {known}")

    def start(self) -> MsmwcState:
        return MsmwcState(
            weights=np.full(self.arms, 1.0 / self.arms),
            rates=np.full(self.arms, FASTEST),
            squares=np.zeros(self.arms),
            hints=np.zeros(self.arms),
            told_losses=np.zeros(self.arms),
            told_hints=np.zeros(self.arms),
            finished=np.zeros(1, dtype=np.int64),
            withdrawn=np.zeros(1, dtype=np.int64),
            follows_last=np.full(1, int(self.hint == "last"), dtype=np.int64),
            horizon=np.full(1, self.horizon, dtype=np.int64),
            corrected=np.zeros(self.arms),
            moved=np.zeros(self.arms),
            round=np.ones(1, dtype=np.int64),
        )

    def losses(self, state: MsmwcState) -> Floats:
        """Return the losses that arrived last, because no sum of losses is kept."""
        return state.told_losses[:, np.newaxis]

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=self.arms)
