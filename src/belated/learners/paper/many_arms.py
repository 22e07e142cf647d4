"""The concealed bandit with very many arms: arms without a loss are kept as one group.

An arm of which no loss above zero has arrived has the estimate zero, so that all such arms have one
common weight. The other arms are called touched, and a round takes time in proportion to them.
"""

import math
from typing import Any

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.ask_tell import (
    CHECKED,
    NOT_PLAYED,
    PREDICT_ONLY,
    Drawn,
    Steps,
    tell_bounded_bandit,
)
from belated.compiled.dispatch import predict
from belated.compiled.kernels import compiled
from belated.compiled.records import frozen, opened
from belated.compiled.steps import compiled_step
from belated.learners.contract import Prediction
from belated.learners.paper.concealed import ConcealedState, commit_play, entropy_rate
from belated.numerics.random_stream import uniform
from belated.solvers.concealed import WORK, correct_together
from belated.solvers.concealed_safe import wright_omega

FEWEST_ARMS = 256  # with fewer arms, grouping saves no time
PART = 4  # nor does it if more than one arm in four is touched
LOSSES, DUAL, WEIGHTS, COPIES, FIRST_WORK = range(5)  # rows of the scratch memory
SCRATCH_ROWS = FIRST_WORK + WORK


def room_for_touched(state: ConcealedState) -> Counts:
    """Make an array of the number of touched arms, these arms in order, and room for more.

    It is empty if grouping saves no time.
    """
    arms = np.flatnonzero(state.losses > 0.0)
    most = state.losses.size // PART
    if state.losses.size < FEWEST_ARMS or arms.size > most:
        return np.zeros(0, dtype=np.int64)
    touched = np.zeros(1 + most, dtype=np.int64)
    touched[0] = arms.size
    touched[1 : 1 + arms.size] = arms
    return touched


def is_full(touched: Counts) -> bool:
    """Whether more arms are touched than the array has room for, so that grouping must end."""
    return touched.size > 0 and bool(touched[0] >= touched.size)


@compiled
def touch(touched: Counts, arm: int) -> None:
    """Add an arm to the touched arms, in order; if there is no room, only count it."""
    count = touched[0]
    touched[0] += 1
    if count + 1 < touched.size:
        place = count
        while place > 0 and touched[place] > arm:
            touched[place + 1] = touched[place]
            place -= 1
        touched[place + 1] = arm


@compiled
def draw_grouped(
    target: float, arms: Counts, q: Floats, among: int, common: float
) -> tuple[int, int]:
    """Draw an arm by inversion in the order of all arms.

    Returns the arm and its place among the touched arms, or -1 if it is in the group. Between the
    touched arms lie gaps of arms that all have the common weight.
    """
    after = 0  # the first arm that the search has not passed
    for k in range(arms.shape[0]):
        gap = arms[k] - after
        if target < gap * common:
            return int(after + min(int(target / common), gap - 1)), -1
        target -= gap * common + q[k]
        if target < 0.0:
            return int(arms[k]), k
        after = arms[k] + 1
    if after < among:
        return int(min(after + int(target / common), among - 1)), -1
    return int(arms[-1]), arms.shape[0] - 1


@compiled
def gather(
    state: ConcealedState, arms: Counts, gamma: float, log_ratio: float, c: float, scratch: Floats
) -> None:
    """Fill in the losses, duals and numbers of copies of the touched arms, then of the group."""
    count, among = arms.shape[0], state.losses.shape[0]
    scratch[DUAL, 0] = c
    for k in range(count):
        loss, y = state.losses[arms[k]], state.dual[1 + arms[k]]
        if not y < np.inf:  # the arm was in the group until now
            y = math.log(wright_omega(0.5 * gamma * (loss - c) + log_ratio))
        scratch[LOSSES, k] = loss
        scratch[DUAL, 1 + k] = y
        scratch[COPIES, k] = 1.0
    scratch[LOSSES, count] = 0.0
    scratch[DUAL, 1 + count] = math.log(wright_omega(-0.5 * gamma * c + log_ratio))
    scratch[COPIES, count] = among - count


