"""The steps behind `ask` and `tell`, and the runner that calls them.

A step takes the address of a `Workspace` (see `compiled.records`), so that each `ask` and each
`tell` is a single compiled call. A `Runner` owns the memory of a workspace and holds the two steps
of its learner. They run as plain Python until they are compiled, and are exchanged between two
calls: both forms work on the same memory, with the same results to the last bit.
"""

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Counts, Floats
from belated.compiled import lean_steps
from belated.compiled.dispatch import NO_ARM, commit, observe, predict, withdraw
from belated.compiled.entries import Entry
from belated.compiled.lean import lean
from belated.compiled.records import (
    Handle,
    arrays_in,
    frozen,
    in_one_block,
    layout_of,
    opened,
    put_back,
)
from belated.compiled.row_steps import RowStep
from belated.compiled.steps import compiled_step
from belated.numerics.random_stream import draw

Drawn = tuple[Any, ...]  # arm, probability, and then the numbers of the play's frozen row

NOT_PLAYED = -1  # a step returns this instead of an arm if it has played no round

# The modes of a step. CHECKED changes nothing if a round or a report exceeds max_missing, and lets
# the caller decide; UNCHECKED proceeds in spite of it; PREDICT_ONLY computes the weights and plays
# nothing; COMMIT_ONLY plays the round that was predicted last, with the arm that the workspace has
# as `given`. They are plain integers, since compiled code takes those fastest.
CHECKED, UNCHECKED, PREDICT_ONLY, COMMIT_ONLY = 0, 1, 2, 3

NO_COUNTS = np.zeros(0, dtype=np.int64)


class Workspace(NamedTuple):
    """All memory that the steps of one learner use.

    `arms_over` counts the arms with more outstanding plays than max_missing, so that no step has to
    look at all arms; it is empty if no max_missing is promised. `touched` is for learners that
    treat arms without a loss as one group: the number of arms with a loss, then these arms. The
    steps write predictions, plays and intermediate results to `prediction`, `plays` and `scratch`.
    A learner that must know delays beforehand finds those of the coming round, by arm, in the first
    row of `scratch`. `given` is the arm of a round whose arm another program has drawn.
    """

    state: Any
    prediction: Any
    stream: NDArray[np.uint64]
    plays: Floats
    arms_over: Counts
    touched: Counts
    scratch: Floats
    given: Counts


@dataclass(frozen=True)
class Steps:
    """The compiled steps of one kind of learner.

    `name` says where this constant is ("module:NAME"), so that it can be pickled by its name. A
    bandit's `ask` draws an arm and its `tell` takes one loss; experts are told losses by arm. If
    `is_bounded`, the steps watch max_missing and keep `arms_over`. Unless `passes_rows`, the code
    is the same for rows of plays of any width (see `belated.compiled.row_steps`).
    """

    name: str
    ask: Callable[..., Any]
    tell: Callable[..., Any]
    is_bandit: bool = True
    is_bounded: bool = False
    passes_rows: bool = True

    def __reduce__(self) -> Any:
        return pkgutil.resolve_name, (self.name,)


@compiled_step("ask")
def ask_bounded_bandit(handle: Any, mode: int) -> Drawn:
    """Predict, draw an arm and commit, for a bandit with max_missing.

    If the mode is CHECKED and max_missing is exceeded, no arm is played.
    """
    space = opened(handle)
    state, prediction, plays = space.state, space.prediction, space.plays
    arms_over = space.arms_over
    nothing = (NOT_PLAYED, 0.0, *frozen(handle, plays[0]))
    if mode == CHECKED and arms_over[0] > 0:
        return nothing
    if mode != COMMIT_ONLY:
        predict(state, prediction)
    if mode == PREDICT_ONLY:
        return nothing
    arm = int(space.given[0]) if mode == COMMIT_ONLY else draw(space.stream, prediction.q)
    commit(state, prediction, arm, plays)
    if state.outstanding[arm] == state.max_missing[0] + 1:
        arms_over[0] += 1
    return arm, float(prediction.q[arm]), *frozen(handle, plays[0])


