"""Exp3.P: Exp3 whose regret is small with high probability; it uses each loss as it arrives.

The algorithm is from Auer, Cesa-Bianchi, Freund and Schapire 2002, with the constants of Bubeck and
Cesa-Bianchi 2012. It estimates gains, mixes in uniform play, and in every round adds to each arm's
gain a bonus that is larger the less likely the arm is to be played. The bonus needs no loss, so it
is added at once; without delays this is the published algorithm.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Learner, Prediction, Verbs
from belated.numerics.exponential_weights import weigh_exponentially
from belated.types import Covers, Need, Origin, Setting


class Exp3PState(NamedTuple):
    """State: losses is minus the estimated gains by arm; eta, gamma and beta are as published."""

    losses: Floats
    eta: Floats
    gamma: Floats
    beta: Floats
    round: Counts


@compiled
def predict(state: Exp3PState, prediction: Prediction) -> None:
    """Fill in q_t: (1 - gamma) times weights in proportion to exp(eta G(i)), plus gamma / K."""
    q, gamma = prediction.q, state.gamma[0]
    prediction.eta[0] = state.eta[0]
    weigh_exponentially(state.losses, state.eta[0], q)
    for i in range(q.shape[0]):
        q[i] = (1.0 - gamma) * q[i] + gamma / q.shape[0]


@compiled
def commit(state: Exp3PState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Add beta / q_t(i) to the gain of every arm, and freeze q_t(i_t)."""
    for i in range(state.losses.shape[0]):
        state.losses[i] -= state.beta[0] / prediction.q[i]
    plays[0, 0] = prediction.q[arm]
    state.round[0] += 1


@compiled
def withdraw(state: Exp3PState, play: Floats, arm: int) -> None:
    """Do nothing: outstanding plays are not recorded, and the bonus of the round is kept."""


@compiled
def observe(state: Exp3PState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add (1 - l) / q_s to the arm's gain, where q_s is its probability when it was played."""
    state.losses[arm] -= (1.0 - loss) / play[0]


@dataclass(frozen=True)
class Exp3P(Learner):
    """Exp3.P for a known number of rounds."""

    horizon: int = 1

    name: ClassVar[str] = "exp3p"
    setting: ClassVar[Setting] = Setting.CONCEALED
    needs: ClassVar[tuple[Need, ...]] = (Need.HORIZON,)
    guarantee: ClassVar[str] = (
        "without delays, regret at most 5.15 sqrt(KT ln K) + sqrt(KT / ln K) ln(1/delta) with "
        "probability 1 - delta; none with delays"
    )
    covers: ClassVar[Covers] = Covers.NO_DELAY
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = "Bubeck and Cesa-Bianchi 2012, Theorem 3.2, read in a transcript of it"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = Exp3PState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_count("horizon", 1)

    def start(self) -> Exp3PState:
        beta = math.sqrt(math.log(self.arms) / (self.arms * self.horizon))
        gamma = min(1.0, 1.05 * self.arms * beta)
        return Exp3PState(
            losses=np.zeros(self.arms),
            eta=np.full(1, 0.95 * beta),
            gamma=np.full(1, gamma),
            beta=np.full(1, beta),
            round=np.ones(1, dtype=np.int64),
        )

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, eta=1)
