"""The ticket book of a session: which tickets are open, and what became of the others.

Open tickets are kept as long as they are open. Of the closed ones the book remembers the last few,
so that a repeated report can be told from one that contradicts. It remembers as many tickets as the
user wants, but never more than 100,000 losses, since a ticket of many experts holds many.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.asktell.ticket_rules import NO_MISSING, expiring_with, in_words, losses_differ
from belated.checks import LossRange
from belated.types import ClosedTicketError, Ticket, TicketState, UnknownTicketError

MOST_LOSSES_REMEMBERED = 100_000
UNTOLD = float("nan")


class LossReports(NamedTuple):
    """Losses in [0, 1] as they were told, with their places in a ticket; a bandit's has one place.

    `missing` is the missing count told with them, or -1.
    """

    places: Counts
    losses: Floats
    missing: int = NO_MISSING

    def in_words(self, place: int, loss_range: LossRange) -> str:
        """What was reported in one place, for a message: a loss in the user's units."""
        loss = loss_range.loss_of(float(self.losses[self.places == place][0]))
        return in_words(f"loss {loss!r}", self.missing)


class ToldLosses(NamedTuple):
    """What was reported of a ticket so far: a loss for each of its places, NaN for none."""

    losses: Floats
    missing: int = NO_MISSING

    def new_in(self, reports: LossReports) -> LossReports:
        """Those reports whose places were not told before."""
        known = ~np.isnan(self.losses[reports.places])
        if not known.any():
            return reports
        return reports._replace(places=reports.places[~known], losses=reports.losses[~known])

    def contradicted_by(self, reports: LossReports) -> int | None:
        """The first place for which something else was told before; None if there is none."""
        before = self.losses[reports.places]
        differ = losses_differ(before, reports.losses)
        if reports.missing != self.missing:
            differ |= ~np.isnan(before)
        return int(reports.places[differ.argmax()]) if differ.any() else None

    def with_more(self, new: LossReports) -> "ToldLosses":
        """What was reported before together with what is reported now."""
        if len(new.places) == len(self.losses):
            losses = np.empty_like(self.losses)
        else:
            losses = self.losses.copy()
        losses[new.places] = new.losses
        return ToldLosses(losses, new.missing if len(new.places) > 0 else self.missing)

    def reports(self) -> LossReports:
        """All that was told, as reports."""
        places = np.flatnonzero(~np.isnan(self.losses))
        return LossReports(places, self.losses[places], self.missing)


class ClosedTicket(NamedTuple):
    """What became of a ticket, and what was reported for it.

    A bandit's ticket has an arm and one loss. Experts have the arm -1 and a loss for each expert.
    """

    state: TicketState
    arm: int
    losses: float | Floats
    missing: int = NO_MISSING

    @property
    def told(self) -> ToldLosses:
        """What was reported for it, by place."""
        return ToldLosses(np.atleast_1d(np.asarray(self.losses)), self.missing)

    def with_told(self, told: ToldLosses) -> "ClosedTicket":
        """This ticket, with other losses told for it."""
        losses = told.losses if self.arm < 0 else float(told.losses[0])
        return self._replace(losses=losses, missing=told.missing)


@dataclass
class TicketBook:
    """All tickets of one session: the open ones by round, the closed ones in order of closing.

    The session decides what it keeps for an open ticket: `open` has what it learns with, `tickets`
    has the fields of the `Ticket` if the session wants them again. For a closed one `closed` has
    the round and then the fields of a `ClosedTicket`. Each ticket has the same number of places, so
    that the bounds on remembered tickets and on remembered losses make one bound on tickets.

    Closing a ticket must be quick, while a closed one is rarely looked for. So closed tickets are
    numbered, in order of closing and by round, only when the next one is looked for.
    """

    key: str
    remember: int
    places: int
    opened: int = 0
    open: dict[int, Any] = field(default_factory=dict)
    tickets: dict[int, tuple[Any, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.prefix = f"{self.key}-"  # what all ids begin with
        most = min(self.remember, MOST_LOSSES_REMEMBERED // self.places)
        self.closed: deque[tuple[Any, ...]] = deque(maxlen=most)
        self._numbers: dict[int, int] = {}
        self._numbered = 0

    @property
    def next_round(self) -> int:
        """The round of the next ticket."""
        return self.opened + 1

    def id_of(self, round_: int) -> str:
        """The id of the ticket of a round."""
        return f"{self.prefix}{round_}"

    def close(self, round_: int, parts: tuple[Any, ...]) -> None:
        """Close an open ticket, and forget the one that was closed first if there are too many.

        `parts` are the fields of a `ClosedTicket`, which is made of them only when it is needed.
        """
        del self.open[round_]
        self.tickets.pop(round_, None)
        self.closed.append((round_, *parts))

    def closed_ticket(self, round_: int) -> ClosedTicket:
        """A closed ticket that is remembered."""
        return ClosedTicket(*self.closed[self._place_of(round_)][1:])

    def change_closed(self, round_: int, ticket: ClosedTicket) -> None:
        """Put another record in the place of a closed ticket that is remembered."""
        self.closed[self._place_of(round_)] = (round_, *ticket)

    def _place_of(self, round_: int) -> int:
        """The place of a closed ticket among those that are remembered; negative if it is not."""
        closings = self.opened - len(self.open)
        first = closings - len(self.closed)  # the number of the oldest that is remembered
        for number in range(max(first, self._numbered), closings):
            self._numbers[self.closed[number - first][0]] = number
        self._numbered = closings
        if len(self._numbers) > 2 * len(self.closed):
            self._numbers = {each: n for each, n in self._numbers.items() if n >= first}
        return self._numbers.get(round_, -1) - first

    def due(self, expire_after: int | None) -> list[int]:
        """The open rounds that expire before the next round is played.

        Each round looks for them, so that there is never more than one.
        """
        if expire_after is None:
            return []
        round_ = expiring_with(self.opened, expire_after)
        return [round_] if round_ in self.open else []

    def round_of(self, ticket: Ticket | str) -> int:
        """The round of a ticket that is open or remembered, or an error that says why not."""
        name = ticket.id if isinstance(ticket, Ticket) else ticket
        if not isinstance(name, str):
            raise UnknownTicketError(f"{ticket!r} is not a ticket; it must be a Ticket or its id")
        key, _, number = name.rpartition("-")
        short = number.isascii() and number.isdigit() and len(number) < 20
        if key != self.key or not short:
            raise UnknownTicketError(f"ticket {name!r} is not one of this learner's")
        round_ = int(number)
        if not 1 <= round_ <= self.opened or name != self.id_of(round_):
            raise UnknownTicketError(f"ticket {name!r} was not issued by this learner")
        if round_ not in self.open and self._place_of(round_) < 0:
            raise ClosedTicketError(
                f"ticket {name!r} was closed too long ago: the last {len(self.closed)} "
                "closed tickets are remembered"
            )
        return round_
