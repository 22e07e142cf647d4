"""The open plays of a replica, as numbers in arrays: a few hundred bytes each, not many objects.

A play has a slot: its ticket's id as two words, and a row of numbers. Slots of closed plays are
used again. Who has the slot of a ticket is known by the index of all tickets (`open_tickets`).
"""

import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Floats
from belated.compiled.dispatch import NO_ARM
from belated.service.tickets.ticket_ids import TicketId, id_of, letters_of_ids, texts_of

ROUND, AT, EXPIRES_AT, EXPIRES_ROUND, IN_FORCE = range(5)  # the numbers of a row
COLUMNS = ("at", "expires_at", "expires_round", "rows", "waits")  # after the first
ARMS = (
    2**15
)  # the first number is the round times this, plus the arm's place counted from FIRST_ARM
FIRST_ARM = -2  # from which places are counted there
FEW, MANY = 64, 1_000  # when so few plays are left of so many slots, the room is given back
NOWHERE = -1


class OpenPlay(NamedTuple):
    """A play that waits for outcomes: `rows` has what was in force for each loss it waits for.

    `arm` is the place of a bandit's arm, which has one row. Experts have NO_ARM, and `waits` says
    which of them have no outcome yet. `gone` names arms that were removed while the play waited for
    them: their outcomes are written into the journal, but the learner learns nothing from them.
    """

    round: int
    at: float
    arm: int
    expires_at: float
    expires_round: float
    rows: Floats
    waits: NDArray[np.bool_] | None
    gone: tuple[str, ...] = ()

    def row_of(self, arm: int) -> Floats:
        """The row with what was in force for an arm."""
        row: Floats = self.rows[arm if self.arm == NO_ARM else 0]
        return row

    def arms_waiting(self) -> NDArray[np.bool_]:
        """Which experts have no outcome yet, by place; only plays of experts have this."""
        assert self.waits is not None
        return self.waits


