"""Which compiled steps run a learner: the one place that chooses them."""

from typing import Any

from numpy.typing import NDArray

from belated.compiled.ask_tell import Runner, Steps, Workspace, make_workspace
from belated.learners.contract import Learner
from belated.learners.driver import steps_for
from belated.learners.paper.concealed import Concealed
from belated.learners.paper.many_arms import MANY_ARMS, SCRATCH_ROWS, room_for_touched
from belated.types import Need


def runner_for(
    learner: Learner, state: Any, stream: NDArray[Any], group_arms: bool = True
) -> Runner:
    """A runner of the learner from this state on, with the steps that fit it."""
    return Runner(*workspace_for(learner, state, stream, group_arms))


def workspace_for(
    learner: Learner, state: Any, stream: NDArray[Any], group_arms: bool = True
) -> tuple[Workspace, Steps]:
    """The workspace of a learner from this state on, and the steps that fit it.

    - experts: all losses are told, piece by piece
    - a concealed bandit of many arms: arms without a loss form one group, if `group_arms`
    - a bandit that was promised max_missing: the steps watch the promise
    - any other bandit; it finds the delays of the coming round, if it must know them, in a scratch
      row
    """
    if group_arms and isinstance(learner, Concealed):
        touched = room_for_touched(state)
        if touched.size > 0:
            grouped = make_workspace(learner, state, stream, MANY_ARMS, touched, SCRATCH_ROWS)
            return grouped, MANY_ARMS
    rows = 1 if Need.DELAY_AT_DECISION in learner.needs else 0
    steps = steps_for(learner)
    return make_workspace(learner, state, stream, steps, scratch_rows=rows), steps