@compiled_step("tell")
def tell_bounded_bandit(handle: Any, drawn: Drawn, loss: float, missing: int, mode: int) -> bool:
    """Learn a loss, or withdraw the play if it is NaN; returns whether that was done.

    If the mode is CHECKED and the reported missing count exceeds max_missing, nothing changes.
    """
    space = opened(handle)
    state, plays, arm, play = space.state, space.plays, drawn[0], drawn[2:]
    if mode == CHECKED and missing > state.max_missing[0]:
        return False
    put_back(play, plays[0])
    if np.isnan(loss):
        withdraw(state, plays[0], arm)
    else:
        observe(state, plays[0], arm, loss, missing)
    if state.outstanding[arm] == state.max_missing[0]:
        space.arms_over[0] -= 1
    return True


@compiled_step("ask")
def ask_bandit(handle: Any, mode: int) -> Drawn:
    """Predict, draw an arm and commit, for a bandit without max_missing."""
    space = opened(handle)
    state, prediction, plays, scratch = space.state, space.prediction, space.plays, space.scratch
    if mode != COMMIT_ONLY:
        predict(state, prediction)
    if mode == PREDICT_ONLY:
        return NOT_PLAYED, 0.0, *frozen(handle, plays[0])
    arm = int(space.given[0]) if mode == COMMIT_ONLY else draw(space.stream, prediction.q)
    if scratch.shape[0] > 0 and mode != COMMIT_ONLY:
        plays[0, 0] = scratch[0, arm]
    commit(state, prediction, arm, plays)
    return arm, float(prediction.q[arm]), *frozen(handle, plays[0])


@compiled_step("tell")
def tell_bandit(handle: Any, drawn: Drawn, loss: float, missing: int, mode: int) -> bool:
    """Learn a loss, or withdraw the play if the loss is NaN. This never fails: it returns True."""
    space = opened(handle)
    plays, arm, play = space.plays, drawn[0], drawn[2:]
    put_back(play, plays[0])
    if np.isnan(loss):
        withdraw(space.state, plays[0], arm)
    else:
        observe(space.state, plays[0], arm, loss, missing)
    return True


@compiled_step("ask experts")
def ask_experts(handle: Any, mode: int) -> None:
    """Predict and commit; the workspace then holds the weights and the frozen rows."""
    space = opened(handle)
    if mode != COMMIT_ONLY:
        predict(space.state, space.prediction)
    if mode != PREDICT_ONLY:
        commit(space.state, space.prediction, NO_ARM, space.plays)


@compiled_step("tell experts")
def tell_experts(handle: Any, arms: Counts, plays: Floats, losses: Floats) -> None:
    """Learn the losses of some experts; where a loss is NaN, withdraw the play instead.

    `plays` has a row for every expert.
    """
    state = opened(handle).state
    for k in range(arms.shape[0]):
        if np.isnan(losses[k]):
            withdraw(state, plays[arms[k]], arms[k])
        else:
            observe(state, plays[arms[k]], arms[k], losses[k], -1)


BOUNDED_BANDIT = Steps(
    f"{__name__}:BOUNDED_BANDIT", ask_bounded_bandit, tell_bounded_bandit, is_bounded=True
)
BANDIT = Steps(f"{__name__}:BANDIT", ask_bandit, tell_bandit)
ROW_BANDIT = Steps(f"{__name__}:ROW_BANDIT", ask_bandit, tell_bandit, passes_rows=False)
EXPERTS = Steps(
    f"{__name__}:EXPERTS", ask_experts, tell_experts, is_bandit=False, passes_rows=False
)