class OpenPlays(Mapping[str, OpenPlay]):
    """Open plays by ticket, in the order of their rounds.

    `shape` is that of the rows in force, and `is_bandit` says that nothing but these is kept.
    `slot_of` finds the slot of a ticket, NOWHERE if it is not open here.
    """

    def __init__(
        self, shape: tuple[int, int], is_bandit: bool, slot_of: Callable[[str], int]
    ) -> None:
        self._shape, self._slot_of = shape, slot_of
        self._waiting = 0 if is_bandit else shape[0]
        self._width = IN_FORCE + shape[0] * shape[1] + self._waiting
        self._ids, self._numbers = array("Q"), array("d")
        self._free = array("I")
        self._texts: dict[int, str] = {}  # by slot: tickets whose ids were not made here
        self._gone: dict[int, tuple[str, ...]] = {}  # by slot

    def __len__(self) -> int:
        return len(self._ids) // 2 - len(self._free)

    def __contains__(self, ticket: object) -> bool:
        return isinstance(ticket, str) and self._slot_of(ticket) != NOWHERE

    def __iter__(self) -> Iterator[str]:
        return iter(self.tickets())

    def __getitem__(self, ticket: str) -> OpenPlay:
        slot = self._slot_of(ticket)
        if slot == NOWHERE:
            raise KeyError(ticket)
        return self.play_at(slot)

    def __setitem__(self, ticket: str, play: OpenPlay) -> None:
        slot = self._slot_of(ticket)
        if slot == NOWHERE:
            raise KeyError(ticket)
        self._put(slot, play)

    def free(self, slot: int) -> None:
        """Give up a slot, of which the index must know no more."""
        self._numbers[slot * self._width + ROUND] = 0.0
        self._texts.pop(slot, None)
        self._gone.pop(slot, None)
        self._free.append(slot)

    def add(self, ticket: str, play: OpenPlay) -> int:
        """Take in a play; returns its slot, which the index must be told."""
        id_, is_made_here = id_of(ticket)
        if self._free:
            slot = self._free.pop()
        else:
            slot = len(self._ids) // 2
            self._ids.extend((0, 0))
            self._numbers.extend((0.0,) * self._width)
        self._ids[2 * slot], self._ids[2 * slot + 1] = id_
        if not is_made_here:
            self._texts[slot] = ticket
        self._put(slot, play)
        return slot

    def _put(self, slot: int, play: OpenPlay) -> None:
        played = play.round * ARMS + play.arm - FIRST_ARM
        numbers: list[float] = [played, play.at, play.expires_at, play.expires_round]
        numbers += play.rows.ravel().tolist()
        if self._waiting:
            numbers += play.arms_waiting().tolist()
        start = slot * self._width
        self._numbers[start : start + self._width] = array("d", numbers)
        if play.gone:
            self._gone[slot] = play.gone
        else:
            self._gone.pop(slot, None)

    @property
    def is_roomy(self) -> bool:
        """Whether nearly all of many slots are free, so that the plays should move to new ones."""
        return len(self._free) >= MANY and len(self) <= FEW

    # -- by slot, for the index

    def id_at(self, slot: int) -> TicketId:
        """The id of the ticket in a slot."""
        return self._ids[2 * slot], self._ids[2 * slot + 1]

    def ticket_at(self, slot: int) -> str:
        """The ticket in a slot."""
        return self._tickets_in([slot])[0]

    def due_at(self, slot: int, deadline: int) -> float:
        """The time or round (EXPIRES_AT or EXPIRES_ROUND) at which a slot's play expires.

        Infinity if the slot is free.
        """
        start = slot * self._width
        return self._numbers[start + deadline] if self._numbers[start + ROUND] else float("inf")

    def play_at(self, slot: int) -> OpenPlay:
        """The play in a slot."""
        start = slot * self._width
        numbers = self._numbers[start : start + self._width]
        played, at, expires_at, expires_round, *_ = numbers
        round_, arm = divmod(int(played), ARMS)
        rest = np.frombuffer(numbers)[IN_FORCE:]
        size = len(rest) - self._waiting
        rows, waits = rest[:size].reshape(self._shape), None
        if self._waiting:
            waits = rest[size:] != 0.0
        gone = self._gone.get(slot, ())
        return OpenPlay(round_, at, arm + FIRST_ARM, expires_at, expires_round, rows, waits, gone)

    # -- all of them

    def slots(self) -> list[int]:
        """The slots of all plays in the order of their rounds."""
        rounds = self._table()[:, ROUND]
        order = np.argsort(rounds, kind="stable")
        found: list[int] = order[len(self._free) :].tolist()  # those that are free have round 0
        return found

    def oldest(self) -> OpenPlay | None:
        """The play of the earliest round; None if there is none."""
        slots = self.slots()
        return self.play_at(slots[0]) if slots else None

    def tickets(self) -> list[str]:
        """All tickets in the order of their rounds."""
        return self._tickets_in(self.slots())

    def _tickets_in(self, slots: Sequence[int]) -> list[str]:
        ids = np.frombuffer(self._ids, dtype=np.uint64).reshape(-1, 2)[slots]
        found = texts_of(ids)
        return [self._texts.get(slot, text) for slot, text in zip(slots, found, strict=True)]

    def _bytes_of(self, slots: Sequence[int]) -> NDArray[np.bytes_]:
        """The tickets in some slots; without making a text of each, if all were made here."""
        if self._texts:
            return np.array([each.encode() for each in self._tickets_in(slots)], np.bytes_)
        return letters_of_ids(np.frombuffer(self._ids, dtype=np.uint64).reshape(-1, 2)[slots])

    def _table(self) -> Floats:
        """All slots as rows; the array must not outlive the next change."""
        return np.frombuffer(self._numbers).reshape(-1, self._width)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All plays as named arrays, in the order of their rounds, for a snapshot."""
        slots = self.slots()
        table = self._table()[slots]
        size = self._width - IN_FORCE - self._waiting
        found: dict[str, NDArray[Any]] = {
            "ticket": self._bytes_of(slots),
            "round": table[:, ROUND].astype(np.int64) // ARMS,
            "arm": table[:, ROUND].astype(np.int64) % ARMS + FIRST_ARM,
            "at": table[:, AT],
            "expires_at": table[:, EXPIRES_AT],
            "expires_round": table[:, EXPIRES_ROUND],
            "rows": table[:, IN_FORCE : IN_FORCE + size].reshape(-1, *self._shape),
        }
        if self._waiting:
            found["waits"] = table[:, IN_FORCE + size :] != 0.0
        return found

    def restore(self, arrays: Mapping[str, NDArray[Any]], gone: Mapping[str, list[str]]) -> None:
        """Take the plays of a snapshot into slots from 0 on, in their order."""
        number = len(arrays["round"])
        played = arrays["round"] * ARMS + arrays["arm"] - FIRST_ARM
        parts = [played, *(arrays[name] for name in COLUMNS if name in arrays)]
        columns = [part.reshape(number, math.prod(part.shape[1:])) for part in parts]
        self._numbers = array("d")
        self._numbers.frombytes(np.concatenate(columns, axis=1, dtype=np.float64).tobytes())
        for slot, text in enumerate(arrays["ticket"].tolist()):
            ticket = text.decode()
            id_, is_made_here = id_of(ticket)
            self._ids.extend(id_)
            if not is_made_here:
                self._texts[slot] = ticket
            if ticket in gone:
                self._gone[slot] = tuple(gone[ticket])

    def gone(self) -> dict[str, tuple[str, ...]]:
        """The removed arms that plays wait for, by ticket."""
        slots = [slot for slot in self.slots() if slot in self._gone] if self._gone else []
        return dict(zip(self._tickets_in(slots), map(self._gone.__getitem__, slots), strict=True))
