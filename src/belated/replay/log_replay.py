"""What a learner would have predicted along a log of decisions that somebody else made."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Floats
from belated.learners.contract import Learner
from belated.replay.logs import Change, Log, Row
from belated.types import Setting


class Course:
    """A learner along a log: its state, the place of each arm in it, and the plays that wait."""

    def __init__(self, log: Log, learner: Learner) -> None:
        self.learner = learner
        self.state = learner.reserved(learner.start(), len(log.rounds))
        self.places = {arm: place for place, arm in enumerate(log.first)}
        self.waiting: dict[tuple[int, int], Floats] = {}

    def play(self, rows: list[Row]) -> NDArray[np.float64]:
        """A round as the log has it; returns q of the arms there are.

        Of an arm that is removed already nothing is learned.
        """
        prediction = self.learner.predict(self.state)
        q = prediction.q.copy()
        if self.learner.setting is Setting.FULL_INFORMATION:
            plays = self.learner.commit(self.state, prediction)
            for row in rows:
                if row.arm in self.places:
                    self.waiting[row.round, row.arm] = plays[self.places[row.arm]]
        elif rows[0].arm in self.places:
            place = self.places[rows[0].arm]
            prediction.q[place] = rows[0].probability
            play = self.learner.commit(self.state, prediction, place)[0]
            self.waiting[rows[0].round, rows[0].arm] = play
        return q

    def end(self, row: Row) -> None:
        """What a row waited for has come, or was withdrawn."""
        play = self.waiting.pop((row.round, row.arm), None)
        if play is None:
            return
        place = self.places[row.arm]
        if row.withdrawn:
            self.learner.withdraw(self.state, play, place)
        else:
            self.learner.observe(self.state, play, place, row.loss, row.missing)

    def change(self, change: Change) -> None:
        """Arms are removed, of which nothing is waited for any more, and others added."""
        for round_, arm in [each for each in self.waiting if each[1] in change.removed]:
            play = self.waiting.pop((round_, arm))
            self.learner.withdraw(self.state, play, self.places[arm])
        stay = {arm: place for arm, place in self.places.items() if arm not in change.removed}
        added = [arm for arm in change.added if arm not in stay]
        self.state = self.learner.with_arms(self.state, list(stay.values()), len(added))
        self.places = {arm: place for place, arm in enumerate([*stay, *added])}
        self.learner = replace(self.learner, arms=len(self.places))


def replay_log(
    log: Log, learner: Learner, progress: Callable[[], None] = lambda: None
) -> NDArray[np.float64]:
    """q_t of a learner that was fed the log, for all arms there ever were; 0 while one is none.

    Its estimates use the probabilities of the log.
    """
    course = Course(log, learner)
    weights = np.zeros((len(log.rounds), len(log.arms)))
    coming: dict[int, list[Any]] = {}
    for change in log.changes:
        coming.setdefault(change.round, []).append(change)
    for change in coming.pop(0, ()):
        course.change(change)
    for t, rows in enumerate(log.rounds, 1):
        present = list(course.places)
        weights[t - 1, present] = course.play(rows)
        for row in rows:
            if row.arrival is not None:
                coming.setdefault(row.arrival, []).append(row)
        for happened in sorted(coming.pop(t, ()), key=lambda each: each.event):
            if isinstance(happened, Change):
                course.change(happened)
            else:
                course.end(happened)
        progress()
    return weights
