"""The engine: a learner's run through a game, by the compiled loop of `play.rounds`."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.compiled.entries import Entry, find, obtain
from belated.compiled.lean import LeftOut, lean
from belated.compiled.records import Handle, layout_of
from belated.learners.contract import Learner
from belated.numerics.random_stream import seeded
from belated.play.calendar import empty_calendar, reserved
from belated.play.delivery import DeliveredFeedback, FeedbackDelivery
from belated.play.game import Game, Stretch
from belated.play.played_weights import check_stretch
from belated.play.rounds import ABSENT, FROZEN, RunState, Tally, play_rounds
from belated.play.trace import Recorder, Trace, no_losses, no_weighed_losses
from belated.types import Need, Setting

INTERPRETED_ROUNDS = 1000  # a game of so many rounds is not worth compiling for


class Disclosure(NamedTuple):
    """Whether a learner is told the losses of all arms, missing counts, and delays in advance."""

    full_information: bool
    missing: bool
    delay: bool


def first_run(learner: Learner, stream: NDArray[np.uint64]) -> RunState:
    """Return the memory of a run before its first round."""
    prediction, arms = learner.blank(), learner.arms
    strategies, weighed = no_losses(prediction), no_weighed_losses(prediction)
    tells_missing = learner.setting is Setting.PARTIALLY_CONCEALED
    return RunState(
        state=learner.start(),
        prediction=prediction,
        plays=np.empty((losses_a_round(learner), learner.row_width)),
        stream=stream,
        calendar=empty_calendar(FROZEN + learner.row_width + tells_missing),
        tally=Tally(
            np.zeros(1, dtype=np.int64),
            np.zeros(3),
            np.zeros(arms),
            np.zeros(arms, dtype=np.int64),
            strategies if strategies.size else None,
            weighed if weighed.size else None,
        ),
        contexts=np.empty((0, 0)) if learner.takes_context else None,
        advice=np.empty((0, 0, 0)) if Need.ADVICE in learner.needs else None,
    )


def losses_a_round(learner: Learner) -> int:
    """Return how many losses of a round a learner is told."""
    return learner.arms if learner.setting is Setting.FULL_INFORMATION else 1


def entry_for(run: RunState) -> Entry:
    """Return the entry that plays all rounds of a run."""
    return Entry(play_rounds, layout_of(run))


def first_entry_for(run: RunState) -> Entry:
    """Return the entry that begins a run: the lean one, unless the whole one was compiled before.

    For most learners they are one; see `belated.compiled.lean`.
    """
    whole = entry_for(run)
    return whole if find(whole) is not None else entry_for(lean(run))


class EngineRun:
    """A learner's run through a game, stretch by stretch, by the compiled loop."""

    def __init__(self, learner: Learner, game: Game, seed: np.random.SeedSequence) -> None:
        self.told = Disclosure(
            full_information=learner.setting is Setting.FULL_INFORMATION,
            missing=learner.setting is Setting.PARTIALLY_CONCEALED,
            delay=Need.DELAY_AT_DECISION in learner.needs,
        )
        self.rows, self.learner = losses_a_round(learner), learner
        self.recorder, self.delivery = Recorder(learner, game), FeedbackDelivery(learner)
        self.run = first_run(learner, seeded(seed))
        entry, rounds = first_entry_for(self.run), game.environment.rounds
        self.is_lean = entry != entry_for(self.run)
        self.handle = self._handle()
        # Before the clock starts. Few rounds are over before the compiler would be done.
        self.loop = obtain(entry, is_short=rounds <= INTERPRETED_ROUNDS)

    def _handle(self) -> Handle:
        """Make the handle of the run for the loop that is used now."""
        return Handle(lean(self.run) if self.is_lean else self.run)

    def play(self, stretch: Stretch) -> None:
        """Play the next stretch of rounds."""
        started = time.perf_counter()
        calendar = reserved(self.run.calendar, len(stretch.losses) * self.rows)
        state = self.learner.reserved(self.run.state, len(stretch.losses))
        if calendar is not self.run.calendar or state is not self.run.state:
            self.run = self.run._replace(calendar=calendar, state=state)
            self.handle = self._handle()
        if self.learner.takes_advice:
            self.run = self.run._replace(advice=stretch.advice)
            self.handle.exchange_last(self.run)
        if self.learner.takes_context and stretch.contexts is not None:
            self.run = self.run._replace(contexts=np.ascontiguousarray(stretch.contexts))
            self.handle = self._handle()
        run = self.run
        before = float(run.tally.weights.sum())
        self._play(stretch, self.delivery.deliver(stretch))
        total, rounds = float(run.tally.weights.sum()) - before, len(stretch.losses)
        check_stretch(self.learner, run.prediction.q, total, stretch.first + 1, rounds)
        self.recorder.seconds += time.perf_counter() - started
        self.recorder.note(
            stretch.end, run.tally.totals, run.tally.weights, run.prediction, run.state
        )

    def _play(self, stretch: Stretch, feedback: DeliveredFeedback) -> None:
        """Play the rounds compiled or, if there is no compiler, as plain Python."""
        arrays = (stretch.losses, stretch.missing, feedback.losses, feedback.delays)
        whole: list[Any] = [np.ascontiguousarray(array) for array in arrays]
        given = (*whole, stretch.first, stretch.rounds, *self.told)
        if self.loop is None:
            play_rounds(self.run, *given)
            return
        played = int(self.run.tally.rounds[0])
        try:
            self.loop(self.handle.address, *given)
        except LeftOut:
            played = int(self.run.tally.rounds[0]) - played
            rest = [array[played:] for array in whole]
            for name in ("advice", "contexts"):
                if getattr(self.run, name) is not None:
                    self.run = self.run._replace(**{name: getattr(self.run, name)[played:]})
            given = (*rest, stretch.first + played, stretch.rounds, *self.told)
            self._whole_loop()(self.handle.address, *given)

    def _whole_loop(self) -> Callable[..., Any]:
        """Go on with the whole loop, waiting for the compiler while the clock stands still."""
        begun = time.perf_counter()
        self.loop, self.is_lean = obtain(entry_for(self.run)), False
        assert self.loop is not None, "the lean loop was compiled, so the whole one can be"
        self.handle = self._handle()
        self.recorder.seconds -= time.perf_counter() - begun
        return self.loop

    def close(self) -> Trace:
        """Return the trace of the run, after the last stretch."""
        run = self.run
        return self.recorder.close(
            run.prediction,
            run.tally.plays,
            np.empty(0) if run.tally.strategies is None else run.tally.strategies,
            np.empty((0, 0)) if run.tally.weighed is None else run.tally.weighed,
            float(run.tally.totals[ABSENT]),
        )


def play(learner: Learner, game: Game, seed: np.random.SeedSequence) -> Trace:
    """Play a learner through a whole game by the compiled loop."""
    run = EngineRun(learner, game, seed)
    for stretch in game.stretches():
        run.play(stretch)
    return run.close()
