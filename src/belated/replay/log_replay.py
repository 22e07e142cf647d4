"""The predictions that a learner would have made along another program's log of decisions."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Floats
from belated.learners.contextual.contextual_learner import ContextualLearner
from belated.learners.contextual.linear_shared import LinearShared
from belated.learners.contract import Learner, TrustStanding
from belated.learners.driver import Driver
from belated.replay.logs import ArmChange, Log, LogRow


class LogPredictions(NamedTuple):
    """What a learner would have predicted along a log.

    `weights` has q_t of each round in a row, with a column for each arm that ever exists, which is
    0 while the arm is absent. `trust` has where certified trust stands at the start of each round,
    with the arms that are present there; it is empty if nothing is certified.
    """

    weights: Floats
    trust: list[TrustStanding]


class LogReplay:
    """A learner that is driven along a log, with its outstanding plays.

    It also keeps the place of each arm in the learner's state, since arms may come and go.
    """

    def __init__(self, log: Log, learner: Learner) -> None:
        self.driver = Driver(learner, room=len(log.rounds))
        self.names = log.arms
        self.places = {arm: place for place, arm in enumerate(log.first)}
        self.outstanding: dict[tuple[int, int], Floats] = {}

    def play(self, rows: list[LogRow]) -> NDArray[np.float64]:
        """Play a round, and return q of the present arms.

        A bandit plays the arm of the log, with the probability of the log. Nothing is learned from
        a play of an arm that has been removed.
        """
        self.consider(rows[0])
        q = self.driver.weights().copy()
        self._tick(rows[0].decided_at)
        if not self.driver.is_bandit:
            plays = self.driver.play()
            for row in rows:
                if row.arm in self.places:
                    self.outstanding[row.round, row.arm] = plays[self.places[row.arm]]
        elif rows[0].arm in self.places:
            place = self.places[rows[0].arm]
            [play] = self.driver.play(place, probability=rows[0].probability)
            self.outstanding[rows[0].round, rows[0].arm] = play
        return q

    def consider(self, row: LogRow) -> None:
        """Tell the context of a round, its arms and their features, to a learner with these.

        An error names the round of what the learner does not take.
        """
        learner = self.driver.learner
        if not isinstance(learner, ContextualLearner):
            return
        coordinates, eligible = None, None
        actions: tuple[Floats, ...] = ()
        present = [self.names[arm] for arm in self.places]
        try:
            if row.context is not None:
                coordinates = learner.encoder.encode(row.context)
            if row.actions is not None and isinstance(learner, LinearShared):
                actions = (learner.features_of(present, row.actions),)
        except ValueError as error:
            raise ValueError(f"round {row.round}: {error}") from None
        if row.among is not None:
            eligible = np.array([float(arm in row.among) for arm in present])
        self.driver.consider(coordinates, eligible, *actions)

    def trust(self) -> TrustStanding | None:
        """Return where certified trust stands before the coming round; None without it."""
        return self.driver.learner.trust(self.driver.state)

    def end(self, row: LogRow) -> None:
        """Tell the loss of a row that has arrived, or withdraw its play."""
        play = self.outstanding.pop((row.round, row.arm), None)
        if play is None:
            return
        place = self.places[row.arm]
        self._tick(row.told_at)
        if row.withdrawn:
            self.driver.withdraw(play, place)
        else:
            self.driver.tell(play, place, row.loss, row.missing)

    def _tick(self, seconds: float) -> None:
        """Tell the time, if the log has it."""
        if math.isfinite(seconds):
            self.driver.tick(seconds)

    def change(self, change: ArmChange) -> None:
        """Remove arms, whose outstanding plays are withdrawn, and add others."""
        for round_, arm in [each for each in self.outstanding if each[1] in change.removed]:
            self.driver.withdraw(self.outstanding.pop((round_, arm)), self.places[arm])
        kept = {arm: place for arm, place in self.places.items() if arm not in change.removed}
        added = [arm for arm in change.added if arm not in kept]
        self.driver.change_arms(list(kept.values()), len(added))
        self.places = {arm: place for place, arm in enumerate([*kept, *added])}


def replay_log(
    log: Log, learner: Learner, progress: Callable[[], None] = lambda: None
) -> LogPredictions:
    """Return the predictions of a learner that is told the losses of a log.

    The learner's estimates, and its account of Theorem 4, use the probabilities of the log.
    """
    if learner.takes_advice:
        raise ValueError(
            f"learner is {learner.name!r} with policies; a log has no advice, so leave policies out"
        )
    course = LogReplay(log, learner)
    weights, trust = np.zeros((len(log.rounds), len(log.arms))), list[TrustStanding]()
    coming: dict[int, list[Any]] = {}
    for change in log.changes:
        coming.setdefault(change.round, []).append(change)
    for change in coming.pop(0, ()):
        course.change(change)
    for t, rows in enumerate(log.rounds, 1):
        present, standing = list(course.places), course.trust()
        trust += [] if standing is None else [standing]
        weights[t - 1, present] = course.play(rows)
        for row in rows:
            if row.arrival is not None:
                coming.setdefault(row.arrival, []).append(row)
        for happened in sorted(coming.pop(t, ()), key=lambda each: each.event):
            if isinstance(happened, ArmChange):
                course.change(happened)
            else:
                course.end(happened)
        progress()
    return LogPredictions(weights, trust)
