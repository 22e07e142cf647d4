"""The concealed bandit with very many arms: those without a loss are kept as one group.

An arm of which no loss above zero has arrived has the estimate zero, so that all such arms have
one common weight. A round then costs as much as there are other arms, the touched ones.
"""

import math
from typing import Any

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.ask_tell import LOOK, NOTHING, STEPS, USUAL, Drawn, Steps, tell_bandit
from belated.compiled.dispatch import predict
from belated.compiled.jit import compiled_step
from belated.compiled.records import frozen, opened
from belated.learners.contract import Prediction
from belated.learners.paper.concealed import ConcealedState, commit_play, entropy_rate
from belated.numerics.random_stream import uniform
from belated.solvers.concealed import WORK, correct_together
from belated.solvers.concealed_safe import wright_omega

FEWEST_ARMS = 256  # with fewer, grouping does not pay
PART = 4  # nor if more than one arm in four is touched
LOSSES, DUAL, WEIGHTS, COPIES, FIRST_WORK = range(5)  # rows of the room to work in
ROWS = FIRST_WORK + WORK


def room_for_touched(state: ConcealedState) -> Counts:
    """The number of touched arms, the arms in order, and room for more; empty if too many."""
    arms = np.flatnonzero(state.losses > 0.0)
    most = state.losses.size // PART
    if state.losses.size < FEWEST_ARMS or arms.size > most:
        return np.zeros(0, dtype=np.int64)
    touched = np.zeros(1 + most, dtype=np.int64)
    touched[0] = arms.size
    touched[1 : 1 + arms.size] = arms
    return touched


def is_full(touched: Counts) -> bool:
    """Whether so many arms are touched that there is no group any more."""
    return touched.size > 0 and bool(touched[0] >= touched.size)


@compiled_step
def touch(touched: Counts, arm: int) -> None:
    """Add an arm to those touched, in order; without room only their number grows."""
    count = touched[0]
    touched[0] += 1
    if count + 1 < touched.size:
        place = count
        while place > 0 and touched[place] > arm:
            touched[place + 1] = touched[place]
            place -= 1
        touched[place + 1] = arm


@compiled_step
def draw_grouped(
    target: float, arms: Counts, q: Floats, among: int, common: float
) -> tuple[int, int]:
    """An arm drawn by inversion in the order of all arms, and its place if it is touched, else -1.

    Between the touched arms lie gaps of arms with the common weight.
    """
    after = 0  # the first arm that was not passed yet
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


@compiled_step
def gather(
    state: ConcealedState, arms: Counts, gamma: float, log_ratio: float, c: float, room: Floats
) -> None:
    """Losses, dual and copies of the touched arms and, after them, of the group."""
    count, among = arms.shape[0], state.losses.shape[0]
    room[DUAL, 0] = c
    for k in range(count):
        loss, y = state.losses[arms[k]], state.dual[1 + arms[k]]
        if not y < np.inf:  # it was not touched before
            y = math.log(wright_omega(0.5 * gamma * (loss - c) + log_ratio))
        room[LOSSES, k] = loss
        room[DUAL, 1 + k] = y
        room[COPIES, k] = 1.0
    room[LOSSES, count] = 0.0
    room[DUAL, 1 + count] = math.log(wright_omega(-0.5 * gamma * c + log_ratio))
    room[COPIES, count] = among - count


@compiled_step
def predict_grouped(
    state: ConcealedState, prediction: Prediction, arms: Counts, room: Floats
) -> int:
    """The weights of the touched arms and, after them, the common one; 0 if that did not work."""
    count = arms.shape[0]
    eta, gamma = 0.5 / math.sqrt(state.round[0]), entropy_rate(state)
    prediction.eta[0] = eta
    prediction.gamma[0] = gamma
    if not gamma < np.inf:
        return 0
    c, among = state.dual[0], state.losses.shape[0]
    if not c < np.inf:  # where it is if all losses are equal
        c = -math.log(among) / gamma - math.sqrt(among) / (2.0 * eta)
    gather(state, arms, gamma, math.log(gamma / (4.0 * eta)), c, room)
    return correct_together(
        room[LOSSES, : count + 1],
        room[COPIES, : count + 1],
        eta,
        gamma,
        room[WEIGHTS, : count + 1],
        room[DUAL, : count + 2],
        room[FIRST_WORK:, : count + 1],
        True,
    )


@compiled_step
def ask_grouped(handle: Any, how: int) -> Drawn:
    """Predict, draw and commit as `ask_bandit` does, in time proportional to the touched arms."""
    table = opened(handle)
    state, prediction, plays, over = table.state, table.prediction, table.plays, table.over
    count, among, room = table.touched[0], state.losses.shape[0], table.room
    nothing = (NOTHING, 0.0, frozen(handle, plays[0]))
    if count >= table.touched.shape[0] or (how == USUAL and over[0] > 0):
        return nothing
    arms, q = table.touched[1 : 1 + count], room[WEIGHTS]
    done = predict_grouped(state, prediction, arms, room) > 0
    if not done:
        predict(state, prediction)
        common = 0.0
        for i in range(among):
            common = prediction.q[i] if state.losses[i] == 0.0 else common
        for k in range(count):
            q[k] = prediction.q[arms[k]]
        q[count] = common
    if how == LOOK:
        if done:
            prediction.q[:] = q[count]
            for k in range(count):
                prediction.q[arms[k]] = q[k]
        return nothing
    arm, place = draw_grouped(uniform(table.stream), arms, q[:count], among, q[count])
    probability = q[count] if place < 0 else q[place]
    commit_play(state, probability, arm, plays)
    if done:
        state.dual[0] = room[DUAL, 0]
        for k in range(count):
            state.dual[1 + arms[k]] = room[DUAL, 1 + k]
    else:
        for i in range(among + 1):
            state.dual[i] = prediction.info.dual[i]
    if state.outstanding[arm] == state.max_missing[0] + 1:
        over[0] += 1
    return arm, float(probability), frozen(handle, plays[0])


@compiled_step
def tell_grouped(handle: Any, drawn: Drawn, loss: float, missing: int, how: int) -> bool:
    """Learn a loss as `tell_bandit` does; with its first loss above 0 an arm leaves the group."""
    table = opened(handle)
    before = table.state.losses[drawn[0]]
    done = tell_bandit(handle, drawn, loss, missing, how)
    if before == 0.0 and table.state.losses[drawn[0]] > 0.0:
        touch(table.touched, drawn[0])
    return done


GROUPED = "grouped"
STEPS[GROUPED] = Steps(ask_grouped, tell_grouped)
