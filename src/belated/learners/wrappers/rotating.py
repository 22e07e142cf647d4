"""Copies that take turns (Weinberger and Ordentlich 2002; for bandits Neu et al. 2010).

If every loss arrives within d rounds, d + 1 copies of a base can play in rotation: each has
observed the losses of its previous round before its turn comes again. The learner must know d, and
its regret always depends on the longest delay.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import as_count
from belated.compiled.dispatch import commit as commit_copy
from belated.compiled.dispatch import observe as observe_copy
from belated.compiled.dispatch import predict as predict_copy
from belated.compiled.dispatch import withdraw as withdraw_copy
from belated.compiled.kernels import compiled
from belated.compiled.stacking import copy_of
from belated.learners.adversarial.exp3 import Exp3
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.learners.experts.anytime_hedge import AnytimeHedge
from belated.learners.tsallis.tsallis_inf import TsallisInf
from belated.learners.wrappers.copies import Copied, over
from belated.types import Covers, Delivery, Need, Origin


class RotatingState(NamedTuple):
    """State: the stacked states of the copies, and turns, which is d + 1, the number of copies."""

    stack: Any
    turns: Counts
    round: Counts


@compiled
def turn(state: RotatingState) -> int:
    """Return the number of the copy whose turn it is in round t: t - 1 modulo d + 1."""
    return int((state.round[0] - 1) % state.turns[0])


@compiled
def predict(state: RotatingState, prediction: Prediction) -> None:
    """Fill in the prediction of the copy whose turn it is."""
    predict_copy(copy_of(state.stack, turn(state)), prediction)


@compiled
def commit(state: RotatingState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Play the round with the copy whose turn it is, and freeze the number of the copy."""
    copy = turn(state)
    commit_copy(copy_of(state.stack, copy), prediction, arm, plays)
    for row in range(plays.shape[0]):
        plays[row, plays.shape[1] - 1] = copy
    state.round[0] += 1


@compiled
def withdraw(state: RotatingState, play: Floats, arm: int) -> None:
    """Withdraw the loss from the copy that played, because it will never arrive."""
    withdraw_copy(copy_of(state.stack, int(play[play.shape[0] - 1])), play, arm)


@compiled
def observe(state: RotatingState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Pass the loss to the copy that played."""
    observe_copy(copy_of(state.stack, int(play[play.shape[0] - 1])), play, arm, loss, missing)


@dataclass(frozen=True)
class Rotating(Copied):
    """Copies of a base learner that play in rotation, d + 1 copies if the longest delay is d."""

    max_delay: int = 0

    needs: ClassVar[tuple[Need, ...]] = (Need.MAX_DELAY,)
    guarantee: ClassVar[str] = (
        "(d + 1) f(T / (d + 1)), in expectation, if every loss comes within d rounds and the base "
        "has the bound f without delays"
    )
    covers: ClassVar[Covers] = (
        Covers.ANY
    )  # each copy observes its loss in time, whichever arm it played
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = "Weinberger and Ordentlich 2002 as quoted by Joulani et al. 2013"
    state: ClassVar[type] = RotatingState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        self._check_count("max_delay", 0)
        super().__post_init__()

    @classmethod
    def deliveries_over(cls, base: type[Learner]) -> tuple[Delivery, ...]:
        """Return those of the base: if losses are too late, a copy may have two rounds open."""
        return base.deliveries

    def options_for_one(self) -> dict[str, Any]:
        """Return the options of one copy, whose horizon is a share 1/(d + 1) of the rounds."""
        options = super().options_for_one()
        if "horizon" in options:
            horizon = as_count(options["horizon"], "horizon", 1)
            options["horizon"] = -(-horizon // (self.max_delay + 1))
        return options

    def copies_after(self, state: RotatingState, rounds: int) -> int:
        """Return the number of copies that have had a turn after `rounds` more rounds."""
        return int(min(self.max_delay + 1, state.round[0] - 1 + rounds))

    def with_stack(self, state: RotatingState | None, stack: Any) -> RotatingState:
        if state is not None:
            return state._replace(stack=stack)
        turns = np.full(1, self.max_delay + 1, dtype=np.int64)
        first: RotatingState = self.state(stack, turns, np.ones(1, dtype=np.int64))
        return first

    def copies_in(self, facts: Facts) -> int | None:
        """Return d + 1, or None if a loss takes longer than d rounds."""
        return self.max_delay + 1 if facts.longest_wait <= self.max_delay else None


def rotating(name: str, base: type[Learner], module: str) -> type[Rotating]:
    """Return the learner class of copies of a base learner in rotation."""
    return over(Rotating, name, base, module)


CopiesHedge = rotating("copies-hedge", AnytimeHedge, __name__)
CopiesExp3 = rotating("copies-exp3", Exp3, __name__)
CopiesTsallis = rotating("copies-tsallis", TsallisInf, __name__)
