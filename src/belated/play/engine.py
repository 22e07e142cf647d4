"""The compiled game: one loop for every learner, compiled once for each kind of state.

The order of a round is that of Algorithm 1: predict, draw, commit, and then observe the losses that
arrive at the end of the round.
Outstanding losses wait in a calendar, so that the cost of a round does not depend on their number.
"""

import functools
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Counts, Floats
from belated.compiled.dispatch import commit, observe, predict
from belated.compiled.jit import compiled, compiled_afresh
from belated.compiled.unowned import borrowed
from belated.environments.missing import NEVER
from belated.learners.contract import Learner, Prediction, Verbs
from belated.learners.driver import NO_ARM, NOT_TOLD
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
from belated.numerics.random_stream import draw, seeded
from belated.play.calendar import Calendar, begin_round, empty_calendar, put, reserved, take
from belated.play.delivery import DeliveredFeedback, FeedbackDelivery
from belated.play.game import Game, Stretch
from belated.play.trace import Recorder, Trace, no_losses
from belated.types import Need, Setting

EXPECTED, REALISED, ABSENT = 0, 1, 2
ARM, LOSS, FROZEN = 0, 1, 2  # the columns of an entry; a missing count that is told comes last


class Tally(NamedTuple):
    """Sums over the rounds played.

    totals has the sums of <q_t, l_t>, l_t(i_t) and <q_t, rho_t>. By arm, weights is the sum of q_t
    and plays the number of plays. By strategy, strategies is the sum of <q_t^m, l_t>, or None if
    the learner mixes no strategies.
    """

    totals: Floats
    weights: Floats
    plays: Counts
    strategies: Floats | None


class RunState(NamedTuple):
    """All memory that changes while a learner plays a game."""

    state: Any
    prediction: Prediction
    plays: Floats
    stream: NDArray[np.uint64]
    calendar: Calendar
    tally: Tally


class Disclosure(NamedTuple):
    """Whether a learner is told the losses of all arms, missing counts, and delays in advance."""

    full_information: bool
    missing: bool
    delay: bool


@compiled
def play_rounds(
    run: RunState, stretch: Stretch, feedback: DeliveredFeedback, told: Disclosure
) -> None:
    """Play the rounds of a stretch; the calendar must have a free slot for each loss in it."""
    here = borrowed(run)
    state, prediction, plays, stream = here.state, here.prediction, here.plays, here.stream
    calendar, tally, q, rows = here.calendar, here.tally, here.prediction.q, here.calendar.rows
    there, feedback = borrowed(stretch), borrowed(feedback)
    losses, missing = there.losses, there.missing
    in_force = rows[:, FROZEN:]
    for row in range(losses.shape[0]):
        now = stretch.first + row
        begin_round(calendar, now)
        prediction.detailed[0] = row == losses.shape[0] - 1  # p is recorded only there
        predict(state, prediction)
        arm = NO_ARM if told.full_information else draw(stream, q)
        add_up(tally, q, arm, losses, missing, row)
        add_up_strategies(tally.strategies, prediction, losses, row)
        if told.delay:
            delay = feedback.delays[row, arm]
            plays[0, 0] = np.inf if delay == NEVER else delay
        commit(state, prediction, arm, plays)
        if told.full_information:
            for k in range(q.shape[0]):
                send(calendar, now, there, feedback, row, k, plays, k, told.missing)
        else:
            send(calendar, now, there, feedback, row, arm, plays, 0, told.missing)
        entry, end = take(calendar, now)
        while entry < end:
            for k in range(end - entry):
                at = np.uint64(entry + k)  # an index that cannot be negative costs less
                column = np.uint64(int(rows[at, ARM]))
                absent = int(rows[at, rows.shape[1] - 1]) if told.missing else NOT_TOLD
                observe(state, in_force[at], column, rows[at, LOSS], absent)
            entry, end = take(calendar, now)


@compiled
def send(
    calendar: Calendar,
    now: int,
    stretch: Stretch,
    feedback: DeliveredFeedback,
    row: int,
    arm: int,
    plays: Floats,
    k: int,
    tells_missing: bool,
) -> None:
    """Put a loss and its play into the calendar, unless the loss arrives after the last round.

    An entry holds the arm, the loss, the play and, if the learner is told it, the missing count.
    """
    delay = feedback.delays[row, arm]
    if delay == NEVER or delay >= stretch.rounds - now:
        return
    entry = calendar.rows[np.uint64(put(calendar, now, now + delay))]
    loss = feedback.losses[row, arm]
    if plays.shape[1] == LANES - FROZEN and not tells_missing:
        store_whole(entry, 0, side_by_side(arm, loss, plays[k, 0], plays[k, 1]))
        return
    entry[ARM] = arm
    entry[LOSS] = loss
    for part in range(plays.shape[1]):
        entry[FROZEN + part] = plays[k, part]
    if tells_missing:
        entry[entry.shape[0] - 1] = stretch.missing[row, arm]


