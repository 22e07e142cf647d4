"""The compiled game: one loop for every learner, compiled once for each kind of state.

The order of a round is that of Algorithm 1: predict, draw, commit, and at its end whatever arrives.
Losses under way wait in a calendar, so a round costs the same however much is pending.
"""

import functools
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.environments.missing import NEVER
from belated.kernels.calendar import NONE, Calendar, begin_round, empty_calendar, put, take
from belated.kernels.compile import compiled, compiled_afresh
from belated.kernels.dispatch import commit, observe, predict
from belated.kernels.stream import draw, seeded
from belated.learners.learner import Learner, Prediction, Verbs
from belated.simulation.game import Game, Stretch, reserved
from belated.simulation.trace import Recorder, Trace
from belated.types import Setting

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

EXPECTED, REALISED, MISSING = 0, 1, 2


class Pending(NamedTuple):
    """Losses under way, by the slot they have in the calendar."""

    arm: Counts
    missing: Counts
    loss: Floats
    play: Floats


class Tally(NamedTuple):
    """Sums over the rounds played: totals of <q_t, l_t>, l_t(i_t) and <q_t, rho_t>; by arm, q_t
    and the plays."""

    totals: Floats
    weights: Floats
    plays: Counts


class Run(NamedTuple):
    """All that changes while a learner plays."""

    state: Any
    prediction: Prediction
    plays: Floats
    stream: NDArray[np.uint64]
    calendar: Calendar
    pending: Pending
    tally: Tally


@compiled
def play_rounds(run: Run, stretch: Stretch, full_information: bool) -> None:
    """Play the rounds of a stretch; the calendar must have a free slot for each loss in it.

    Arrays are taken out of their records first: numba counts a reference each time it reaches in.
    """
    state, prediction, plays, stream = run.state, run.prediction, run.plays, run.stream
    calendar, pending, tally, q = run.calendar, run.pending, run.tally, run.prediction.q
    losses, delays, missing = stretch.losses, stretch.delays, stretch.missing
    for row in range(losses.shape[0]):
        now = stretch.first + row
        begin_round(calendar, now)
        predict(state, prediction)
        arm = -1 if full_information else draw(stream, q)
        add_up(tally, q, arm, losses, missing, row)
        commit(state, prediction, arm, plays)
        for k in range(plays.shape[0]):
            column = k if full_information else arm
            delay = delays[row, column]
            if delay != NEVER and delay < stretch.rounds - now:
                slot = put(calendar, now, now + delay)
                pending.arm[slot] = column
                pending.missing[slot] = missing[row, column]
                pending.loss[slot] = losses[row, column]
                pending.play[slot, :] = plays[k]
        slot = take(calendar, now)
        while slot != NONE:
            observe(
                state,
                pending.play[slot],
                pending.arm[slot],
                pending.loss[slot],
                pending.missing[slot],
            )
            slot = take(calendar, now)


@compiled
def add_up(tally: Tally, q: Floats, arm: int, losses: Floats, missing: Counts, row: int) -> None:
    """Add one round to the tally; in full information (arm -1) the learner suffers <q_t, l_t>."""
    expected, absent, weights = 0.0, 0.0, tally.weights
    for i in range(q.shape[0]):
        expected += q[i] * losses[row, i]
        absent += q[i] * missing[row, i]
        weights[i] += q[i]
    tally.totals[EXPECTED] += expected
    tally.totals[MISSING] += absent
    tally.totals[REALISED] += expected if arm < 0 else losses[row, arm]
    if arm >= 0:
        tally.plays[arm] += 1


@functools.cache
def loop_for(verbs: Verbs) -> Callable[[Run, Stretch, bool], None]:
    """The compiled loop, kept on disk only for the learners of this package."""
    ours = all(verb.__module__.startswith(f"{__package__.split('.')[0]}.") for verb in verbs)
    return play_rounds if ours else compiled_afresh(play_rounds)


class EngineRun:
    """A learner's run through a game, stretch by stretch, by the compiled loop."""

    def __init__(self, learner: Learner, game: Game, seed: np.random.SeedSequence) -> None:
        self.full_information = learner.setting is Setting.FULL_INFORMATION
        rows, arms = learner.arms if self.full_information else 1, learner.arms
        self.rows, self.learner = rows, learner
        prediction = learner.blank()
        self.recorder = Recorder(learner, game)
        self.run = Run(
            state=learner.start(),
            prediction=prediction,
            plays=np.empty((rows, learner.play_width)),
            stream=seeded(seed),
            calendar=empty_calendar(1),
            pending=_room(1, learner.play_width),
            tally=Tally(np.zeros(3), np.zeros(arms), np.zeros(arms, dtype=np.int64)),
        )
        self.loop = loop_for(learner.verbs)
        nothing = np.empty((0, arms), dtype=np.int64)
        empty = Stretch(0, 0, np.empty((0, arms)), nothing, nothing)
        self.loop(self.run, empty, self.full_information)  # compiled before the clock starts

    def play(self, stretch: Stretch) -> None:
        """Play on through the next stretch."""
        started = time.perf_counter()
        run = self.run = self._with_room(len(stretch.losses) * self.rows)
        self.loop(run, stretch, self.full_information)
        self.recorder.seconds += time.perf_counter() - started
        self.recorder.note(stretch.end, run.tally.totals, run.tally.weights, run.prediction)

    def close(self) -> Trace:
        """The trace, after the last stretch."""
        run = self.run
        return self.recorder.close(
            run.prediction,
            run.tally.plays,
            float(run.tally.totals[MISSING]),
            self.learner.overlap(run.state),
        )

    def _with_room(self, count: int) -> Run:
        calendar = reserved(self.run.calendar, count)
        if calendar is self.run.calendar:
            return self.run
        old, size = self.run.pending, calendar.after.size
        pending = _room(size, self.learner.play_width)
        for before, after in zip(old, pending, strict=True):
            after[: len(before)] = before
        return self.run._replace(calendar=calendar, pending=pending)


def _room(slots: int, width: int) -> Pending:
    return Pending(
        arm=np.zeros(slots, dtype=np.int64),
        missing=np.zeros(slots, dtype=np.int64),
        loss=np.zeros(slots),
        play=np.zeros((slots, width)),
    )


def play(learner: Learner, game: Game, seed: np.random.SeedSequence) -> Trace:
    """Run a learner through a whole game."""
    run = EngineRun(learner, game, seed)
    for stretch in game.stretches():
        run.play(stretch)
    return run.close()
