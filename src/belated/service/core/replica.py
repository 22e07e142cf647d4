"""A replica: one problem's learner as the fold of its journal.

The fold is deterministic, so that all who fold the same events in the same order hold the same
state, bit for bit. Whoever decides predicts from a replica and writes down the probability; the
fold then puts that number in the place of its own, since a loss must be weighed by the probability
that was in force when its arm was drawn.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.asktell.options import ROUNDS_AT_ONCE
from belated.asktell.ticket_rules import learned_missing
from belated.compiled.ask_tell import NO_ARM
from belated.learners.contract import Learner
from belated.service.core.arms import ARMS, Lineup, in_words
from belated.service.core.problems import Served, rearmed
from belated.service.core.stats import Sight
from belated.service.store import START, Decision, Note, Outcome, Position

ACTIVE, PAUSED, ARCHIVED = "active", "paused", "archived"
LATE = "late"
STATUS_AFTER = {"paused": PAUSED, "resumed": ACTIVE, "archived": ARCHIVED}
GONE = -2  # the place of a bandit's arm that was removed


class OpenPlay(NamedTuple):
    """A play that is not answered: what was in force, a row for each loss it waits for.

    The place of a bandit's arm is `arm`. Experts have NO_ARM, and `waits` says for which of them
    nothing has come. `gone` names arms that were removed while they were waited for: what comes of
    them is written down and teaches nothing.
    """

    round: int
    at: float
    arm: int
    expires_at: float
    expires_round: float
    rows: Floats
    waits: Any
    gone: tuple[str, ...] = ()

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
        self.lineup = Lineup.first(problem.arms)
        self.sight = Sight(self.lineup)
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
        else:
            self._noted(body)
        self.since += 1

    def _noted(self, note: Note) -> None:
        ticket, arm = note.payload.get("ticket", ""), note.payload.get("arm")
        if note.kind in STATUS_AFTER:
            self.status = STATUS_AFTER[note.kind]
        elif note.kind == ARMS:
            self._rearm(self.lineup.after(note.payload))
            arm = in_words(note.payload)
        self.late += note.kind == LATE
        self.sight.remember(note.at, note.kind, ticket, arm, None)

    def _decided(self, decision: Decision) -> None:
        weights, arm, waits = self.weights(), NO_ARM, None
        gone: tuple[str, ...] = ()
        self.round += 1
        self.sight.decide(self.round, decision.at, decision.arm, weights)
        if decision.arm is None:
            waits, gone = self._weighed(decision.weights or {})
        elif (arm := self.problem.places.get(decision.arm, GONE)) != GONE:
            weights[arm] = decision.probability
        else:  # by a worker that did not know yet that the arm is removed
            gone = (decision.arm,)
        if arm == GONE:
            rows = np.zeros((1, self.learner.play_width))
        else:
            self._predicted = False
            rows = self.learner.commit(self.state, self._prediction, arm)
        self.open[decision.ticket] = OpenPlay(
            self.round,
            decision.at,
            arm,
            np.inf if decision.expires_at is None else decision.expires_at,
            np.inf if decision.expires_round is None else decision.expires_round,
            rows,
            waits,
            gone,
        )
        if self.round % ROUNDS_AT_ONCE == 0:
            self.state = self.learner.reserved(self.state, ROUNDS_AT_ONCE)
        self.sight.remember(
            decision.at, "decided", decision.ticket, decision.arm, decision.probability
        )

    def _weighed(self, weights: Mapping[str, float]) -> tuple[Any, tuple[str, ...]]:
        """Which of the experts a decision waits for, and for which that are gone already."""
        places = self.problem.places
        if weights.keys() == places.keys():
            return np.ones(len(places), dtype=np.bool_), ()
        waits = np.array([arm in weights for arm in places])
        return waits, tuple(arm for arm in weights if arm not in places)

    def _came(self, outcome: Outcome) -> None:
        play = self.open[outcome.ticket]
        if outcome.arm not in play.gone:
            self._learn(outcome, play)
        if outcome.kind == "told" and outcome.loss is not None:
            rounds, seconds = self.round - play.round, outcome.at - play.at
            self.sight.learn(outcome.arm, outcome.loss, rounds, seconds)
        else:
            self.sight.end(outcome.arm, outcome.kind)
        self._answered(outcome, play)
        self.sight.remember(outcome.at, outcome.kind, outcome.ticket, outcome.arm, outcome.loss)

    def _learn(self, outcome: Outcome, play: OpenPlay) -> None:
        arm = self.problem.places[outcome.arm]
        self._predicted = False
        row = play.row_of(arm)
        if outcome.kind == "cancelled":
            self.learner.withdraw(self.state, row, arm)
        else:
            assert outcome.loss is not None
            missing = learned_missing(self.learner, outcome.missing, row)
            self.learner.observe(self.state, row, arm, outcome.loss, missing)

    def _answered(self, outcome: Outcome, play: OpenPlay) -> None:
        if play.arm == NO_ARM:
            gone = play.gone
            if outcome.arm in gone:
                gone = tuple(name for name in gone if name != outcome.arm)
                self.open[outcome.ticket] = play._replace(gone=gone)
            else:
                play.waits[self.problem.places[outcome.arm]] = False
            if gone or play.waits.any():
                return
        del self.open[outcome.ticket]

    def _rearm(self, lineup: Lineup) -> None:
        """Go on with other arms; plays of those that are removed teach nothing any more."""
        stay = set(lineup.arms)
        kept = [place for place, arm in enumerate(self.problem.arms) if arm in stay]
        moved, added = {old: new for new, old in enumerate(kept)}, len(lineup.arms) - len(kept)
        for ticket, play in self.open.items():
            self.open[ticket] = self._for_other_arms(play, moved, added)
        self.state = self.learner.with_arms(self.state, kept, added)
        self.lineup, self.problem = lineup, rearmed(self.problem, lineup.arms)
        self.learner = self.problem.learner
        self._prediction = self.learner.blank().brief()
        self._predicted = False
        self.sight.rearm(lineup)

    def _for_other_arms(self, play: OpenPlay, moved: dict[int, int], added: int) -> OpenPlay:
        """An open play under other arms; what waits for one that is removed is withdrawn."""
        arms = self.problem.arms
        if play.arm == NO_ARM:
            kept = list(moved)
            left = [int(place) for place in np.flatnonzero(play.waits) if place not in moved]
            rows = np.zeros((len(kept) + added, self.learner.play_width))
            waits = np.zeros(len(rows), dtype=np.bool_)
            rows[: len(kept)], waits[: len(kept)] = play.rows[kept], play.waits[kept]
            other = play._replace(rows=rows, waits=waits)
        elif play.arm == GONE or play.arm in moved:
            return play._replace(arm=moved.get(play.arm, GONE))
        else:
            left, other = [play.arm], play._replace(arm=GONE)
        for place in left:
            self.learner.withdraw(self.state, play.row_of(place), place)
        return other._replace(gone=(*play.gone, *(arms[place] for place in left)))

    def played(self, ticket: str) -> str | None:
        """The arm of an open play; None if all were weighed."""
        play = self.open[ticket]
        if play.arm == NO_ARM:
            return None
        return play.gone[0] if play.arm == GONE else self.problem.arms[play.arm]

    def waits_for(self, ticket: str, arm: str) -> bool:
        """Whether an outcome of this arm of a ticket would be the first one."""
        play, place = self.open.get(ticket), self.problem.places.get(arm)
        if play is None or place is None or arm in play.gone:
            return play is not None and arm in play.gone
        return play.arm == place if play.arm != NO_ARM else bool(play.waits[place])

    def arms_waiting(self, ticket: str) -> list[str]:
        """The arms of a ticket of which nothing has come."""
        play, arms = self.open[ticket], self.problem.arms
        if play.arm != NO_ARM:
            return [self.played(ticket) or ""]
        return [*(arms[place] for place in np.flatnonzero(play.waits)), *play.gone]

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
