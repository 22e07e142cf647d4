"""Weights that are no distribution are refused, by the compiled loop and by the readable one."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.environments.environment import Environment
from belated.environments.in_memory import GivenDelays, GivenLosses
from belated.learners.contract import Learner, Prediction, Verbs
from belated.play import engine, readable
from belated.play.game import Game
from belated.types import Setting


class GivenState(NamedTuple):
    """The weights to give in every round."""

    weights: Floats
    round: Counts


@compiled
def predict(state: GivenState, prediction: Prediction) -> None:
    """Give the weights."""
    for i in range(prediction.q.shape[0]):
        prediction.q[i] = state.weights[i]


@compiled
def commit(state: GivenState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Count the round."""
    state.round[0] += 1
    for row in range(plays.shape[0]):
        plays[row, 0] = 0.0


@compiled
def withdraw(state: GivenState, play: Floats, arm: int) -> None:
    """Nothing is waited for."""


@compiled
def observe(state: GivenState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Nothing is learned."""


@dataclass(frozen=True)
class Stubborn(Learner):
    """An expert that gives the same weights in every round; without a name, not registered."""

    weights: tuple[float, ...] = (1.0, 0.0, 0.0)
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = GivenState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> GivenState:
        return GivenState(np.array(self.weights), np.ones(1, dtype=np.int64))

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms)


def played(weights: tuple[float, ...], loop) -> None:
    losses, delays = np.full((20, 3), 0.5), np.zeros((20, 3), dtype=np.int64)
    environment = Environment("given", GivenLosses(losses), GivenDelays(delays), 20)
    game = Game(environment, np.random.SeedSequence(1))
    loop.play(Stubborn(3, weights=weights), game, np.random.SeedSequence(2))


@pytest.mark.parametrize("loop", [engine, readable])
@pytest.mark.parametrize(
    ("weights", "found"),
    [((0.1, 0.1, 0.1), "sum is 0.3"), ((1.0, 1.0, -1.0), "least is -1"), ((np.nan,) * 3, "nan")],
)
def test_weights_that_are_no_distribution_are_refused(weights, found, loop):
    with pytest.raises(ValueError, match=found):
        played(weights, loop)
    played((0.2, 0.3, 0.5), loop)
