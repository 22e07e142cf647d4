"""The named outcomes of a replica's open tickets: a part of its state, and of its snapshots."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belated.service.store import NamedOutcome


class NamedTickets:
    """The named outcomes of open tickets, in the order of the journal."""

    def __init__(self) -> None:
        self._by_ticket: dict[str, list[NamedOutcome]] = {}

    def of(self, ticket: str) -> Sequence[NamedOutcome]:
        """The named outcomes of a ticket so far."""
        return self._by_ticket.get(ticket, ())

    def add(self, outcome: NamedOutcome) -> bool:
        """Take in an outcome of an open ticket; whether it is the ticket's first."""
        of_ticket = self._by_ticket.setdefault(outcome.ticket, [])
        of_ticket.append(outcome)
        return len(of_ticket) == 1

    def forget(self, ticket: str) -> None:
        """The ticket is closed."""
        self._by_ticket.pop(ticket, None)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All outcomes as named arrays, for a snapshot."""
        rows = [each for of_ticket in self._by_ticket.values() for each in of_ticket]
        return {
            "ticket": np.array([each.ticket.encode() for each in rows], np.bytes_),
            "name": np.array([each.name.encode() for each in rows], np.bytes_),
            "revision": np.array([each.revision for each in rows], np.int64),
            "reward": np.array([each.reward for each in rows], np.float64),
            "at": np.array([each.at for each in rows], np.float64),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take in the outcomes of a snapshot."""
        columns = [arrays[name].tolist() for name in NamedOutcome._fields]
        for ticket, name, *rest in zip(*columns, strict=True):
            self.add(NamedOutcome(ticket.decode(), name.decode(), *rest))
