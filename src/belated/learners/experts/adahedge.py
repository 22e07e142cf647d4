"""AdaHedge of de Rooij, van Erven, Grunwald and Koolen (2014): Hedge that tunes its own rate.

The learning rate falls with the mixability gaps of the learner's own plays, so it stays high on
easy losses. The algorithm ignores delays: it learns from whole rounds, in the order of play, when
their losses have arrived.

Its bound without delays, for losses in [0, 1]: let delta_t be the mixability gaps, Delta their sum
and v_t the variance of l_t under q_t. Mix losses add up to at most L(i) + ln K/eta_T, since rates
never rise, so the regret is at most Delta_T + ln K/eta_T = Delta_T + Delta_(T-1) <= 2 Delta_T. By
Bernstein, delta_t <= v_t (e^eta - eta - 1)/eta, hence delta_t (1/eta - 1/3) <= v_t/2: for eta >= 3
the left side is not positive, and below that (e^eta - eta - 1)(1 - eta/3) <= eta^2/2. So Delta_T^2,
the sum of delta_t^2 + 2 delta_t ln K/eta_t, is at most V ln K + (1 + (2/3) ln K) Delta_T, and
2 Delta_T is at most 2 sqrt(V ln K) + (4/3) ln K + 2.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.learners.whole_rounds import (
    LOSS,
    ROUND,
    WEIGHT,
    WholeRounds,
    gather,
    no_rounds,
    withdraw,
)
from belated.numerics.softmin import below_least, softmin
from belated.types import Covers, Delivery, Origin, Setting

LOSSES, LAMBDA = 2, 3  # further columns of a play: L(i) and 1/eta when it was made
WIDTH = 4


class AdaHedgeState(NamedTuple):
    """State: rounds.losses is L, the losses of the whole rounds; temperature is 1/eta = Delta/ln K.

    following is working space, for the weights that include the last whole round.
    """

    rounds: WholeRounds
    temperature: Floats
    following: Floats


@compiled
def predict(state: AdaHedgeState, prediction: Prediction) -> None:
    """Fill in q_t(i), in proportion to exp(-eta_t L(i)), with eta_t = ln K/Delta."""
    prediction.eta[0] = 1.0 / state.temperature[0] if state.temperature[0] > 0.0 else np.inf
    softmin(state.rounds.losses, state.temperature[0], prediction.q)


@compiled
def commit(state: AdaHedgeState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze the round, and for each arm q_t(i) and L(i), and 1/eta_t."""
    for i in range(plays.shape[0]):
        plays[i, ROUND] = state.rounds.round[0]
        plays[i, WEIGHT] = prediction.q[i]
        plays[i, LOSSES] = state.rounds.losses[i]
        plays[i, LAMBDA] = state.temperature[0]
    state.rounds.round[0] += 1


@compiled
def observe(state: AdaHedgeState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Store the loss; when its round is whole, add the round's mixability gap delta_s to Delta."""
    arms = state.following.shape[0]
    if gather(state.rounds, play, arm, loss) and arms > 1:
        gap = mixability_gap(state.rounds.gathered, play[LAMBDA], state.following)
        state.temperature[0] += max(gap, 0.0) / math.log(arms)


@compiled
def mixability_gap(gathered: Floats, temperature: float, following: Floats) -> float:
    """Return the mixability gap <q_s, l_s> - m_s of a round, where m_s is the mix loss.

    m_s = -(1/eta_s) ln sum_i q_s(i) exp(-eta_s l_s(i)) is the amount by which l_s raises the soft
    minimum of L. The smallest loss is subtracted from all, so that a small gap is not rounded away.
    """
    frozen, weights = gathered[LOSSES], gathered[WEIGHT]
    least, expected = gathered[LOSS].min(), 0.0
    for i in range(weights.shape[0]):
        above = gathered[LOSS, i] - least
        expected += weights[i] * above
        gathered[LOSS, i] = frozen[i] + above
    lifted = gathered[LOSS]
    softmin(lifted, temperature, following)
    mixed = below_least(following, temperature) - below_least(weights, temperature)
    return float(expected - (lifted.min() - frozen.min()) - mixed)


@dataclass(frozen=True)
class AdaHedge(Learner):
    """AdaHedge, for any number of rounds and any scale of the losses."""

    name: ClassVar[str] = "adahedge"
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    deliveries: ClassVar[tuple[Delivery, ...]] = ("in order",)
    guarantee: ClassVar[str] = (
        "regret at most 2 sqrt(V ln K) + (4/3) ln K + 2 without delays, where V sums the variances "
        "of l_t under q_t; none with delays"
    )
    covers: ClassVar[Covers] = Covers.NO_DELAY
    origin: ClassVar[Origin] = Origin.DERIVED
    source: ClassVar[str] = (
        "de Rooij et al. 2014, steps read in a port of their program; the bound is derived"
    )
    play_width: ClassVar[int] = WIDTH
    state: ClassVar[type] = AdaHedgeState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> AdaHedgeState:
        return AdaHedgeState(
            rounds=no_rounds(self.arms, WIDTH),
            temperature=np.zeros(1),
            following=np.full(self.arms, 1.0 / self.arms),
        )

    def bound(self, facts: Facts) -> float:
        """The bound for the largest V there is: the variance of losses in [0, 1] is at most 1/4."""
        log_arms = math.log(facts.arms)
        return math.sqrt(facts.rounds * log_arms) + 4.0 / 3.0 * log_arms + 2.0

    def losses(self, state: AdaHedgeState) -> Floats:
        return state.rounds.losses[:, np.newaxis]

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1)
