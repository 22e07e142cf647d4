"""A replica: one problem's learner as the fold of its journal.

The fold is deterministic, so that all who fold the same events in the same order hold the same
state, bit for bit. Whoever decides predicts from a replica and writes down the probability; the
fold then puts that number in the place of its own, since a loss must be weighed by the probability
that was in force when its arm was drawn.
"""

from typing import Any, NamedTuple

import numpy as np

from belated.asktell import ROUNDS_AT_ONCE
from belated.kernels.steps import NO_ARM
from belated.learners.learner import Floats, Learner
from belated.learners.partially_concealed import PartiallyConcealed
from belated.service.problems import Served
from belated.service.sight import Sight
from belated.service.store import START, Decision, Note, Outcome, Position

ACTIVE, PAUSED, ARCHIVED = "active", "paused", "archived"
LATE = "late"
STATUS_AFTER = {"paused": PAUSED, "resumed": ACTIVE, "archived": ARCHIVED}
OUTSTANDING = 2  # where a partially concealed play keeps the unanswered plays of its arm


class OpenPlay(NamedTuple):
    """A play that is not answered: what was in force, a row for each loss it waits for.

    The place of a bandit's arm is `arm`. Experts have NO_ARM, and `waits` says for which of them
    nothing has come.
    """

    round: int
    at: float
    arm: int
    expires_at: float
    expires_round: float
    rows: Floats
    waits: Any

    def row_of(self, arm: int) -> Floats:
        """What was in force for an arm."""
        row: Floats = self.rows[0 if self.arm != NO_ARM else arm]
        return row


class Replica:
    """The state of a problem after so many events, and its open plays by ticket."""

    def __init__(self, problem: Served) -> None:
        self.problem = problem
        self.learner: Learner = problem.learner
        self.state = self.learner.reserved(self.learner.start(), ROUNDS_AT_ONCE)
        self.round = 0
        self.status = ACTIVE
        self.foretold: str | None = None  # a status that is committed, and not yet folded
        self.late = 0  # reports of plays that had expired
        self.open: dict[str, OpenPlay] = {}
        self.sight = Sight(len(problem.arms))
        self.position: Position = START
        self.since = 0  # events folded after that position
        self.handed_out = 0  # the last round that a decision of this process was given
        self._prediction = self.learner.blank().brief()
        self._predicted = False

    @property
    def version(self) -> str:
        """Which state this is: that at a position, and so many events later."""
        return f"{self.position}+{self.since}" if self.since else self.position

    @property
    def standing(self) -> str:
        """The status that is in force."""
        return self.foretold or self.status

    def weights(self) -> Floats:
        """q of the coming round; only to be read, and only until the next event is folded."""
        if not self._predicted:
            self.learner.verbs.predict(self.state, self._prediction)
            self._predicted = True
        return self._prediction.q

    def fold(self, body: Decision | Outcome | Note) -> None:
        """The next event of this problem."""
        if isinstance(body, Decision):
            self._decided(body)
        elif isinstance(body, Outcome):
            self._came(body)
        elif body.kind in STATUS_AFTER:
            self.status = STATUS_AFTER[body.kind]
        if isinstance(body, Note):
            ticket, arm = body.payload.get("ticket", ""), body.payload.get("arm")
            self.late += body.kind == LATE
            self.sight.remember(body.at, body.kind, ticket, arm, None)
        self.since += 1

    def _decided(self, decision: Decision) -> None:
        weights, arm = self.weights(), NO_ARM
        self.round += 1
        if decision.arm is None:
            self.sight.decide(self.round, decision.at, None, weights)
        else:
            arm = self.problem.places[decision.arm]
            self.sight.decide(self.round, decision.at, arm, weights)
            weights[arm] = decision.probability
        self._predicted = False
        rows = self.learner.commit(self.state, self._prediction, arm)
        self.open[decision.ticket] = OpenPlay(
            self.round,
            decision.at,
            arm,
            np.inf if decision.expires_at is None else decision.expires_at,
            np.inf if decision.expires_round is None else decision.expires_round,
            rows,
            None if arm != NO_ARM else np.ones(len(rows), dtype=np.bool_),
        )
        if self.round % ROUNDS_AT_ONCE == 0:
            self.state = self.learner.reserved(self.state, ROUNDS_AT_ONCE)
        self.sight.remember(
            decision.at, "decided", decision.ticket, decision.arm, decision.probability
        )

    def _came(self, outcome: Outcome) -> None:
        play, arm = self.open[outcome.ticket], self.problem.places[outcome.arm]
        self._predicted = False
        row = play.row_of(arm)
        if outcome.kind == "cancelled":
            self.learner.withdraw(self.state, row, arm)
            self.sight.cancelled[arm] += 1
        else:
            assert outcome.loss is not None
            missing = self._missing(outcome, row)
            self.learner.observe(self.state, row, arm, outcome.loss, missing)
        if outcome.kind == "told" and outcome.loss is not None:
            rounds, seconds = self.round - play.round, outcome.at - play.at
            self.sight.learn(arm, outcome.loss, rounds, seconds)
        elif outcome.kind == "expired":
            self.sight.expired[arm] += 1
        self._answered(outcome.ticket, play, arm)
        self.sight.remember(outcome.at, outcome.kind, outcome.ticket, outcome.arm, outcome.loss)

    def _missing(self, outcome: Outcome, row: Floats) -> int:
        """The missing count that was told; if none was, the learner's own unanswered plays."""
        if outcome.missing is not None:
            return outcome.missing
        return int(row[OUTSTANDING]) if isinstance(self.learner, PartiallyConcealed) else -1

    def _answered(self, ticket: str, play: OpenPlay, arm: int) -> None:
        if play.arm == NO_ARM:
            play.waits[arm] = False
            if play.waits.any():
                return
        del self.open[ticket]

    def waits_for(self, ticket: str, arm: str) -> bool:
        """Whether an outcome of this arm of a ticket would be the first one."""
        play, place = self.open.get(ticket), self.problem.places.get(arm)
        if play is None or place is None:
            return False
        return play.arm == place if play.arm != NO_ARM else bool(play.waits[place])

    def arms_waiting(self, ticket: str) -> list[str]:
        """The arms of a ticket of which nothing has come."""
        play, arms = self.open[ticket], self.problem.arms
        if play.arm != NO_ARM:
            return [arms[play.arm]]
        return [arms[place] for place in np.flatnonzero(play.waits)]

    def due(self, now: float, most: int) -> list[str]:
        """Open tickets that have expired, the oldest first."""
        found: list[str] = []
        if not self.problem.expires:
            return found
        for ticket, play in self.open.items():  # in the order of their rounds
            waits = play.expires_at > now and play.expires_round > self.round
            if waits or len(found) == most:
                break
            found.append(ticket)
        return found
