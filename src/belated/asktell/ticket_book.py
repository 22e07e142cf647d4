"""The ticket book: which plays are open, what became of the others.

A ticket is pending until it is told, expires or is cancelled, and never changes again after that.
Open tickets are kept for as long as they are open; of the closed ones the book remembers the last
few, so that a report made twice can be told from a report that contradicts: as many tickets as the
user wants, but never more than 100,000 losses, since a ticket of many experts holds many.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.types import ClosedTicketError, Ticket, TicketState, UnknownTicketError

MOST_LOSSES_REMEMBERED = 100_000
UNTOLD = float("nan")


class Reports(NamedTuple):
    """Losses as they were told, in [0, 1], with their places in a ticket (a bandit's has one).

    The missing count told with them is -1 where none is told.
    """

    places: Counts
    losses: Floats
    missing: int = -1

    def about(self, place: int) -> str:
        """What is told in one place, in words."""
        loss = float(self.losses[self.places == place][0])
        return f"loss {loss!r}" + (f" with missing {self.missing}" if self.missing >= 0 else "")


class Told(NamedTuple):
    """What was told of a ticket so far: a loss for each of its places, NaN if not yet told."""

    losses: Floats
    missing: int = -1

    def new_in(self, reports: Reports) -> Reports:
        """The reports of which nothing was told before."""
        known = ~np.isnan(self.losses[reports.places])
        if not known.any():
            return reports
        return reports._replace(places=reports.places[~known], losses=reports.losses[~known])

    def contradicted_by(self, reports: Reports) -> int | None:
        """The first place of which something else was told before.

        Losses may differ by the rounding of a reward turned into a loss.
        """
        before = self.losses[reports.places]
        differ = np.abs(before - reports.losses) > 1e-12
        if reports.missing != self.missing:
            differ |= ~np.isnan(before)
        return int(reports.places[differ.argmax()]) if differ.any() else None

    def with_more(self, new: Reports) -> "Told":
        """What was told together with what is told now."""
        if len(new.places) == len(self.losses):
            losses = np.empty_like(self.losses)
        else:
            losses = self.losses.copy()
        losses[new.places] = new.losses
        return Told(losses, new.missing if len(new.places) > 0 else self.missing)

    def report(self) -> Reports:
        """All that was told, as one report."""
        places = np.flatnonzero(~np.isnan(self.losses))
        return Reports(places, self.losses[places], self.missing)


class Closed(NamedTuple):
    """What became of a ticket and what was told for it; a bandit's has an arm and one loss."""

    state: TicketState
    arm: int
    losses: float | Floats
    missing: int = -1

    @property
    def told(self) -> Told:
        """What was told for it, by place."""
        return Told(np.atleast_1d(np.asarray(self.losses)), self.missing)

    def with_told(self, told: Told) -> "Closed":
        """The same with more told."""
        losses = told.losses if self.arm < 0 else float(told.losses[0])
        return self._replace(losses=losses, missing=told.missing)


@dataclass
class TicketBook:
    """All tickets of one learner, by round; those closed also in the order of their closing.

    What an open ticket holds is its learner's business. Each ticket has the same number of
    places, so the bounds on tickets and on losses remembered are one bound on tickets.
    """

    key: str
    remember: int
    places: int
    opened: int = 0
    open: dict[int, Any] = field(default_factory=dict)
    closed: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    order: deque[int] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.most_closed = min(self.remember, MOST_LOSSES_REMEMBERED // self.places)

    @property
    def next_round(self) -> int:
        """The round that the next ticket will have."""
        return self.opened + 1

    def id_of(self, round_: int) -> str:
        """The id of the ticket of a round."""
        return f"{self.key}-{round_}"

    def close(self, round_: int, parts: tuple[Any, ...]) -> None:
        """Close an open ticket, and forget the oldest closed one if there are too many.

        The parts are those of a `Closed`, which is made of them only when somebody asks.
        """
        del self.open[round_]
        self.closed[round_] = parts
        self.order.append(round_)
        if len(self.order) > self.most_closed:
            del self.closed[self.order.popleft()]

    def what_became_of(self, round_: int) -> Closed:
        """A closed ticket that is remembered."""
        return Closed(*self.closed[round_])

    def due(self, expire_after: int | None) -> list[int]:
        """The open rounds that the coming round finds too old.

        Each round looks for them, so that it can find no more than one.
        """
        if expire_after is None:
            return []
        oldest = self.next_round - expire_after
        return [oldest - 1] if oldest - 1 in self.open else []

    def round_of(self, ticket: Ticket | str) -> int:
        """The round of a ticket; an error if this learner never handed it out."""
        name = ticket.id if isinstance(ticket, Ticket) else ticket
        if not isinstance(name, str):
            raise UnknownTicketError(f"{ticket!r} is not a ticket; it must be a Ticket or its id")
        key, _, number = name.rpartition("-")
        short = number.isascii() and number.isdigit() and len(number) < 20
        if key != self.key or not short:
            raise UnknownTicketError(f"ticket {name!r} is not one of this learner's")
        round_ = int(number)
        if not 1 <= round_ <= self.opened or name != self.id_of(round_):
            raise UnknownTicketError(f"ticket {name!r} was never handed out")
        if round_ not in self.open and round_ not in self.closed:
            raise ClosedTicketError(
                f"ticket {name!r} was closed too long ago: the last {len(self.closed)} "
                "closed tickets are remembered"
            )
        return round_
