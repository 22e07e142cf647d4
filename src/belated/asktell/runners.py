"""Which compiled steps run a learner: the one place that chooses them."""

from typing import Any

from numpy.typing import NDArray

from belated.compiled.ask_tell import BANDIT, BOUNDED_BANDIT, EXPERTS, Runner, make_runner
from belated.learners.contract import Learner
from belated.learners.paper.concealed import Concealed
from belated.learners.paper.many_arms import MANY_ARMS, SCRATCH_ROWS, room_for_touched
from belated.types import Need, Setting


def runner_for(
    learner: Learner, state: Any, stream: NDArray[Any], group_arms: bool = True
) -> Runner:
    """A runner of the learner from this state on, with the steps that fit it.

    - experts: all losses are told, piece by piece
    - a concealed bandit of many arms: arms without a loss form one group, if `group_arms`
    - a bandit that was promised max_missing: the steps watch the promise
    - any other bandit; it finds the delays of the coming round, if it must know them, in a scratch
      row
    """
    if learner.setting is Setting.FULL_INFORMATION:
        return make_runner(learner, state, stream, EXPERTS)
    if group_arms and isinstance(learner, Concealed):
        touched = room_for_touched(state)
        if touched.size > 0:
            return make_runner(learner, state, stream, MANY_ARMS, touched, SCRATCH_ROWS)
    if Need.MAX_MISSING in learner.needs:
        return make_runner(learner, state, stream, BOUNDED_BANDIT)
    knows_delays = Need.DELAY_AT_DECISION in learner.needs
    return make_runner(learner, state, stream, BANDIT, scratch_rows=1 if knows_delays else 0)
