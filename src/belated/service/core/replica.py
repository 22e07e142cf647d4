"""A replica: one problem's learner as the fold of its journal.

The fold is deterministic: all workers that fold the same events in the same order hold the same
state, bit for bit. A worker that decides predicts from its replica and writes the probability into
the journal. The fold then uses the number in the journal instead of its own prediction, because a
loss must be divided by the probability that was in force when its arm was drawn.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Floats
from belated.asktell.options import ROUNDS_AT_ONCE
from belated.asktell.ticket_rules import learned_missing
from belated.compiled.dispatch import NO_ARM
from belated.learners.contract import Learner
from belated.learners.driver import Driver
from belated.service.core.arms import ARMS, ArmHistory, describe_change
from belated.service.core.open_tickets import OpenTickets
from belated.service.core.problems import ServedProblem, with_arms, with_terms
from belated.service.core.stats import ProblemStats
from belated.service.core.status import ACTIVE, STATUS_AFTER
from belated.service.core.terms import TERMS, describe_terms
from belated.service.core.told_values import NOTHING_TOLD, late_value, value_of
from belated.service.store import START, Decision, Note, Outcome, Position

LATE = "late"  # the kind of note about a report that came after its ticket had expired
GONE = -2  # the place of a bandit's arm that was removed


class OpenPlay(NamedTuple):
    """A play that waits for outcomes: `rows` has what was in force for each loss it waits for.

    `arm` is the place of a bandit's arm, and its one row is kept as bytes, which take a third of
    the memory of an array. Experts have NO_ARM, and `waits` says which of them have no outcome yet.
    `gone` names arms that were removed while the play waited for them: their outcomes are written
    into the journal, but the learner learns nothing from them.
    """

    round: int
    at: float
    arm: int
    expires_at: float
    expires_round: float
    rows: Floats | bytes
    waits: NDArray[np.bool_] | None
    gone: tuple[str, ...] = ()

    def row_of(self, arm: int) -> Floats:
        """The row with what was in force for an arm."""
        if isinstance(self.rows, bytes):
            return np.frombuffer(self.rows)
        row: Floats = self.rows[arm]
        return row

    def expert_rows(self) -> Floats:
        """What was in force for each expert; only plays of experts have this."""
        assert not isinstance(self.rows, bytes)
        return self.rows

    def arms_waiting(self) -> NDArray[np.bool_]:
        """Which experts have no outcome yet, by place; only plays of experts have this."""
        assert self.waits is not None
        return self.waits


class Replica:
    """The state of a problem after its latest folded event, and its open plays by ticket."""

    def __init__(self, problem: ServedProblem) -> None:
        self.problem = problem
        self._tickets = OpenTickets()  # those of all replicas, once it has joined them
        self.driver = Driver(problem.learner, room=ROUNDS_AT_ONCE)
        self.round = 0
        self.status = ACTIVE
        self.status_ahead: str | None = None  # committed by another worker, and not yet folded
        self.late_reports = 0
        self.open: dict[str, OpenPlay] = {}
        self.arm_history = ArmHistory.first(problem.arms)
        self.stats = ProblemStats(self.arm_history)
        self.position: Position = START
        self.events_since = 0  # events folded after that position
        self.last_round_decided = 0  # by this process; its decisions may not be folded yet

    @property
    def learner(self) -> Learner:
        """The learner, with the present arms."""
        return self.driver.learner

    @property
    def state(self) -> Any:
        """The state of the learner."""
        return self.driver.state

    @property
    def version(self) -> str:
        """Which state this is: the one at a position, and so many events later."""
        return f"{self.position}+{self.events_since}" if self.events_since else self.position

    @property
    def status_in_force(self) -> str:
        """The status of the problem, including a change that is committed and not yet folded."""
        return self.status_ahead or self.status

    def weights(self) -> Floats:
        """q of the coming round; read-only, and valid until the next event is folded."""
        return self.driver.weights()

    def fold(self, body: Decision | Outcome | Note) -> None:
        """Take the next event of this problem into the state."""
        if isinstance(body, Decision):
            self._fold_decision(body)
        elif isinstance(body, Outcome):
            self._fold_outcome(body)
        else:
            self._fold_note(body)
        self.events_since += 1

    def move_to(self, position: Position) -> None:
        """Note that all events up to a position are folded."""
        self.position, self.events_since = position, 0

    def _fold_note(self, note: Note) -> None:
        ticket, arm = note.payload.get("ticket", ""), note.payload.get("arm")
        if note.kind in STATUS_AFTER:
            self.status = STATUS_AFTER[note.kind]
        elif note.kind == ARMS:
            self._change_arms(self.arm_history.after(note.payload))
            arm = describe_change(note.payload)
        elif note.kind == TERMS:
            self.problem = with_terms(self.problem, note.payload)
            arm = describe_terms(note.payload)
        value = NOTHING_TOLD
        if note.kind == LATE:
            self.late_reports += 1
            value = late_value(note, self.problem.loss_range)
            self.stats.add_late(str(arm), value)
        self.stats.add_event(note.at, note.kind, ticket, arm, None, value)

    def _fold_decision(self, decision: Decision) -> None:
        self.round += 1
        self.stats.add_decision(self.round, decision.at, decision.arm, self.weights())
        arm, waits = NO_ARM, None
        gone: tuple[str, ...] = ()
        if decision.arm is None:
            waits, gone = self._weighed(decision.weights or {})
        elif (arm := self.problem.places.get(decision.arm, GONE)) == GONE:
            gone = (decision.arm,)  # decided by a worker that did not know of the removal yet
        if arm == GONE:
            rows = np.zeros((1, self.learner.row_width))
        else:
            check_share("probability", decision.probability if arm != NO_ARM else 1.0)
            rows = self.driver.play(arm, probability=decision.probability)
        in_force = rows if arm == NO_ARM else rows.tobytes()
        play = OpenPlay(
            self.round,
            decision.at,
            arm,
            np.inf if decision.expires_at is None else decision.expires_at,
            np.inf if decision.expires_round is None else decision.expires_round,
            in_force,
            waits,
            gone,
        )
        self.hold(decision.ticket, play)
        self.stats.add_event(
            decision.at, "decided", decision.ticket, decision.arm, decision.probability
        )

    def hold(self, ticket: str, play: OpenPlay) -> None:
        """Take in an open play."""
        self.open[ticket] = play
        self._tickets.add(ticket, self, play.expires_at, play.expires_round)

    def join(self, tickets: OpenTickets) -> None:
        """Keep the open plays in the list of all replicas from now on."""
        self._tickets = tickets
        for ticket, play in self.open.items():
            tickets.add(ticket, self, play.expires_at, play.expires_round)

    def let_go(self) -> None:
        """Forget the open plays in the list of all replicas: this one is not used any more."""
        self._tickets.forget(self, self.open)

    def _weighed(self, weights: Mapping[str, float]) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
        """The present experts that a decision weighs, and those it weighs that were removed."""
        places = self.problem.places
        if weights.keys() == places.keys():
            return np.ones(len(places), dtype=np.bool_), ()
        waits = np.array([arm in weights for arm in places])
        return waits, tuple(arm for arm in weights if arm not in places)

    def _fold_outcome(self, outcome: Outcome) -> None:
        play = self.open[outcome.ticket]
        if outcome.arm not in play.gone:
            self._learn(outcome, play)
        value = value_of(outcome, self.problem.loss_range)
        rounds, seconds = self.round - play.round, outcome.at - play.at
        if outcome.kind == "told":
            self.stats.add_told(outcome.arm, value, rounds, seconds)
        elif outcome.kind == "expired":
            self.stats.add_expired(outcome.arm, value, seconds)
        else:
            self.stats.add_cancelled(outcome.arm)
        self._close(outcome, play)
        self.stats.add_event(outcome.at, outcome.kind, outcome.ticket, outcome.arm, None, value)

    def _learn(self, outcome: Outcome, play: OpenPlay) -> None:
        arm = self.problem.places[outcome.arm]
        row = play.row_of(arm)
        if outcome.kind == "cancelled":
            self.driver.withdraw(row, arm)
        else:
            check_share("loss", outcome.loss)
            assert outcome.loss is not None
            missing = learned_missing(self.learner, outcome.missing, row)
            self.driver.tell(row, arm, outcome.loss, missing)

    def _close(self, outcome: Outcome, play: OpenPlay) -> None:
        """Close a play after its last outcome."""
        if play.arm == NO_ARM:
            gone, waits = play.gone, play.arms_waiting()
            if outcome.arm in gone:
                gone = tuple(name for name in gone if name != outcome.arm)
                self.open[outcome.ticket] = play._replace(gone=gone)
            else:
                waits[self.problem.places[outcome.arm]] = False
            if gone or waits.any():
                return
        del self.open[outcome.ticket]
        self._tickets.remove(outcome.ticket)

    def _change_arms(self, after: ArmHistory) -> None:
        """Continue with other arms; from open plays of removed arms nothing more is learned."""
        stay = set(after.arms)
        kept = [place for place, arm in enumerate(self.problem.arms) if arm in stay]
        moved, added = {old: new for new, old in enumerate(kept)}, len(after.arms) - len(kept)
        for ticket, play in self.open.items():
            self.open[ticket] = self._with_other_arms(play, moved, added)
        self.driver.change_arms(kept, added)
        self.arm_history, self.problem = after, with_arms(self.problem, after.arms)
        self.stats.change_arms(after)

    def _with_other_arms(self, play: OpenPlay, moved: dict[int, int], added: int) -> OpenPlay:
        """An open play after a change of arms; what waits for a removed arm is withdrawn."""
        arms = self.problem.arms
        if play.arm == NO_ARM:
            kept, waited = list(moved), play.arms_waiting()
            left = [int(place) for place in np.flatnonzero(waited) if place not in moved]
            rows = np.zeros((len(kept) + added, self.learner.row_width))
            waits = np.zeros(len(rows), dtype=np.bool_)
            rows[: len(kept)], waits[: len(kept)] = play.expert_rows()[kept], waited[kept]
            other = play._replace(rows=rows, waits=waits)
        elif play.arm == GONE or play.arm in moved:
            return play._replace(arm=moved.get(play.arm, GONE))
        else:
            left, other = [play.arm], play._replace(arm=GONE)
        for place in left:
            self.driver.withdraw(play.row_of(place), place)
        return other._replace(gone=(*play.gone, *(arms[place] for place in left)))

    def played(self, ticket: str) -> str | None:
        """The arm of an open play; None if it weighs experts."""
        play = self.open[ticket]
        if play.arm == NO_ARM:
            return None
        return play.gone[0] if play.arm == GONE else self.problem.arms[play.arm]

    def waits_for(self, ticket: str, arm: str) -> bool:
        """Whether a ticket is open and has no outcome of this arm."""
        play, place = self.open.get(ticket), self.problem.places.get(arm)
        if play is None or place is None or arm in play.gone:
            return play is not None and arm in play.gone
        return play.arm == place if play.arm != NO_ARM else bool(play.arms_waiting()[place])

    def arms_waiting(self, ticket: str) -> list[str]:
        """The arms of an open ticket that have no outcome."""
        play, arms = self.open[ticket], self.problem.arms
        if play.arm != NO_ARM:
            return [self.played(ticket) or ""]
        return [*(arms[place] for place in np.flatnonzero(play.arms_waiting())), *play.gone]


def check_share(what: str, number: float | None) -> None:
    """Refuse a number of the journal that this service cannot have written."""
    if number is None or not 0.0 <= number <= 1.0:
        raise ValueError(f"its {what} is {number!r}; it must be from 0 to 1")
