"""One round by hand: what `ask` and `tell` do, each in one compiled call."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Counts, Floats
from belated.compiled.dispatch import VERBS, commit, observe, predict, withdraw
from belated.compiled.jit import compiled_step
from belated.compiled.records import Handle, Step, arrays_in, frozen, in_one_block, opened, types
from belated.numerics.random_stream import draw

Drawn = tuple[int, float, tuple[float, ...]]  # arm, probability, and what was in force

NO_ARM = -1  # experts have no arm that is played
USUAL, REGARDLESS, LOOK = 0, 1, 2  # how to ask: heed the promise, do not, or only predict
NOTHING = -1  # in place of an arm: no round was played


NONE = np.zeros(0, dtype=np.int64)


class Table(NamedTuple):
    """What a learner in the hand works with.

    `over` counts the arms with more outstanding plays than max_missing, so that no step has to
    look at all arms (it is empty where no max_missing is promised). `touched` is for learners that
    treat arms without a loss as one group: how many arms have one, and which. Prediction, plays and
    room are to work in; a learner that must know delays at once finds those of the coming round, by
    arm, in the room.
    """

    state: Any
    prediction: Any
    stream: NDArray[np.uint64]
    plays: Floats
    over: Counts
    touched: Counts
    room: Floats


class Steps(NamedTuple):
    """What asking and telling are to one kind of learner."""

    ask: Step
    tell: Step


@compiled_step
def ask_bandit(handle: Any, how: int) -> Drawn:
    """Predict, draw an arm and commit; no arm if the promise is broken, or only to be looked at."""
    table = opened(handle)
    state, prediction, plays, over = table.state, table.prediction, table.plays, table.over
    nothing = (NOTHING, 0.0, frozen(handle, plays[0]))
    if how == USUAL and over[0] > 0:
        return nothing
    predict(state, prediction)
    if how == LOOK:
        return nothing
    arm = draw(table.stream, prediction.q)
    commit(state, prediction, arm, plays)
    if state.outstanding[arm] == state.max_missing[0] + 1:
        over[0] += 1
    return arm, float(prediction.q[arm]), frozen(handle, plays[0])


@compiled_step
def tell_bandit(handle: Any, drawn: Drawn, loss: float, missing: int, how: int) -> bool:
    """Learn a loss; whether that was done: not if more than max_missing are told to be missing."""
    table = opened(handle)
    state, plays, arm, play = table.state, table.plays, drawn[0], drawn[2]
    if how == USUAL and missing > state.max_missing[0]:
        return False
    for k in range(len(play)):
        plays[0, k] = play[k]
    observe(state, plays[0], arm, loss, missing)
    if state.outstanding[arm] == state.max_missing[0]:
        table.over[0] -= 1
    return True


@compiled_step
def ask_experts(handle: Any, how: int) -> None:
    """Predict and commit; the table then holds the weights, and what is in force."""
    table = opened(handle)
    predict(table.state, table.prediction)
    if how != LOOK:
        commit(table.state, table.prediction, NO_ARM, table.plays)


@compiled_step
def tell_experts(handle: Any, arms: Counts, plays: Floats, losses: Floats) -> None:
    """Learn the losses of some experts; plays has a row for every expert."""
    state = opened(handle).state
    for k in range(arms.shape[0]):
        observe(state, plays[arms[k]], arms[k], losses[k], -1)


@compiled_step
def ask_any_bandit(handle: Any, how: int) -> Drawn:
    """As `ask_bandit` for learners without a promise; the delay of the arm is told if known."""
    table = opened(handle)
    state, prediction, plays, room = table.state, table.prediction, table.plays, table.room
    predict(state, prediction)
    if how == LOOK:
        return NOTHING, 0.0, frozen(handle, plays[0])
    arm = draw(table.stream, prediction.q)
    if room.shape[0] > 0:
        plays[0, 0] = room[0, arm]
    commit(state, prediction, arm, plays)
    return arm, float(prediction.q[arm]), frozen(handle, plays[0])


@compiled_step
def tell_any_bandit(handle: Any, drawn: Drawn, loss: float, missing: int, how: int) -> bool:
    """Learn a loss; NaN withdraws the play."""
    table = opened(handle)
    plays, arm, play = table.plays, drawn[0], drawn[2]
    for k in range(len(play)):
        plays[0, k] = play[k]
    if np.isnan(loss):
        withdraw(table.state, plays[0], arm)
    else:
        observe(table.state, plays[0], arm, loss, missing)
    return True


@compiled_step
def tell_any_experts(handle: Any, arms: Counts, plays: Floats, losses: Floats) -> None:
    """As `tell_experts`; NaN withdraws the play of an expert."""
    state = opened(handle).state
    for k in range(arms.shape[0]):
        if np.isnan(losses[k]):
            withdraw(state, plays[arms[k]], arms[k])
        else:
            observe(state, plays[arms[k]], arms[k], losses[k], -1)


BANDIT, EXPERTS = "bandit", "experts"
ANY_BANDIT, ANY_EXPERTS = "any bandit", "any experts"
STEPS = {
    BANDIT: Steps(ask_bandit, tell_bandit),
    EXPERTS: Steps(ask_experts, tell_experts),
    ANY_BANDIT: Steps(ask_any_bandit, tell_any_bandit),
    ANY_EXPERTS: Steps(ask_experts, tell_any_experts),
}
WITHOUT_PROMISE = (EXPERTS, ANY_BANDIT, ANY_EXPERTS)


class Hand:
    """A learner's state and the room its steps work in, with these steps, ready to be called.

    All that lasts from one step to the next lies in one block of memory, so that a situation can
    be taken over at once. A hand moves the arrays it is given there.
    """

    __slots__ = ("_block", "_handle", "_shapes", "address", "ask", "steps", "table", "tell")

    def __init__(self, table: Table, steps: str) -> None:
        lasting = (table.state, table.stream, table.over, table.touched)
        self._block, (state, stream, over, touched) = in_one_block(lasting)
        table = table._replace(state=state, stream=stream, over=over, touched=touched)
        self.table, self.steps = table, steps
        self._shapes = [array.shape for array in arrays_in(table)]
        self._handle = handle = Handle(table, table.plays.shape[1])
        self.address = handle.address
        how, play = types.int64, types.UniTuple(types.float64, handle.row_width)
        told: tuple[Any, ...] = (
            types.Tuple((types.int64, types.float64, play)),
            types.float64,
            types.int64,
            how,
        )
        if steps in (EXPERTS, ANY_EXPERTS):
            told = (types.int64[::1], types.float64[:, ::1], types.float64[::1])
        ours = all(verb.__module__.startswith("belated.") for verb in VERBS[type(state)])
        self.ask = handle.entry(STEPS[steps].ask, how, keep=ours)
        self.tell = handle.entry(STEPS[steps].tell, *told, keep=ours)

    def __reduce__(self) -> Any:
        return type(self), (self.table, self.steps)

    def copied(self) -> "Hand":
        """The same situation in another place."""
        _, prediction = in_one_block(self.table.prediction)
        plays, room = self.table.plays.copy(), self.table.room.copy()
        table = self.table._replace(prediction=prediction, plays=plays, room=room)
        return Hand(table, self.steps)

    def is_like(self, other: "Hand") -> bool:
        """Whether one can become the other: the same steps over the same shapes."""
        return self.steps == other.steps and self._shapes == other._shapes

    def become(self, other: "Hand") -> None:
        """Take over the situation of another hand of the same shapes."""
        np.copyto(self._block, other._block)

    def most_outstanding(self) -> int:
        """The most outstanding plays of one arm, or 0 if no arm has more than max_missing."""
        table = self.table
        return int(table.state.outstanding.max()) if table.over[0] > 0 else 0

    def promise(self, max_missing: int) -> None:
        """Set max_missing, and count the arms that have more outstanding plays."""
        state = self.table.state
        state.max_missing[0] = max_missing
        self.table.over[0] = np.count_nonzero(state.outstanding > max_missing)


def hand_of(
    learner: Any,
    state: Any,
    stream: NDArray[np.uint64],
    steps: str,
    touched: Counts = NONE,
    rows: int = 0,
) -> Hand:
    """A learner in the hand, from a state on; with so many rows of room to work in.

    They are as long as the touched arms, or as all arms where there is no group.
    """
    experts = steps in (EXPERTS, ANY_EXPERTS)
    plays = np.zeros((learner.arms if experts else 1, learner.play_width))
    over = np.zeros(0 if steps in WITHOUT_PROMISE else 1, dtype=np.int64)
    width = touched.size + 1 if touched.size > 0 else learner.arms
    room = np.zeros((rows, width if rows else 0))
    hand = Hand(Table(state, learner.blank().brief(), stream, plays, over, touched, room), steps)
    if over.size > 0:
        hand.promise(int(state.max_missing[0]))
    return hand
