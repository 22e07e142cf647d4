"""`check_learner` says which law a learner breaks, and passes one that breaks none."""

import subprocess
import sys
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

from belated.arrays import Floats
from belated.learners.adversarial.exp3 import Exp3, Exp3State
from belated.learners.contract import Learner, Prediction, Verbs
from belated.testing import LearnerFaultError, check_learner
from belated.testing.check import forget_mode
from belated.types import Setting


class GoodState(NamedTuple):
    """The sum of the losses of each arm that arrived."""

    losses: Floats
    round: Any


def predict(state: GoodState, prediction: Prediction) -> None:
    """Weights in proportion to exp(-losses)."""
    weights = np.exp(-state.losses)
    prediction.q[:] = weights / weights.sum()


def commit(state: GoodState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Count the round."""
    plays[0, 0] = prediction.q[arm]
    state.round[0] += 1


def withdraw(state: GoodState, play: Floats, arm: int) -> None:
    """Nothing was counted."""


def observe(state: GoodState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add the loss."""
    state.losses[arm] += loss


def made(**exchanged: Any) -> type[Learner]:
    """A learner with some verbs exchanged for faulty ones, and a kind of state of its own."""

    class MineState(NamedTuple):
        """A kind of state of its own."""

        losses: Floats
        round: Any

    good = {"predict": predict, "commit": commit, "withdraw": withdraw, "observe": observe}

    @dataclass(frozen=True)
    class Mine(Learner):
        """A learner for one test."""

        name: ClassVar[str] = "mine-for-a-test"
        setting: ClassVar[Setting] = Setting.CONCEALED
        guarantee: ClassVar[str] = "none"
        source: ClassVar[str] = "a test"
        play_width: ClassVar[int] = 1
        state: ClassVar[type] = MineState
        verbs: ClassVar[Verbs] = Verbs(**{**good, **exchanged})

        def start(self) -> Any:
            return MineState(np.zeros(self.arms), np.ones(1, dtype=np.int64))

        def blank(self) -> Prediction:
            return Prediction.blank(self.arms)

    return Mine


def check(kind: type[Any]) -> str:
    """What `check_learner` says of a learner that breaks a law."""
    with pytest.raises(LearnerFaultError) as fault:
        check_learner(kind, examples=4, compiled=False)
    return str(fault.value)


def test_a_good_learner_passes() -> None:
    """Written in numpy, it need not be compiled to be checked."""
    check_learner(made(), examples=2, compiled=False)


def with_wrong_weights(state: Any, prediction: Any) -> None:
    prediction.q[:] = 0.1


def that_writes(state: Any, prediction: Any) -> None:
    predict(state, prediction)
    state.losses[0] += 0.01


def with_a_favourite(state: Any, prediction: Any) -> None:
    prediction.q[:] = 0.0
    prediction.q[int(np.argmin(state.losses))] = 1.0


def that_draws(state: Any, prediction: Any) -> None:
    prediction.q[:] = np.random.default_rng().dirichlet(np.ones(prediction.q.size))


def that_forgets_the_order(state: Any, play: Any, arm: int, loss: float, missing: int) -> None:
    state.losses[:] *= 0.5
    state.losses[arm] += loss


def that_fails(state: Any, play: Any, arm: int, loss: float, missing: int) -> None:
    raise KeyError("lost")


FAULTS = {
    "at least 0, and their sum is 1. But it raises ValueError: Mine gives weights in round 1": {
        "predict": with_wrong_weights
    },
    "`predict` only reads": {"predict": that_writes},
    "The arms have no order": {"predict": with_a_favourite},
    "learners draw no random numbers": {"predict": that_draws},
    "The order in which losses arrive": {"observe": that_forgets_the_order},
    "it raises KeyError: 'lost'": {"observe": that_fails},
}


@pytest.mark.parametrize("sentence", FAULTS)
def test_each_fault_is_said(sentence: str) -> None:
    """With the law, what happened, and a small game that shows it."""
    said = check(made(**FAULTS[sentence]))
    assert said.startswith("Mine breaks ")
    assert sentence in said
    assert "Seen with options arms=" in said
    assert "Traceback" not in said


class Plain:
    """The least that a learner must have; it plays evenly, or too little."""

    setting = Setting.CONCEALED
    share = 1.0

    def __init__(self, arms: int) -> None:
        self.arms = arms

    def start(self) -> list[float]:
        return []

    def predict(self, state: list[float]) -> Any:
        return Prediction.blank(self.arms)._replace(q=np.full(self.arms, self.share / self.arms))

    def commit(self, state: list[float], prediction: Any, arm: int) -> list[None]:
        return [None]

    def observe(self, state: Any, play: Any, arm: int, loss: float, missing: int) -> None:
        state.append(loss)


class TooLittle(Plain):
    """Its weights sum to 0.3."""

    share = 0.3


class NoLearner(Plain):
    """It lacks a method."""

    observe = None  # type: ignore[assignment]


def test_a_plain_class_is_checked_too() -> None:
    """On the laws of playing games."""
    check_learner(Plain, examples=3)
    assert "TooLittle gives weights in round 1 whose sum is 0.3" in check(TooLittle)
    assert "NoLearner has no method 'observe'" in check(NoLearner)
    assert "check_learner takes the class" in check(Plain(2))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Impostor(Exp3):
    """A learner with the name of another."""

    state: ClassVar[type] = Exp3State


def test_a_name_of_another_learner_is_refused() -> None:
    """Through it ask and tell would check the other one."""
    assert "Impostor has the name 'exp3', which is that of another learner" in check(Impostor)


def test_without_hypothesis_a_sentence_says_what_to_install() -> None:
    """No traceback into the depths of the package."""
    code = (
        "import importlib.util as util; find = util.find_spec; "
        "util.find_spec = lambda name, *a: None if name == 'hypothesis' else find(name, *a)\n"
        "from belated.testing import check_learner"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    said = "check_learner needs hypothesis: pip install 'belated[testing]'"
    assert said in run.stderr.splitlines()[-1]


@pytest.mark.check
def test_a_learner_is_compiled_if_numba_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions that are not marked as kernels cannot be, and that is said."""
    monkeypatch.setenv("BELATED_COMPILE", "background")
    forget_mode()
    try:
        with pytest.raises(LearnerFaultError, match=r"Compiled, it computes .* But it raises"):
            check_learner(made(), examples=2)
    finally:
        monkeypatch.undo()
        forget_mode()
