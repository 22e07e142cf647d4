"""What learners over a class of policies share, which balance how well each policy is known.

They play weights over the policies with a floor under every arm. Weights and floor stand for an
epoch, which ends when twice as many rewards have been told as when it began. History is what was
reported by then: a play that is silent says nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import as_chance, as_count
from belated.compiled.kernels import compiled
from belated.learners.advice.advice_history import (
    AdviceHistory,
    kind_of,
    learn,
    nothing_played,
    with_room,
)
from belated.learners.advice.low_variance import DescentWork, no_work
from belated.learners.advice.policies import Advised, mix
from belated.learners.contract import Prediction
from belated.types import Setting

KIND, PROBABILITY = range(2)  # the columns of a play


class Epoch(NamedTuple):
    """What stands for an epoch: weights of the policies, which are left, and the floor mu.

    It ends when due[0] rewards have been told.
    """

    weights: Floats
    left: Floats
    floor: Floats
    due: Counts


class ClassState(Protocol):
    """What every state of such a learner has; doubt has ln(N/delta)."""

    @property
    def advice(self) -> Floats: ...

    @property
    def history(self) -> AdviceHistory: ...

    @property
    def epoch(self) -> Epoch: ...

    @property
    def doubt(self) -> Floats: ...

    @property
    def round(self) -> Counts: ...


class ClassInfo(NamedTuple):
    """The weights of the policies, and all else of the round's epoch.

    regrets are those that were estimated for a new epoch; the rest is working space.
    """

    weights: Floats
    left: Floats
    floor: Floats
    due: Counts
    regrets: Floats
    allowances: Floats
    work: DescentWork


@compiled
def copy_epoch(source: Any, target: Any) -> None:
    """Copy what stands for an epoch."""
    target.floor[0], target.due[0] = source.floor[0], source.due[0]
    for n in range(source.weights.shape[0]):
        target.weights[n], target.left[n] = source.weights[n], source.left[n]


@compiled
def is_over(state: ClassState) -> bool:
    """Whether enough rewards were told for a new epoch to begin."""
    return bool(state.history.told[0] >= state.epoch.due[0])


@compiled
def play_smoothed(state: ClassState, prediction: Prediction) -> None:
    """Fill in q(a) = (1 - K mu) sum_n Q(n) xi(n, a) + mu."""
    q, floor = prediction.q, prediction.info.floor[0]
    mix(prediction.info.weights, state.advice, q)
    for i in range(q.shape[0]):
        q[i] = (1.0 - q.shape[0] * floor) * q[i] + floor


@compiled
def commit(state: ClassState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze the advice and the probability of the play; a new epoch begins if one is due."""
    copy_epoch(prediction.info, state.epoch)
    plays[0, KIND] = kind_of(state.history, state.advice)
    plays[0, PROBABILITY] = prediction.q[arm]
    state.round[0] += 1


@compiled
def withdraw(state: ClassState, play: Floats, arm: int) -> None:
    """Do nothing: only what was reported counts."""


@compiled
def observe(state: ClassState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add the reward 1 - l with the advice and the probability of its play."""
    learn(state.history, int(play[KIND]), arm, play[PROBABILITY], 1.0 - loss)


@dataclass(frozen=True)
class OverClass(Advised):
    """A learner over a class of policies; `delta` is how probable it is that a bound fails."""

    delta: float = 0.05

    setting: ClassVar[Setting] = Setting.CONCEALED
    play_width: ClassVar[int] = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "delta", as_chance(self.delta, "delta"))

    def start(self) -> Any:
        """Return the state before the first round: all policies equally, and half of it even.

        The floor is 1/(2K), and the first epoch ends with the first reward that is told.
        """
        size = self.size
        epoch = Epoch(
            weights=np.full(size, 1.0 / size),
            left=np.ones(size),
            floor=np.full(1, 0.5 / self.arms),
            due=np.ones(1, dtype=np.int64),
        )
        return self.state(
            advice=self.first_advice(),
            history=nothing_played(size, self.arms),
            epoch=epoch,
            doubt=np.full(1, np.log(size / self.delta)),
            round=np.ones(1, dtype=np.int64),
        )

    def reserved(self, state: Any, rounds: int) -> Any:
        history = with_room(state.history, rounds)
        return state if history is state.history else state._replace(history=history)

    def check_saved(self, state: Any, plays: Iterable[Sequence[float]]) -> None:
        history: AdviceHistory = state.history
        used = as_count(history.used[0], "the kinds of advice", 0, len(history.counts))
        for play in plays:
            as_count(play[KIND], "the advice of a play", 0, used - 1)

    def losses(self, state: Any) -> Floats:
        """Return the estimated losses of the policies, summed over told plays."""
        history: AdviceHistory = state.history
        losses: Floats = history.told[0] - history.rewards.sum(axis=0)
        return losses[:, np.newaxis]

    def blank(self) -> Prediction:
        size = self.size
        info = ClassInfo(
            weights=np.zeros(size),
            left=np.zeros(size),
            floor=np.zeros(1),
            due=np.zeros(1, dtype=np.int64),
            regrets=np.zeros(size),
            allowances=np.zeros(size),
            work=no_work(size, self.arms),
        )
        return Prediction.blank(self.arms, info=info)
