"""What is known of the tickets in a batch before it is committed.

A ticket that is open in a replica is known from there, and one that this worker has just decided
from memory. Only closed and unknown tickets are read from the store, all of a batch in one query.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from belated.service.core.errors import (
    NotFoundError,
    RequestError,
    TicketRetainedError,
    UnavailableError,
)
from belated.service.core.problems import ServedProblem
from belated.service.core.replica import Replica
from belated.service.core.replicas import Replicas
from belated.service.core.requests import Allowed, Cancel, Request, Tell, TicketReport
from belated.service.core.retained import day_of
from belated.service.store import START, DamagedTicket, Outcome, Retention, Store, TicketRecord
from belated.service.tickets.open_plays import OpenPlay
from belated.service.tickets.ticket_ids import time_of


class KnownTicket(NamedTuple):
    """A ticket: its problem, the arm that was played (experts: None), its round.

    `record` is what the store has of it, if it was read. `arms` are those that a report may be
    about, if none was played.
    """

    problem: ServedProblem
    played: str | None
    round: int
    record: TicketRecord | None
    arms: Collection[str] = ()

    def outcome(self, arm: str) -> Outcome | None:
        """The outcome of an arm, if the record has one."""
        outcomes = () if self.record is None else self.record.outcomes
        return next((each for each in outcomes if each.arm == arm), None)


class TicketLookup:
    """Finds the tickets of one batch, in the replicas or in the store."""

    def __init__(self, store: Store, replicas: Replicas) -> None:
        self._store, self._replicas = store, replicas
        self._known: dict[str, KnownTicket] = {}
        self._not_served: dict[str, str] = {}  # ticket -> its problem, which has no replica
        self._reached = Retention()
        self._damaged: dict[str, DamagedTicket] = {}

    def read(self, requests: Iterable[Request]) -> None:
        """Find all tickets that these requests are about."""
        unsure: set[str] = set()
        for request in requests:
            if isinstance(request, Tell):
                unsure |= {each.ticket for each in request.reports if not self._is_first(each)}
            elif isinstance(request, Cancel) and self._open(request.ticket) is None:
                unsure.add(request.ticket)
        records = self._store.tickets(unsure) if unsure else {}
        if lost := unsure - records.keys():
            self._damaged = self._store.damaged_tickets(lost)
            self._reached = self._store.checkpoints.reached()
        for ticket, record in records.items():
            decision = record.decision
            replica = self._replicas.found(decision.problem)
            if replica is None:
                if self._store.problem(decision.problem) is not None:
                    self._not_served[ticket] = decision.problem
                continue
            self._known[ticket] = KnownTicket(
                replica.problem, decision.arm, decision.round, record, decision.weights or ()
            )

    def ticket(self, ticket: str, allowed: Allowed) -> KnownTicket:
        """A ticket that was found; NotFoundError also if the caller may not know of it."""
        known, damaged = self._known.get(ticket), self._damaged.get(ticket)
        if damaged is not None and allowed(damaged.problem):
            raise unreadable(damaged)
        if ticket in self._not_served and allowed(self._not_served[ticket]):
            raise self._replicas.refusal(self._not_served[ticket])
        if known is None or not allowed(known.problem.name):
            raise unknown_ticket(ticket, self._reached)
        return known

    def _is_first(self, report: TicketReport) -> bool:
        """Whether the replica proves that nothing of this arm was told, so no query is needed."""
        held = self._open(report.ticket)
        if held is None:
            return self._is_own(report.ticket)
        replica, play = held
        arm = report.arm or self._known[report.ticket].played
        return (
            arm is None
            or arm not in replica.stats.places  # it never was an arm
            or replica.waits_for(play, arm)
        )

    def _is_own(self, ticket: str) -> bool:
        """Whether this worker has just decided for one arm, and not told of it; it is then known.

        Should another worker have told it, the store says so when this report is written.
        """
        decision = self._replicas.own_decision(ticket)
        replica = None if decision is None else self._replicas.by_name.get(decision.problem)
        if decision is None or decision.arm is None or replica is None:
            return False
        arms = [decision.arm]
        known = KnownTicket(replica.problem, decision.arm, decision.round, None, arms)
        self._known[ticket] = known
        return True

    def _open(self, ticket: str) -> tuple[Replica, OpenPlay] | None:
        """The replica in which a ticket is open, and its play; the ticket is then known."""
        held = self._replicas.holding(ticket)
        if held is not None and ticket not in self._known:
            replica, play = held
            played, arms = replica.played(play), replica.arms_waiting(play)
            self._known[ticket] = KnownTicket(replica.problem, played, play.round, None, arms)
        return held


def unknown_ticket(ticket: str, reached: Retention) -> RequestError:
    """The error for a ticket that is not found: it never was, or is folded into a checkpoint.

    The time in its id decides; whether there was such a ticket is not known any more.
    """
    decided = time_of(ticket)
    if reached.position == START or decided is None or decided > reached.until:
        return NotFoundError(f"there is no ticket {ticket!r}")
    return TicketRetainedError(
        f"ticket {ticket!r} is from {day_of(decided)}, and of tickets that were closed until "
        f"{day_of(reached.until)} only a checkpoint is kept; nothing can be told of it any more",
        counted=False,
    )


def unreadable(ticket: DamagedTicket) -> UnavailableError:
    """The error for whatever is asked of a ticket that cannot be read."""
    return UnavailableError(f"problem {ticket.problem!r} cannot be served: {ticket.reason}")
