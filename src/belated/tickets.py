"""The ticket book: which plays are open, what became of the others.

A ticket is pending until it is told, expires or is cancelled, and never changes again after that.
Open tickets are kept for as long as they are open; of the closed ones the book remembers the last
few, so that a report made twice can be told from a report that contradicts: as many tickets as the
user wants, but never more than 100,000 losses, since a ticket of many experts holds many.
"""

import itertools
from collections import OrderedDict
from dataclasses import dataclass, field

from belated.types import ClosedTicketError, Ticket, TicketState, UnknownTicketError

MOST_LOSSES_REMEMBERED = 100_000


@dataclass(frozen=True, slots=True)
class Report:
    """A loss as it was told, in [0, 1], and the missing count told with it (-1: none)."""

    loss: float
    missing: int = -1

    def agrees_with(self, other: "Report") -> bool:
        """Whether both say the same, up to the rounding of a reward turned into a loss."""
        return self.missing == other.missing and abs(self.loss - other.loss) <= 1e-12

    def __str__(self) -> str:
        missing = f" with missing {self.missing}" if self.missing >= 0 else ""
        return f"loss {self.loss!r}{missing}"


@dataclass(slots=True)
class Open:
    """A pending ticket: what was in force, by arm index, for each loss still to be told."""

    ticket: Ticket
    epoch: int
    plays: dict[int, list[float]]
    told: dict[int, Report] = field(default_factory=dict)

    @property
    def arms(self) -> list[int]:
        """The indices of all arms that this ticket is about."""
        return [*self.told, *self.plays]


@dataclass(slots=True)
class Closed:
    """What became of a ticket, what it was about, and what was told for it."""

    state: TicketState
    arms: list[int]
    told: dict[int, Report]


@dataclass
class TicketBook:
    """All tickets of one learner, by round, oldest first."""

    key: str
    remember: int
    opened: int = 0
    open: OrderedDict[int, Open] = field(default_factory=OrderedDict)
    closed: OrderedDict[int, Closed] = field(default_factory=OrderedDict)
    losses_remembered: int = 0

    @property
    def next_round(self) -> int:
        """The round that the next ticket will have."""
        return self.opened + 1

    def id_of(self, round_: int) -> str:
        """The id of the ticket of a round."""
        return f"{self.key}-{round_}"

    def add(self, entry: Open) -> Ticket:
        """Hand out a ticket; its holder gets a copy, so that the book's own cannot be changed."""
        self.opened += 1
        self.open[self.opened] = entry
        return entry.ticket.copy()

    def close(self, round_: int, state: TicketState) -> None:
        """Close an open ticket, and forget the oldest closed one if there are too many."""
        entry = self.open.pop(round_)
        self.closed[round_] = Closed(state, entry.arms, entry.told)
        self.losses_remembered += len(entry.arms)
        while len(self.closed) > self.remember or self.losses_remembered > MOST_LOSSES_REMEMBERED:
            _, oldest = self.closed.popitem(last=False)
            self.losses_remembered -= len(oldest.arms)

    def due(self, expire_after: int | None) -> list[int]:
        """The open rounds that the coming round finds too old, oldest first."""
        if expire_after is None:
            return []
        oldest = self.next_round - expire_after
        return list(itertools.takewhile(lambda round_: round_ < oldest, self.open))

    def find(self, ticket: Ticket | str) -> tuple[int, Open | Closed]:
        """The round of a ticket and its entry; an error if this learner never handed it out."""
        name = ticket.id if isinstance(ticket, Ticket) else ticket
        if not isinstance(name, str):
            raise UnknownTicketError(f"{ticket!r} is not a ticket; it must be a Ticket or its id")
        round_ = self._round_of(name)
        entry = self.open.get(round_) or self.closed.get(round_)
        if entry is None:
            raise ClosedTicketError(
                f"ticket {name!r} was closed too long ago: the last {len(self.closed)} "
                "closed tickets are remembered"
            )
        if isinstance(ticket, Ticket) and isinstance(entry, Open) and ticket != entry.ticket:
            raise UnknownTicketError(f"ticket {name!r} is not as this learner handed it out")
        return round_, entry

    def _round_of(self, name: str) -> int:
        key, _, number = name.rpartition("-")
        short = number.isascii() and number.isdigit() and len(number) < 20
        if key != self.key or not short:
            raise UnknownTicketError(f"ticket {name!r} is not one of this learner's")
        round_ = int(number)
        if not 1 <= round_ <= self.opened or name != self.id_of(round_):
            raise UnknownTicketError(f"ticket {name!r} was never handed out")
        return round_