class Runner:
    """A learner's workspace and its steps, which are called with `address`.

    Everything that lasts from one step to the next (state, random stream, `arms_over`, `touched`)
    lies in one block of memory, so that a runner can copy the contents of another one in a single
    operation. The arrays of the given workspace are moved there, unless they stay `in_place`: then
    the runner cannot be copied.
    """

    __slots__ = (
        "__weakref__", "_block", "_handle", "_shapes", "address", "ask", "steps", "tell",
        "workspace",
    )  # fmt: skip

    def __init__(self, workspace: Workspace, steps: Steps, in_place: bool = False) -> None:
        self._block: Any = None
        if not in_place:
            lasting = (workspace.state, workspace.stream, workspace.arms_over, workspace.touched)
            self._block, (state, stream, arms_over, touched) = in_one_block(lasting)
            workspace = workspace._replace(
                state=state, stream=stream, arms_over=arms_over, touched=touched
            )
        self.workspace, self.steps = workspace, steps
        self._shapes = [array.shape for array in arrays_in(workspace)]
        self._handle = handle = Handle(workspace)
        self.address = handle.address
        if steps.is_bounded:
            self.set_max_missing(int(workspace.state.max_missing[0]))
        self.ask = interpreted_with(workspace, steps.ask)
        self.tell = interpreted_with(workspace, steps.tell)
        lean_space = lean(workspace)
        lean_entries = entries_of(lean_space, steps)
        for name, entry in entries_of(workspace, steps).items():
            owner, attribute = self._owner_of(name)
            lean_steps.exchange(owner, attribute, entry, lean_entries[name], lean_space)

    def _owner_of(self, name: str) -> tuple[Any, str]:
        """Return the object and the attribute that hold a step, which is exchanged there."""
        if self.steps.passes_rows or not self.steps.is_bandit:
            return self, name
        step = RowStep(getattr(self, name), self.workspace.plays)
        setattr(self, name, getattr(step, name))
        return step, "step"

    def __reduce__(self) -> Any:
        return type(self), (self.workspace, self.steps)

    def copied(self) -> "Runner":
        """Return a runner with the same contents in memory of its own."""
        space = self.workspace
        rest = (space.prediction, space.plays, space.scratch, space.given)
        _, (prediction, plays, scratch, given) = in_one_block(rest)
        space = space._replace(prediction=prediction, plays=plays, scratch=scratch, given=given)
        return Runner(space, self.steps)

    def is_like(self, other: "Runner") -> bool:
        """Whether both runners have the same steps and arrays of equal shapes."""
        return self.steps is other.steps and self._shapes == other._shapes

    def take_over(self, other: "Runner") -> None:
        """Copy the contents of another runner, which must be like this one (see `is_like`)."""
        np.copyto(self._block, other._block)

    def most_outstanding(self) -> int:
        """The most outstanding plays of one arm, or 0 if no arm has more than max_missing."""
        space = self.workspace
        return int(space.state.outstanding.max()) if space.arms_over[0] > 0 else 0

    def set_max_missing(self, max_missing: int) -> None:
        """Set max_missing, and count the arms that have more outstanding plays than that."""
        state = self.workspace.state
        state.max_missing[0] = max_missing
        self.workspace.arms_over[0] = np.count_nonzero(state.outstanding > max_missing)


def interpreted_with(workspace: Workspace, step: Callable[..., Any]) -> Callable[..., Any]:
    """Return a step as plain Python that works on a workspace; it ignores the address given."""
    return lambda address, *arguments: step(workspace, *arguments)


def entries_of(workspace: Workspace, steps: Steps) -> dict[str, Entry]:
    """Return the entries that run a workspace compiled, by the name of the step."""
    layout = layout_of(workspace)
    width = workspace.plays.shape[1] if steps.passes_rows else 0
    return {
        "ask": Entry(steps.ask, layout, width),
        "tell": Entry(steps.tell, layout, width),
    }


def make_workspace(
    learner: Any,
    state: Any,
    stream: NDArray[np.uint64],
    steps: Steps,
    touched: Counts = NO_COUNTS,
    scratch_rows: int = 0,
) -> Workspace:
    """Make a workspace that continues from a state, with `scratch_rows` rows of scratch memory.

    A row has an entry for each arm; where arms are grouped, it has an entry for each touched arm
    that there is room for, and one for the group.
    """
    plays = np.zeros((1 if steps.is_bandit else learner.arms, learner.row_width))
    arms_over = np.zeros(1 if steps.is_bounded else 0, dtype=np.int64)
    width = touched.size + 1 if touched.size > 0 else learner.arms
    scratch = np.zeros((scratch_rows, width if scratch_rows else 0))
    prediction = learner.blank().brief()
    given = np.zeros(1, dtype=np.int64)
    return Workspace(state, prediction, stream, plays, arms_over, touched, scratch, given)
