"""A replica: one problem's learner as the fold of its journal.

The fold is deterministic: all workers that fold the same events in the same order hold the same
state, bit for bit. A worker that decides predicts from its replica and writes the probability into
the journal. The fold then uses the number in the journal instead of its own prediction, because a
loss must be divided by the probability that was in force when its arm was drawn.
"""

import logging
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Floats
from belated.asktell.contexts import Circumstances
from belated.asktell.options import ROUNDS_AT_ONCE
from belated.asktell.ticket_rules import learned_missing
from belated.compiled.dispatch import NO_ARM
from belated.learners.contextual.contextual_learner import FORETOLD
from belated.learners.contract import Learner
from belated.learners.driver import Driver
from belated.service.contexts import circumstances
from belated.service.core.arms import ARMS, ArmHistory, describe_change
from belated.service.core.problems import ServedProblem, with_arms, with_terms
from belated.service.core.retained import RETAINED, SEALED, describe_retained
from belated.service.core.stats import ProblemStats
from belated.service.core.status import ACTIVE, STATUS_AFTER
from belated.service.core.terms import TERMS, describe_terms
from belated.service.core.told_values import NOTHING_TOLD, ToldValue, late_value, value_of
from belated.service.outcomes.named_tickets import NamedTickets
from belated.service.store import START, Decision, NamedOutcome, Note, Outcome, Position
from belated.service.store.records import LATE, NAMED, Body
from belated.service.tickets.open_plays import NOWHERE, OpenPlay, OpenPlays
from belated.service.tickets.open_tickets import OpenTickets

log = logging.getLogger(__name__)

GONE = -2  # the place of a bandit's arm that was removed