@compiled
def add_up(tally: Tally, q: Floats, arm: int, losses: Floats, missing: Counts, row: int) -> None:
    """Add one round to the tally; in full information (arm -1) the learner suffers <q_t, l_t>."""
    expected, absent, weights = 0.0, 0.0, tally.weights
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
    sums: Floats | None, prediction: Prediction, losses: Floats, row: int
) -> None:
    """Add the loss of each strategy in the round; compiled to nothing if the learner mixes none."""
    if sums is None:
        return
    for m in range(sums.shape[0]):
        sums[m] += product(prediction.info.strategies[m], losses[row])


@compiled
def product(weights: Floats, losses: Floats) -> float:
    """Return the inner product <q, l>, summed in several lanes at once."""
    sum_, end = spread(0.0), whole(weights.shape[0])
    for i in range(0, end, LANES):
        sum_ = sum_ + load_whole(weights, i) * load_whole(losses, i)
    if end < weights.shape[0]:
        sum_ = sum_ + load_part(weights, end, 0.0) * load_part(losses, end, 0.0)
    return across(sum_)


@functools.cache
def loop_for(
    state: type, verbs: Verbs
) -> Callable[[RunState, Stretch, DeliveredFeedback, Disclosure], None]:
    """Return the compiled loop for a kind of state.

    Its code is kept on disk only for the learners of this package.
    """
    package = f"{__package__.split('.')[0]}."
    ours = all(each.__module__.startswith(package) for each in (state, *verbs))
    return play_rounds if ours else compiled_afresh(play_rounds)


class EngineRun:
    """A learner's run through a game, stretch by stretch, by the compiled loop."""

    def __init__(self, learner: Learner, game: Game, seed: np.random.SeedSequence) -> None:
        self.told = Disclosure(
            full_information=learner.setting is Setting.FULL_INFORMATION,
            missing=learner.setting is Setting.PARTIALLY_CONCEALED,
            delay=Need.DELAY_AT_DECISION in learner.needs,
        )
        rows, arms = learner.arms if self.told.full_information else 1, learner.arms
        self.rows, self.learner, self.delivery = rows, learner, FeedbackDelivery(learner)
        prediction = learner.blank()
        self.recorder, self.strategies = Recorder(learner, game), no_losses(prediction)
        self.run = RunState(
            state=learner.start(),
            prediction=prediction,
            plays=np.empty((rows, learner.play_width)),
            stream=seeded(seed),
            calendar=empty_calendar(FROZEN + learner.play_width + self.told.missing),
            tally=Tally(
                np.zeros(3),
                np.zeros(arms),
                np.zeros(arms, dtype=np.int64),
                self.strategies if self.strategies.size else None,
            ),
        )
        self.loop = loop_for(learner.state, learner.verbs)
        nothing = np.empty((0, arms), dtype=np.int64)
        empty = Stretch(0, 0, np.empty((0, arms)), nothing, nothing)
        none = DeliveredFeedback(empty.delays, empty.losses)
        self.loop(self.run, empty, none, self.told)  # compiled before the clock starts

    def play(self, stretch: Stretch) -> None:
        """Play the next stretch of rounds."""
        started = time.perf_counter()
        stretch = stretch._replace(losses=np.ascontiguousarray(stretch.losses))
        calendar = reserved(self.run.calendar, len(stretch.losses) * self.rows)
        state = self.learner.reserved(self.run.state, len(stretch.losses))
        run = self.run = self.run._replace(calendar=calendar, state=state)
        self.loop(run, stretch, self.delivery.deliver(stretch), self.told)
        self.recorder.seconds += time.perf_counter() - started
        self.recorder.note(stretch.end, run.tally.totals, run.tally.weights, run.prediction)

    def close(self) -> Trace:
        """Return the trace of the run, after the last stretch."""
        run = self.run
        return self.recorder.close(
            run.prediction,
            run.tally.plays,
            self.strategies,
            float(run.tally.totals[ABSENT]),
        )


def play(learner: Learner, game: Game, seed: np.random.SeedSequence) -> Trace:
    """Play a learner through a whole game by the compiled loop."""
    run = EngineRun(learner, game, seed)
    for stretch in game.stretches():
        run.play(stretch)
    return run.close()
