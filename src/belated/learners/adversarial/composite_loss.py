"""The Composite Loss Wrapper over Exp3 (Cesa-Bianchi, Gentile and Mansour 2018, Algorithm 1).

This learner is for anonymous feedback: it uses only the sum of the losses that arrive in a round,
and not the plays to which they belong. It keeps playing one arm for at least 2d rounds, so that in
the end all arriving losses belong to that arm.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Learner, Prediction, Verbs
from belated.numerics.exponential_weights import weigh_exponentially
from belated.numerics.random_stream import seeded, uniform
from belated.types import Covers, Need, Origin, Setting

NONE = -1  # stands for the arm played last before there was any play


class CompositeLossState(NamedTuple):
    """State of the wrapper: losses is the sum of Exp3's loss estimates, by arm.

    sums holds the sum of the losses that arrived in each of the last d rounds, at the round modulo
    d. last_arm is the arm played last, and probability is the probability with which Exp3 drew it.
    last_update is the last update round.
    """

    losses: Floats
    sums: Floats
    last_arm: Counts
    last_update: Counts
    probability: Floats
    eta: Floats
    stream: NDArray[np.uint64]
    round: Counts


class CompositeLossInfo(NamedTuple):
    """The loss estimates that determine Exp3's distribution, including the last update."""

    losses: Floats


@compiled
def fed(state: CompositeLossState) -> float:
    """Return the loss of an update of Exp3: the losses of the last d rounds over 2d, below 1."""
    total = 0.0
    for k in range(state.sums.shape[0]):
        total += state.sums[k]
    return float(total / (2.0 * state.sums.shape[0]))


@compiled
def updates(state: CompositeLossState) -> bool:
    """Return whether the previous round was an update round."""
    return bool(state.last_update[0] == state.round[0] - 1)


@compiled
def predict(state: CompositeLossState, prediction: Prediction) -> None:
    """Put all weight on the arm played last, or use Exp3's weights at first and after an update."""
    q, arms = prediction.q, state.losses.shape[0]
    prediction.eta[0] = state.eta[0]
    if state.last_arm[0] != NONE and not updates(state):
        for i in range(arms):
            q[i] = 0.0
        q[state.last_arm[0]] = 1.0
    else:
        losses = prediction.info.losses
        for i in range(arms):
            losses[i] = state.losses[i]
        if updates(state):
            losses[state.last_arm[0]] += fed(state) / state.probability[0]
        weigh_exponentially(losses, state.eta[0], q)


@compiled
def commit(state: CompositeLossState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Update Exp3 if the previous round was an update round; decide at random whether this one is.

    This round can be an update round only if the last one was at least 2d rounds ago.
    """
    now, d = state.round[0], state.sums.shape[0]
    if updates(state):
        state.losses[state.last_arm[0]] += fed(state) / state.probability[0]
        state.probability[0] = prediction.q[arm]
    elif state.last_arm[0] == NONE:
        state.probability[0] = prediction.q[arm]
    state.last_arm[0] = arm
    state.sums[now % d] = 0.0
    if now - state.last_update[0] >= 2 * d and uniform(state.stream) < 0.5 / (2.0 * d - 1.0):
        state.last_update[0] = now
    plays[0, 0] = 0.0
    state.round[0] += 1


@compiled
def withdraw(state: CompositeLossState, play: Floats, arm: int) -> None:
    """Do nothing: a loss that never arrives is not part of any round's sum."""


@compiled
def observe(state: CompositeLossState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add the loss to the sum of the current round, without using its play or its arm."""
    state.sums[(state.round[0] - 1) % state.sums.shape[0]] += loss


@dataclass(frozen=True)
class CompositeLoss(Learner):
    """The Composite Loss Wrapper over Exp3; `seed` seeds the random choice of update rounds."""

    horizon: int = 1
    max_delay: int = 0
    seed: int = 0

    name: ClassVar[str] = "composite-loss"
    setting: ClassVar[Setting] = Setting.CONCEALED
    needs: ClassVar[tuple[Need, ...]] = (Need.HORIZON, Need.MAX_DELAY)
    guarantee: ClassVar[str] = (
        "expected regret at most 8 sqrt(d (4K + 1) T ln K) + O(d), where every loss comes in less "
        "than d rounds"
    )
    covers: ClassVar[Covers] = Covers.ANY
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = "Cesa-Bianchi, Gentile and Mansour 2018, read; the coin's bias derived"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = CompositeLossState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_count("horizon", 1)
        self._check_count("max_delay", 0)
        self._check_count("seed", 0)

    def start(self) -> CompositeLossState:
        d, arms = self.max_delay + 1, self.arms
        eta = 4.0 * math.sqrt(d * math.log(arms) / ((4.0 * arms + 1.0) * self.horizon))
        return CompositeLossState(
            losses=np.zeros(arms),
            sums=np.zeros(d),
            last_arm=np.full(1, NONE, dtype=np.int64),
            last_update=np.full(1, -2 * d, dtype=np.int64),
            probability=np.ones(1),
            eta=np.full(1, eta),
            stream=seeded(self.seed),
            round=np.ones(1, dtype=np.int64),
        )

    def blank(self) -> Prediction:
        info = CompositeLossInfo(losses=np.zeros(self.arms))
        return Prediction.blank(self.arms, eta=1, info=info)
