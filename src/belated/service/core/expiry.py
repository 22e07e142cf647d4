"""Expiry: when a ticket expires, and with which outcome.

A problem may set `expire_after` (rounds) and `expire_seconds`. The deadlines of a ticket are fixed
when it is decided, and written into the journal with its decision. The commit thread takes the
tickets that are due (`open_tickets`) with every batch, and at least every `commit_thread.TICK`
seconds, by a clock that mistrusts jumps (`clock`). It gives each an outcome of the kind "expired"
with the problem's `default_loss`, from which the learner learns as from any other loss. A report
that comes later is noted (`late_reports`) and changes nothing.

The first named outcome of a ticket sets its deadline again (`outcomes.rules`); at that one the
ticket is told what the rule says.
"""

from collections.abc import Iterator

from belated.asktell.ticket_rules import expiry_round
from belated.service.core.problems import ServedProblem
from belated.service.core.replica import Replica
from belated.service.core.reports import EXPIRED, settled
from belated.service.store import Outcome
from belated.service.tickets.open_plays import OpenPlay

MOST_AT_ONCE = 500  # tickets that expire in one batch


def deadlines(problem: ServedProblem, round_: int, now: float) -> tuple[float | None, int | None]:
    """The time and the round at which a ticket decided now expires; None: it never does."""
    seconds, rounds = problem.expire_seconds, problem.expire_after
    return (
        None if seconds is None else now + seconds,
        None if rounds is None else expiry_round(round_, rounds),
    )


def expired_outcomes(
    replica: Replica, ticket: str, play: OpenPlay, now: float
) -> Iterator[Outcome]:
    """The outcomes with which a ticket expires: one for each arm that its play still waits for.

    A ticket with named outcomes counts as told with what their rule says.
    """
    told = replica.named.of(ticket)
    for arm in replica.arms_waiting(play):
        if told:
            yield settled(replica.problem, arm, told, now)
            continue
        yield Outcome(ticket, arm, EXPIRED, replica.problem.default_loss, now)
