"""A learner that writes down what it is told, and when."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Learner, Prediction, Verbs
from belated.types import Setting

ROOM = 2**14


class ToldState(NamedTuple):
    """Rows of `told` say in which round the loss of which round and arm was told, and the loss."""

    told: Floats
    count: Counts
    round: Counts


@compiled
def predict(state: ToldState, prediction: Prediction) -> None:
    """Every arm alike."""
    for i in range(prediction.q.shape[0]):
        prediction.q[i] = 1.0 / prediction.q.shape[0]


@compiled
def commit(state: ToldState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze the round."""
    for row in range(plays.shape[0]):
        plays[row, 0] = state.round[0]
    state.round[0] += 1


@compiled
def withdraw(state: ToldState, play: Floats, arm: int) -> None:
    """Nothing is waited for."""


@compiled
def observe(state: ToldState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Write it down; the round is the one that was just played."""
    row = state.told[state.count[0]]
    row[0], row[1], row[2], row[3] = state.round[0] - 1, play[0], arm, loss
    state.count[0] += 1


@dataclass(frozen=True)
class Listener(Learner):
    """An expert's ear: told the losses of all arms. It has no name and is not registered."""

    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = ToldState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> ToldState:
        count = np.zeros(1, dtype=np.int64)
        return ToldState(np.zeros((ROOM, 4)), count, np.zeros(1, dtype=np.int64))

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms)


@dataclass(frozen=True)
class BanditListener(Listener):
    """Told the loss of the arm it played."""

    setting: ClassVar[Setting] = Setting.CONCEALED


Log = list[tuple[int, int, int, float]]


def log_of(state: ToldState) -> Log:
    """What was told, in the order in which it was."""
    return [
        (int(now), int(then), int(arm), loss)
        for now, then, arm, loss in state.told[: state.count[0]].tolist()
    ]
