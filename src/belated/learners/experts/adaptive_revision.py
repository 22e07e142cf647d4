"""AdaptiveRevision of McMahan and Streeter (2014), projected on the probability simplex.

Gradient descent in which every coordinate has its own step, as in AdaGrad. When a late gradient
arrives, the steps that were made since its play are revised: they should have been smaller. The
authors' learner is unconstrained. Here its point is projected on the nearest distribution, each
time again, and with that it is no longer theirs.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import as_number
from belated.compiled.kernels import compiled
from belated.learners.contract import Learner, Prediction, Verbs
from belated.learners.experts.simplex import project
from belated.types import Covers, Delivery, Origin, Setting

BEFORE = 0  # the column of a play: the sum of the gradients when it was made


class AdaptiveRevisionState(NamedTuple):
    """State, by arm: the unprojected point, and losses, the sum of the gradients that have arrived.

    squares is the sum of g^2 + 2 g h, where h sums the gradients that arrived between the play of g
    and g itself, and largest the largest value that it has had; both start at 1.
    """

    point: Floats
    losses: Floats
    squares: Floats
    largest: Floats
    rate: Floats
    round: Counts


class AdaptiveRevisionInfo(NamedTuple):
    """Working space of the projection on the simplex."""

    heap: Floats


@compiled
def predict(state: AdaptiveRevisionState, prediction: Prediction) -> None:
    """Fill in q_t, the distribution nearest to the point, and the step of each arm."""
    for i in range(prediction.q.shape[0]):
        prediction.q[i] = state.point[i]
        prediction.eta[i] = state.rate[0] / math.sqrt(state.largest[i])
    project(prediction.q, prediction.info.heap)


@compiled
def commit(state: AdaptiveRevisionState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze the sum of the gradients of each arm."""
    for i in range(plays.shape[0]):
        plays[i, BEFORE] = state.losses[i]
    state.round[0] += 1


@compiled
def withdraw(state: AdaptiveRevisionState, play: Floats, arm: int) -> None:
    """Do nothing: what never arrives revises nothing."""


@compiled
def observe(
    state: AdaptiveRevisionState, play: Floats, arm: int, loss: float, missing: int
) -> None:
    """Take the step -e g, and revise by (e' - e) h, with e' the step size before g and e after."""
    since = state.losses[arm] - play[BEFORE]
    before = state.rate[0] / math.sqrt(state.largest[arm])
    state.squares[arm] += loss * loss + 2.0 * loss * since
    state.largest[arm] = max(state.largest[arm], state.squares[arm])
    step = state.rate[0] / math.sqrt(state.largest[arm])
    state.point[arm] += (before - step) * since - step * loss
    state.losses[arm] += loss


@dataclass(frozen=True)
class AdaptiveRevision(Learner):
    """AdaptiveRevision with steps `rate` / sqrt(largest); without delays it is AdaGrad."""

    rate: float = 1.0

    name: ClassVar[str] = "adaptive-revision"
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    deliveries: ClassVar[tuple[Delivery, ...]] = ("in order",)
    guarantee: ClassVar[str] = "none on the simplex: its authors' theorem is unconstrained"
    covers: ClassVar[Covers] = Covers.NOTHING
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = (
        "McMahan and Streeter 2014, update read in others' code; the projection is ours"
    )
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = AdaptiveRevisionState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        rate = as_number(self.rate, "rate")
        if not rate > 0.0:
            raise ValueError(f"rate is {rate!r}; it must be above 0")
        object.__setattr__(self, "rate", rate)

    def start(self) -> AdaptiveRevisionState:
        return AdaptiveRevisionState(
            point=np.full(self.arms, 1.0 / self.arms),
            losses=np.zeros(self.arms),
            squares=np.ones(self.arms),
            largest=np.ones(self.arms),
            rate=np.full(1, self.rate),
            round=np.ones(1, dtype=np.int64),
        )

    def blank(self) -> Prediction:
        info = AdaptiveRevisionInfo(heap=np.zeros(self.arms))
        return Prediction.blank(self.arms, eta=self.arms, info=info)
