"""What is told and held back: for the rest of its round, for rounds before it, for a window.

A learner says in which way it can be told its losses (`delivery`, `window`); users tell them as
they come. What has to wait, waits here, in the order in which the simulator would hand it over.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from belated.asktell.ticket_book import TicketBook, Told
from belated.learners.contract import Learner
from belated.types import Setting


class Turn(NamedTuple):
    """A round of which no more will be told: its ticket's entry, and its losses.

    A loss that is NaN was withdrawn.
    """

    entry: Any
    told: Told


Turns = Mapping[int, Turn]
NOBODY: Turns = {}


@dataclass
class HeldBack:
    """The finished rounds of one epoch whose turn has not come.

    `turn` is the first round that is open or held, or may be: rounds in order come from there.
    """

    in_order: bool
    window: int | None
    turn: int = 1
    rounds: dict[int, Turn] = field(default_factory=dict)

    @classmethod
    def by(cls, learner: Learner) -> "HeldBack | None":
        """For a learner that is not told its losses at once; a bandit's round has one loss only."""
        bandit = learner.setting is not Setting.FULL_INFORMATION
        at_once = "padded" if bandit else "own"
        if learner.window is None and learner.delivery in ("own", at_once):
            return None
        return cls(learner.delivery == "in order", learner.window)

    def ready(self, finished: Turns, book: TicketBook) -> dict[int, Turn]:
        """What is to be learned once these rounds are finished, too, in this order.

        With a window it is one round, that whose window ends with the round played last.
        """
        if self.window is not None:
            rounds: Iterator[int] = iter([book.opened - self.window])
        else:
            rounds = self._in_turn(finished, book) if self.in_order else iter(finished)
        found = ((round_, finished.get(round_) or self.rounds.get(round_)) for round_ in rounds)
        return {round_: turn for round_, turn in found if turn is not None}

    def keep(self, finished: Turns, learned: Turns, book: TicketBook) -> None:
        """Keep what is finished and was not learned."""
        self.rounds.update(finished)
        for round_ in learned:
            del self.rounds[round_]
        self.go_on(book)

    def go_on(self, book: TicketBook) -> None:
        """Find the round whose turn it is."""
        while (
            self.turn <= book.opened and self.turn not in book.open and self.turn not in self.rounds
        ):
            self.turn += 1

    def start_anew(self, first_round: int) -> None:
        """A new epoch: nothing of the last one will be learned."""
        self.rounds.clear()
        self.turn = first_round

    def _in_turn(self, finished: Turns, book: TicketBook) -> Iterator[int]:
        """Rounds from the present turn on, up to one that is still open."""
        turn = self.turn
        while turn <= book.opened and (turn in finished or turn not in book.open):
            yield turn
            turn += 1