class Replica:
    """The state of a problem after its latest folded event, and its open plays by ticket."""

    def __init__(self, problem: ServedProblem) -> None:
        self.problem = problem
        self._tickets = OpenTickets()  # those of all replicas, once it has joined them
        self.open = self._room_for_plays()
        self.named = NamedTickets()
        self.driver = Driver(problem.learner, room=ROUNDS_AT_ONCE)
        self.round = 0
        self.status = ACTIVE
        self.status_ahead: str | None = None  # committed by another worker, and not yet folded
        self.late_reports = 0
        self.retained: Mapping[str, Any] | None = None  # of the latest note about retention
        self.arm_history = ArmHistory.first(problem.arms)
        self.stats = ProblemStats(self.arm_history)
        self.position: Position = START
        self.begun_at: Position = START  # the checkpoint that was loaded, if one was
        self.events_since = 0  # events folded after that position
        self._said_concern = False
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

    def weights_in(self, given: Circumstances) -> Floats:
        """q of the coming round in these circumstances; the state stays as it is."""
        if not self.problem.takes_context:
            return self.driver.weights_among(given.eligible)
        self._consider(given)
        try:
            return self.weights().copy()
        finally:
            self.driver.consider(None)

    def _consider(self, given: Circumstances) -> None:
        """Tell the learner the circumstances of the coming round."""
        actions = () if given.actions is None else (given.actions,)
        self.driver.consider(given.coordinates, given.eligible, *actions)

    def given_with(self, decision: Decision) -> Circumstances:
        """The circumstances of a decision, in terms of the present arms."""
        context, actions, among = decision.context, decision.actions, decision.weights
        return circumstances(self.learner, self.problem.arms, context, among, actions)

    def fold(self, body: Body) -> None:
        """Take the next event of this problem into the state."""
        if isinstance(body, Decision):
            self._fold_decision(body)
        elif isinstance(body, Outcome):
            self._fold_outcome(body)
        elif isinstance(body, NamedOutcome):
            self._fold_named(body)
        else:
            self._fold_note(body)
        self.events_since += 1

    def move_to(self, position: Position) -> None:
        """Note that all events up to a position are folded."""
        self.position, self.events_since = position, 0

    def _fold_note(self, note: Note) -> None:
        if note.kind == SEALED:
            return
        ticket, arm = note.payload.get("ticket", ""), note.payload.get("arm")
        if note.kind in STATUS_AFTER:
            self.status = STATUS_AFTER[note.kind]
        elif note.kind == ARMS:
            self._change_arms(self.arm_history.after(note.payload))
            arm = describe_change(note.payload)
        elif note.kind == TERMS:
            self.problem = with_terms(self.problem, note.payload)
            self.driver.declare_silence(self.problem.default_loss)
            arm = describe_terms(note.payload)
        elif note.kind == RETAINED:
            self.retained = note.payload
            arm = describe_retained(note.payload)
        value = NOTHING_TOLD
        if note.kind == LATE:
            self.late_reports += 1
            value = late_value(note, self.problem.loss_range)
            self.stats.add_late(str(arm), value)
        self.stats.add_event(note.at, note.kind, ticket, arm, None, value)

    def _fold_decision(self, decision: Decision) -> None:
        self.round += 1
        if self.round & (self.round - 1) == 0:
            self._look_for_concern()
        self.stats.add_decision(self.round, decision.at, decision.arm, self.weights)
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
            rows = self._play(decision, arm)
        play = OpenPlay(
            self.round,
            decision.at,
            arm,
            np.inf if decision.expires_at is None else decision.expires_at,
            np.inf if decision.expires_round is None else decision.expires_round,
            rows,
            waits,
            gone,
        )
        self.hold(decision.ticket, play)
        self.stats.add_event(
            decision.at, "decided", decision.ticket, decision.arm, decision.probability
        )

    def _play(self, decision: Decision, arm: int) -> Floats:
        """Play the round of a decision; what was known of it does not stand for the next."""
        takes_context = self.problem.takes_context
        if takes_context:
            self._consider(self.given_with(decision))
        self.driver.tick(decision.at)
        rows = self.driver.play(arm, probability=decision.probability, branch=decision.branch)
        if takes_context:
            self.driver.consider(None)
        return rows

    def concern(self) -> str | None:
        """What the user should change about the problem, in one sentence; None if nothing."""
        return self.learner.concern(self.state, self.problem.loss_range)

    def _look_for_concern(self) -> None:
        """Log what the user should change, once."""
        concern = None if self._said_concern else self.concern()
        if concern is not None:
            self._said_concern = True
            log.warning("problem %r: %s", self.problem.name, concern)

    def hold(self, ticket: str, play: OpenPlay) -> None:
        """Take in an open play."""
        self._tickets.add(self, self.open.add(ticket, play))

    def restore_plays(
        self, arrays: Mapping[str, NDArray[Any]], gone: Mapping[str, list[str]]
    ) -> None:
        """Take in the open plays of a snapshot; there must be none yet."""
        self.open.restore(arrays, gone)
        self.join(self._tickets)

    def watch(self, ticket: str) -> None:
        """Look at the deadlines of an open ticket again, which was found to be due."""
        self._tickets.watch(self, self._tickets.slot(ticket, self))

    def _room_for_plays(self) -> OpenPlays:
        bandit, learner = self.problem.is_bandit, self.problem.learner
        shape = (1 if bandit else len(self.problem.arms), learner.row_width)
        return OpenPlays(shape, bandit, lambda ticket: self._tickets.slot(ticket, self))

    def _move_plays(self, plays: Iterable[tuple[str, OpenPlay]]) -> None:
        """Keep the open plays, as they are now, in new slots."""
        moved = list(plays)
        self._tickets.forget(self)
        self.open = self._room_for_plays()
        for ticket, play in moved:
            self.hold(ticket, play)

    def join(self, tickets: OpenTickets) -> None:
        """Keep the open plays in the list of all replicas from now on."""
        slots = self.open.slots()
        self._tickets = tickets
        for slot in slots:
            tickets.add(self, slot)

    def let_go(self) -> None:
        """Forget the open plays in the list of all replicas: this one is not used any more."""
        self._tickets.forget(self)

    def _weighed(self, weights: Mapping[str, float]) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
        """The present experts that a decision weighs, and those it weighs that were removed."""
        places = self.problem.places
        if weights.keys() == places.keys():
            return np.ones(len(places), dtype=np.bool_), ()
        waits = np.array([arm in weights for arm in places])
        return waits, tuple(arm for arm in weights if arm not in places)

    def _fold_outcome(self, outcome: Outcome) -> None:
        slot = self._tickets.slot(outcome.ticket, self)
        if slot == NOWHERE:
            raise KeyError(outcome.ticket)
        play = self.open.play_at(slot)
        if outcome.arm not in play.gone:
            self._learn(outcome, play)
        value = value_of(outcome, self.problem.loss_range)
        if outcome.kind == "told":
            rounds = self.round - play.round
            self.stats.add_told(outcome.arm, value, rounds, play.at, outcome.at)
            if self.problem.is_soft and outcome.raw is not None:
                within = self.problem.loss_range.clipped(outcome.raw)
                self.stats.add_clipped(outcome.arm, outcome.raw - within)
        elif outcome.kind == "expired":
            self.stats.add_expired(outcome.arm, value, play.at, outcome.at)
        else:
            self.stats.add_cancelled(outcome.arm, play.at)
        self._close(outcome, play, slot)
        self.stats.add_event(outcome.at, outcome.kind, outcome.ticket, outcome.arm, None, value)

    def _fold_named(self, named: NamedOutcome) -> None:
        """Keep a named outcome of an open ticket; the first one sets the ticket's deadline."""
        slot, rule = self._tickets.slot(named.ticket, self), self.problem.outcomes
        if slot == NOWHERE or rule is None:  # it was cancelled at the same moment
            return
        if self.named.add(named):
            play, until = self.open.play_at(slot), named.at + rule.revise_within
            self.open[named.ticket] = play._replace(expires_at=until, expires_round=np.inf)
            self._tickets.watch(self, slot)
        arm, value = self.played(self.open.play_at(slot)), ToldValue(None, named.reward, None)
        self.stats.add_event(named.at, f"{NAMED} {named.name}", named.ticket, arm, None, value)

    def _learn(self, outcome: Outcome, play: OpenPlay) -> None:
        arm = self.problem.places[outcome.arm]
        row = play.row_of(arm)
        self.driver.tick(outcome.at)
        if outcome.kind == "cancelled":
            self.driver.withdraw(row, arm)
        else:
            check_share("loss", outcome.loss)
            assert outcome.loss is not None
            if self.problem.takes_context:
                self.stats.calibration.add(float(row[FORETOLD]), 1.0 - outcome.loss)
            missing = learned_missing(self.learner, outcome.missing, row)
            self.driver.tell(row, arm, outcome.loss, missing)

    def _close(self, outcome: Outcome, play: OpenPlay, slot: int) -> None:
        """Close a play after its last outcome."""
        if play.arm == NO_ARM:
            gone, waits = play.gone, play.arms_waiting()
            if outcome.arm in gone:
                gone = tuple(name for name in gone if name != outcome.arm)
            else:
                waits[self.problem.places[outcome.arm]] = False
            if gone or waits.any():
                self.open[outcome.ticket] = play._replace(gone=gone, waits=waits)
                return
        self._tickets.remove(self, slot)
        self.open.free(slot)
        self.named.forget(outcome.ticket)
        if self.open.is_roomy:
            self._move_plays(self.open.items())

    def _change_arms(self, after: ArmHistory) -> None:
        """Continue with other arms; from open plays of removed arms nothing more is learned."""
        stay = set(after.arms)
        kept = [place for place, arm in enumerate(self.problem.arms) if arm in stay]
        moved, added = {old: new for new, old in enumerate(kept)}, len(after.arms) - len(kept)
        plays = [
            (ticket, self._with_other_arms(play, moved, added))
            for ticket, play in self.open.items()
        ]
        self.driver.change_arms(kept, added)
        self.arm_history, self.problem = after, with_arms(self.problem, after.arms)
        self._move_plays(plays)
        self.stats.change_arms(after)

    def _with_other_arms(self, play: OpenPlay, moved: dict[int, int], added: int) -> OpenPlay:
        """An open play after a change of arms; what waits for a removed arm is withdrawn."""
        arms = self.problem.arms
        if play.arm == NO_ARM:
            kept, waited = list(moved), play.arms_waiting()
            left = [int(place) for place in np.flatnonzero(waited) if place not in moved]
            rows = np.zeros((len(kept) + added, self.learner.row_width))
            waits = np.zeros(len(rows), dtype=np.bool_)
            rows[: len(kept)], waits[: len(kept)] = play.rows[kept], waited[kept]
            other = play._replace(rows=rows, waits=waits)
        elif play.arm == GONE or play.arm in moved:
            return play._replace(arm=moved.get(play.arm, GONE))
        else:
            left, other = [play.arm], play._replace(arm=GONE)
        for place in left:
            self.driver.withdraw(play.row_of(place), place)
        return other._replace(gone=(*play.gone, *(arms[place] for place in left)))

    def played(self, play: OpenPlay) -> str | None:
        """The arm of an open play; None if it weighs experts."""
        if play.arm == NO_ARM:
            return None
        return play.gone[0] if play.arm == GONE else self.problem.arms[play.arm]

    def waits_for(self, play: OpenPlay, arm: str) -> bool:
        """Whether an open play has no outcome of this arm."""
        place = self.problem.places.get(arm)
        if place is None or arm in play.gone:
            return arm in play.gone
        return play.arm == place if play.arm != NO_ARM else bool(play.arms_waiting()[place])

    def arms_waiting(self, play: OpenPlay) -> list[str]:
        """The arms of an open play that have no outcome."""
        played, arms = self.played(play), self.problem.arms
        if played is not None:
            return [played]
        return [*(arms[place] for place in np.flatnonzero(play.arms_waiting())), *play.gone]


def check_share(what: str, number: float | None) -> None:
    """Refuse a number of the journal that this service cannot have written."""
    if number is None or not 0.0 <= number <= 1.0:
        raise ValueError(f"its {what} is {number!r}; it must be from 0 to 1")
