"""BOLD, black-box online learning under delays (Joulani, Gyorgy and Szepesvari 2013, Algorithm 1).

A round is played by the first copy of the base that waits for no loss, or by a new copy if all are
waiting. The number of copies is one more than the largest number of rounds that were open at once.
Nothing need be known beforehand.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.dispatch import commit as commit_copy
from belated.compiled.dispatch import observe as observe_copy
from belated.compiled.dispatch import predict as predict_copy
from belated.compiled.dispatch import withdraw as withdraw_copy
from belated.compiled.kernels import compiled
from belated.compiled.stacking import copy_of
from belated.learners.adversarial.exp3 import Exp3
from belated.learners.contract import Facts, Learner, Prediction, Verbs
from belated.learners.experts.anytime_hedge import AnytimeHedge
from belated.learners.experts.msmwc import Msmwc
from belated.learners.tsallis.tsallis_inf import TsallisInf
from belated.learners.wrappers.copies import Copied, copies_in_stack, over
from belated.learners.wrappers.heap import pop, push
from belated.types import DELIVERIES, Covers, Delivery, Origin


class BoldState(NamedTuple):
    """State of BOLD: the stacked states of the copies, and which of the copies are free.

    awaited counts the losses that each copy waits for, free is a heap of the copies that have
    played and wait for no loss, and copies is the number of copies that have played.
    """

    stack: Any
    awaited: Counts
    free: Counts
    copies: Counts
    round: Counts


@compiled
def predict(state: BoldState, prediction: Prediction) -> None:
    """Fill in the prediction of the free copy of the lowest number, or of a new copy."""
    copy = state.free[1] if state.free[0] > 0 else state.copies[0]
    predict_copy(copy_of(state.stack, copy), prediction)


@compiled
def commit(state: BoldState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Play with that copy, which is busy until all losses of the round arrive or are withdrawn."""
    if state.free[0] > 0:
        copy = pop(state.free)
    else:
        copy = state.copies[0]
        state.copies[0] += 1
    commit_copy(copy_of(state.stack, copy), prediction, arm, plays)
    state.awaited[copy] = plays.shape[0]
    for row in range(plays.shape[0]):
        plays[row, plays.shape[1] - 1] = copy
    state.round[0] += 1


@compiled
def withdraw(state: BoldState, play: Floats, arm: int) -> None:
    """Withdraw the loss from the copy that played, which then waits for one loss fewer."""
    copy = int(play[play.shape[0] - 1])
    withdraw_copy(copy_of(state.stack, copy), play, arm)
    expect_less(state, copy)


@compiled
def observe(state: BoldState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Pass the loss to the copy that played, which then waits for one loss fewer."""
    copy = int(play[play.shape[0] - 1])
    observe_copy(copy_of(state.stack, copy), play, arm, loss, missing)
    expect_less(state, copy)


@compiled
def expect_less(state: BoldState, copy: int) -> None:
    """Let a copy wait for one loss fewer; after its last loss the copy is free."""
    state.awaited[copy] -= 1
    if state.awaited[copy] == 0:
        push(state.free, copy)


@dataclass(frozen=True)
class Bold(Copied):
    """BOLD: copies of a base learner, one more than the largest number of rounds open at once."""

    guarantee: ClassVar[str] = (
        "(G + 1) f(T / (G + 1)), in expectation, with at most G rounds open at once and the base's "
        "bound f without delays; not if what is played decides when its loss comes"
    )
    covers: ClassVar[Covers] = Covers.SHARED
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = "Joulani et al. 2013, read"
    state: ClassVar[type] = BoldState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    @classmethod
    def deliveries_over(cls, base: type[Learner]) -> tuple[Delivery, ...]:
        """Return all ways of delivery: a copy gets the losses of a round before it plays again."""
        return DELIVERIES

    def copies_after(self, state: BoldState, rounds: int) -> int:
        """Return the copies needed if no loss arrives, so that every round needs its own copy."""
        return int(state.copies[0] + max(0, rounds - state.free[0]))

    def with_stack(self, state: BoldState | None, stack: Any) -> BoldState:
        room = copies_in_stack(stack)
        awaited, free = np.zeros(room, dtype=np.int64), np.zeros(1 + room, dtype=np.int64)
        if state is None:
            copies, now = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
            first: BoldState = self.state(stack, awaited, free, copies, now)
            return first
        awaited[: state.awaited.size] = state.awaited
        free[: state.free.size] = state.free
        return state._replace(stack=stack, awaited=awaited, free=free)

    def copies_in(self, facts: Facts) -> int:
        """Return one more than the largest missing count.

        This holds if the losses of all arms arrive together or have one delay; otherwise the
        theorem does not apply.
        """
        return facts.most_missing + 1


def bold(name: str, base: type[Learner], module: str) -> type[Bold]:
    """Return the learner class of BOLD over a base learner."""
    return over(Bold, name, base, module)


BoldHedge = bold("bold-hedge", AnytimeHedge, __name__)
BoldMsmwc = bold("bold-msmwc", Msmwc, __name__)
BoldExp3 = bold("bold-exp3", Exp3, __name__)
BoldTsallis = bold("bold-tsallis", TsallisInf, __name__)
