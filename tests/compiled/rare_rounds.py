"""A learner with rare rounds, which plays itself: `python -m tests.compiled.rare_rounds`.

It plays uniformly in every fortieth round, and exponential weights in all others. What it computes
is printed as JSON, with what its steps are.
"""

import hashlib
import json
import sys
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

import belated
from belated.arrays import Counts, Floats
from belated.asktell.runners import runner_for
from belated.compiled.ask_tell import UNCHECKED, Runner
from belated.compiled.background import queue
from belated.compiled.dispatch import NOT_TOLD
from belated.compiled.kernels import compiled
from belated.compiled.lean import LeftOut
from belated.compiled.lean_steps import LeanStep
from belated.compiled.records import arrays_in
from belated.learners.contract import Learner, Prediction, Verbs
from belated.learners.states import ArmFloats
from belated.numerics.exponential_weights import weigh_exponentially
from belated.numerics.random_stream import seeded
from belated.play.engine import EngineRun
from belated.play.game import Game
from belated.types import Setting

EVERY, AT = 40, 39


class UniformRounds(NamedTuple):
    """How many rounds were played uniformly."""

    rounds: Counts


class RareRoundsState(NamedTuple):
    """The losses by arm, the number of the round, and the rare rounds."""

    losses: ArmFloats
    round: Counts
    uniform: UniformRounds


class RareRoundsInfo(NamedTuple):
    """How many rare rounds there were before."""

    uniform: UniformRounds


@compiled
def predict(state: Any, prediction: Any) -> None:
    """Compute the weights of a usual or of a rare round."""
    if state.round[0] % EVERY == AT:
        predict_uniformly(state.uniform, prediction)
    else:
        weigh_exponentially(state.losses, 0.1, prediction.q)


@compiled
def predict_uniformly(uniform: Any, prediction: Any) -> None:
    """Fill in equal weights."""
    if uniform is None:
        raise LeftOut
    prediction.info.uniform.rounds[0] = uniform.rounds[0]
    prediction.q[:] = 1.0 / prediction.q.shape[0]


@compiled
def commit(state: Any, prediction: Any, arm: int, plays: Floats) -> None:
    """Freeze the probability, and count rare rounds."""
    if state.round[0] % EVERY == AT:
        count(state.uniform)
    plays[0, 0] = prediction.q[arm]
    state.round[0] += 1


@compiled
def count(uniform: Any) -> None:
    """Count a rare round."""
    if uniform is None:
        raise LeftOut
    uniform.rounds[0] += 1


@compiled
def withdraw(state: Any, play: Floats, arm: int) -> None:
    """Nothing is counted while a loss is outstanding."""


@compiled
def observe(state: Any, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add the loss, divided by its probability."""
    state.losses[arm] += loss / play[0]


@dataclass(frozen=True)
class RareRounds(Learner):
    """Exponential weights, and uniform play in every fortieth round."""

    name: ClassVar[str] = "rare-rounds"
    setting: ClassVar[Setting] = Setting.CONCEALED
    guarantee: ClassVar[str] = "none"
    source: ClassVar[str] = "a test"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = RareRoundsState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)
    seldom: ClassVar[tuple[str, ...]] = ("uniform",)

    def start(self) -> RareRoundsState:
        uniform = UniformRounds(np.zeros(1, dtype=np.int64))
        return RareRoundsState(np.zeros(self.arms), np.ones(1, dtype=np.int64), uniform)

    def blank(self) -> Prediction:
        uniform = UniformRounds(np.zeros(1, dtype=np.int64))
        return Prediction.blank(self.arms, info=RareRoundsInfo(uniform))


def asked(rounds: int, waits: tuple[int, ...]) -> list[Any]:
    """Ask and tell; before some of the rounds, wait for the compiler.

    Returns what the step was at the start, then and in the end, the decisions, and the last state.
    """
    learner = RareRounds(5)
    runner = runner_for(learner, learner.start(), seeded(3))
    steps, seen, waiting = [how(runner)], list[Any](), list[Any]()
    for t in range(rounds):
        if t in waits:
            assert queue.wait(300), "the compiler is not done"
            assert not queue.interpreted()
            steps.append(how(runner))
        drawn = runner.ask(runner.address, UNCHECKED)
        seen.append(drawn)
        waiting.append(drawn)
        if t % 3 == 2:
            runner.tell(runner.address, waiting.pop(0), (t * 7 % 10) / 10, NOT_TOLD, UNCHECKED)
    return [[*steps, how(runner)], seen, bits(arrays_in(runner.workspace.state))]


def bits(arrays: list[Any]) -> str:
    """Return a digest of all bits of some arrays."""
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


def how(runner: Runner) -> str:
    """Return what the step is now that asks the learner."""
    ask = runner.ask
    step = getattr(ask, "__self__", None)
    if isinstance(step, LeanStep):
        return "interpreted" if step.compiled is step.plain else "lean"
    return "interpreted" if type(ask).__name__ == "function" else "whole"


def played() -> list[Any]:
    """Play a game in the engine; returns what its loop was and is, and all that was computed."""
    environment = belated.scenario("contexts", rounds=2000)  # whose advice the learner ignores
    game = Game(environment, np.random.SeedSequence(3))
    run = EngineRun(RareRounds(environment.arms), game, np.random.SeedSequence(4))
    loops = [run.is_lean]
    for stretch in game.stretches():
        run.play(stretch)
    return [[*loops, run.is_lean], bits(arrays_in((run.run.state, run.run.tally)))]


if __name__ == "__main__":
    mode, *rounds = sys.argv[1:]
    result = played() if mode == "play" else asked(130, tuple(map(int, rounds)))
    print(json.dumps(result))
