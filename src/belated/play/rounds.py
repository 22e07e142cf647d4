"""The step that plays the rounds of a game: one loop for every learner.

The order of a round is that of Algorithm 1: predict, draw, commit, and then observe the losses that
arrive at the end of the round. Outstanding losses wait in a calendar, so that the cost of a round
does not depend on their number.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Counts, Floats
from belated.compiled.dispatch import NO_ARM, NOT_TOLD, commit, observe, predict
from belated.compiled.kernels import compiled
from belated.compiled.records import opened
from belated.compiled.steps import compiled_step
from belated.environments.missing import NEVER
from belated.learners.contract import Prediction
from belated.numerics.lanes import (
    LANES,
    across,
    load_part,
    load_whole,
    side_by_side,
    spread,
    store_whole,
    whole,
)
from belated.numerics.random_stream import draw
from belated.play.calendar import Calendar, begin_round, put, take

EXPECTED, REALISED, ABSENT = 0, 1, 2
ARM, LOSS, FROZEN = 0, 1, 2  # the columns of an entry; a missing count that is told comes last


class Tally(NamedTuple):
    """Sums over the rounds played.

    rounds is their number; totals has the sums of <q_t, l_t>, l_t(i_t) and <q_t, rho_t>. By arm,
    weights is the sum of q_t and plays the number of plays. By strategy, strategies is the sum of
    <q_t^m, l_t>, or None if the learner mixes no strategies; weighed has these losses times the
    multiples in the learner's info and its rates, or is None if there are none.
    """

    rounds: Counts
    totals: Floats
    weights: Floats
    plays: Counts
    strategies: Floats | None
    weighed: Floats | None


class RunState(NamedTuple):
    """All memory that a learner needs to play a game.

    `advice` is what policies advise in the rounds that are played next, of shape (round, policy,
    arm). It is empty if a learner that could take it has none, and None for all other learners.
    `contexts` has the contexts of these rounds, of shape (round, coordinate), in the same way.
    """

    state: Any
    prediction: Prediction
    plays: Floats
    stream: NDArray[np.uint64]
    calendar: Calendar
    tally: Tally
    contexts: Floats | None
    advice: Floats | None


@compiled_step("play")
def play_rounds(
    run: Any,
    losses: Floats,
    missing: Counts,
    feedback: Floats,
    delays: Counts,
    first: int,
    rounds: int,
    full_information: bool,
    tells_missing: bool,
    tells_delay: bool,
) -> None:
    """Play consecutive rounds; the calendar must have a free slot for each of their losses.

    Of these rounds, by round and arm: the losses, how many are missing, and the feedback with its
    delays, which are losses and delays as the learner is told them. `first` is the number of the
    first of them, and `rounds` is the length of the game. The learner is told the losses of all
    arms, missing counts and delays in advance, or not.
    """
    here = opened(run)
    state, prediction, plays, stream = here.state, here.prediction, here.plays, here.stream
    calendar, tally, q, rows = here.calendar, here.tally, here.prediction.q, here.calendar.rows
    in_force = rows[:, FROZEN:]
    for row in range(losses.shape[0]):
        now = first + row
        give_advice(state, here.advice, row)
        give_context(state, here.contexts, row)
        prediction.detailed[0] = row == losses.shape[0] - 1  # p is recorded only there
        predict(state, prediction)  # a lean step may end here, with nothing played yet
        begin_round(calendar, now)
        arm = NO_ARM if full_information else draw(stream, q)
        add_up(tally, q, arm, losses, missing, row)
        add_up_strategies(tally.strategies, tally.weighed, prediction, losses, row)
        if tells_delay:
            delay = delays[row, arm]
            plays[0, 0] = np.inf if delay == NEVER else delay
        commit(state, prediction, arm, plays)
        if full_information:
            for k in range(q.shape[0]):
                send(calendar, now, rounds, delays[row, k], k, feedback[row, k], plays[k], NOT_TOLD)
        else:
            absent = missing[row, arm] if tells_missing else NOT_TOLD
            send(calendar, now, rounds, delays[row, arm], arm, feedback[row, arm], plays[0], absent)
        entry, end = take(calendar, now)
        while entry < end:
            for k in range(end - entry):
                at = np.uint64(entry + k)  # an index that cannot be negative costs less
                arm_told = int(rows[at, ARM])
                absent = int(rows[at, rows.shape[1] - 1]) if tells_missing else NOT_TOLD
                observe(state, in_force[at], arm_told, rows[at, LOSS], absent)
            entry, end = take(calendar, now)


@compiled
def give_advice(state: Any, advice: Floats | None, row: int) -> None:
    """Put the advice of a round into the state; compiled to nothing if the learner takes none."""
    if advice is None:
        return
    if advice.shape[0] > 0:
        for n in range(advice.shape[1]):
            copy(advice[row, n], state.advice[n])


@compiled
def give_context(state: Any, contexts: Floats | None, row: int) -> None:
    """Put the context of a round into the state; compiled to nothing if the learner takes none."""
    if contexts is None:
        return
    if contexts.shape[0] > 0:
        copy(contexts[row], state.model.context)


@compiled
def send(
    calendar: Calendar,
    now: int,
    rounds: int,
    delay: int,
    arm: int,
    loss: float,
    play: Floats,
    missing: int,
) -> None:
    """Put a loss and its play into the calendar, unless the loss arrives after the last round.

    An entry holds the arm, the loss, the play and, if the learner is told it, the missing count.
    """
    if delay == NEVER or delay >= rounds - now:
        return
    entry = calendar.rows[np.uint64(put(calendar, now, now + delay))]
    if play.shape[0] == LANES - FROZEN and missing == NOT_TOLD:
        store_whole(entry, 0, side_by_side(arm, loss, play[0], play[1]))
        return
    entry[ARM] = arm
    entry[LOSS] = loss
    for part in range(play.shape[0]):
        entry[FROZEN + part] = play[part]
    if missing != NOT_TOLD:
        entry[entry.shape[0] - 1] = missing


@compiled
def add_up(tally: Tally, q: Floats, arm: int, losses: Floats, missing: Counts, row: int) -> None:
    """Add one round to the tally; in full information (arm -1) the learner suffers <q_t, l_t>."""
    expected, absent, weights = 0.0, 0.0, tally.weights
    tally.rounds[0] += 1
    for i in range(q.shape[0]):
        expected += q[i] * losses[row, i]
        absent += q[i] * missing[row, i]
        weights[i] += q[i]
    tally.totals[EXPECTED] += expected
    tally.totals[ABSENT] += absent
    tally.totals[REALISED] += expected if arm < 0 else losses[row, arm]
    if arm >= 0:
        tally.plays[arm] += 1


@compiled
def add_up_strategies(
    sums: Floats | None, weighed: Floats | None, prediction: Prediction, losses: Floats, row: int
) -> None:
    """Add the loss of each strategy in the round; compiled to nothing if the learner mixes none."""
    if sums is None:
        return
    for m in range(sums.shape[0]):
        loss = product(prediction.info.strategies[m], losses[row])
        sums[m] += loss
        add_up_weighed(weighed, prediction, loss, m)


@compiled
def add_up_weighed(weighed: Floats | None, prediction: Prediction, loss: float, m: int) -> None:
    """Add a strategy's loss times its multiple and each rate; compiled to nothing without them."""
    if weighed is None:
        return
    sums, eta, multiple = weighed[m], prediction.eta, prediction.info.multiples[m] * loss
    for j in range(sums.shape[0]):
        sums[j] += eta[j] * multiple


@compiled
def copy(numbers: Floats, place: Floats) -> None:
    """Copy an array of one dimension, several numbers at once."""
    end = whole(numbers.shape[0])
    for i in range(0, end, LANES):
        store_whole(place, i, load_whole(numbers, i))
    for i in range(end, numbers.shape[0]):
        place[i] = numbers[i]


@compiled
def product(weights: Floats, losses: Floats) -> float:
    """Return the inner product <q, l>, summed in several lanes at once."""
    sum_, end = spread(0.0), whole(weights.shape[0])
    for i in range(0, end, LANES):
        sum_ = sum_ + load_whole(weights, i) * load_whole(losses, i)
    if end < weights.shape[0]:
        sum_ = sum_ + load_part(weights, end, 0.0) * load_part(losses, end, 0.0)
    return across(sum_)