@compiled
def predict_grouped(
    state: ConcealedState, prediction: Prediction, arms: Counts, scratch: Floats
) -> int:
    """Compute the weights of the touched arms and, after them, the common weight.

    Returns 0 if the solver did not succeed.
    """
    count = arms.shape[0]
    eta, gamma = 0.5 / math.sqrt(state.round[0]), entropy_rate(state)
    prediction.eta[0] = eta
    prediction.gamma[0] = gamma
    if not gamma < np.inf:
        return 0
    c, among = state.dual[0], state.losses.shape[0]
    if not c < np.inf:  # its value if all losses are equal
        c = -math.log(among) / gamma - math.sqrt(among) / (2.0 * eta)
    gather(state, arms, gamma, math.log(gamma / (4.0 * eta)), c, scratch)
    return correct_together(
        scratch[LOSSES, : count + 1],
        scratch[COPIES, : count + 1],
        eta,
        gamma,
        scratch[WEIGHTS, : count + 1],
        scratch[DUAL, : count + 2],
        scratch[FIRST_WORK:, : count + 1],
        True,
    )


@compiled_step("ask")
def ask_grouped(handle: Any, mode: int) -> Drawn:
    """Predict, draw an arm and commit, in time proportional to the touched arms.

    No arm is played if the mode is CHECKED and max_missing is exceeded, or if there is no more room
    for touched arms.
    """
    space = opened(handle)
    state, prediction, plays = space.state, space.prediction, space.plays
    arms_over, scratch = space.arms_over, space.scratch
    count, among = space.touched[0], state.losses.shape[0]
    nothing = (NOT_PLAYED, 0.0, *frozen(handle, plays[0]))
    if count >= space.touched.shape[0] or (mode == CHECKED and arms_over[0] > 0):
        return nothing
    arms, q = space.touched[1 : 1 + count], scratch[WEIGHTS]
    done = predict_grouped(state, prediction, arms, scratch) > 0
    if not done:
        predict(state, prediction)
        common = 0.0
        for i in range(among):
            common = prediction.q[i] if state.losses[i] == 0.0 else common
        for k in range(count):
            q[k] = prediction.q[arms[k]]
        q[count] = common
    if mode == PREDICT_ONLY:
        if done:
            prediction.q[:] = q[count]
            for k in range(count):
                prediction.q[arms[k]] = q[k]
        return nothing
    arm, place = draw_grouped(uniform(space.stream), arms, q[:count], among, q[count])
    probability = q[count] if place < 0 else q[place]
    commit_play(state, probability, arm, plays)
    if done:
        state.dual[0] = scratch[DUAL, 0]
        for k in range(count):
            state.dual[1 + arms[k]] = scratch[DUAL, 1 + k]
    else:
        for i in range(among + 1):
            state.dual[i] = prediction.info.dual[i]
    if state.outstanding[arm] == state.max_missing[0] + 1:
        arms_over[0] += 1
    return arm, float(probability), *frozen(handle, plays[0])


@compiled_step("tell")
def tell_grouped(handle: Any, drawn: Drawn, loss: float, missing: int, mode: int) -> bool:
    """Learn a loss, or withdraw the play if it is NaN; returns whether that was done.

    An arm with its first loss above zero leaves the group.
    """
    space = opened(handle)
    before = space.state.losses[drawn[0]]
    done = tell_bounded_bandit(handle, drawn, loss, missing, mode)
    if before == 0.0 and space.state.losses[drawn[0]] > 0.0:
        touch(space.touched, drawn[0])
    return done


MANY_ARMS = Steps(f"{__name__}:MANY_ARMS", ask_grouped, tell_grouped, is_bounded=True)
