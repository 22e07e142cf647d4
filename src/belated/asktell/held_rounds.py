"""Rounds that are delayed until the learner can be told their losses.

A learner says in which way it can be told losses (`delivery`, `window`), while users tell them as
they come. Some losses have to wait for the rest of their round, for earlier rounds or for the end
of a window. They are kept here, and leave in the order in which a simulated game would deliver
them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from belated.asktell.ticket_book import TicketBook, ToldLosses
from belated.learners.contract import Learner
from belated.types import Setting


class FinishedRound(NamedTuple):
    """A round of which no more will be told: what the book kept for its ticket, and its losses.

    A loss that is NaN was withdrawn.
    """

    entry: Any
    told: ToldLosses


FinishedRounds = Mapping[int, FinishedRound]
NO_ROUNDS: FinishedRounds = {}


@dataclass
class HeldRounds:
    """The finished rounds of one epoch that the learner was not told yet.

    `first` is at most the first round that is open or held; rounds that are delivered in order are
    looked for from there on.
    """

    in_order: bool
    window: int | None
    first: int = 1
    rounds: dict[int, FinishedRound] = field(default_factory=dict)

    @classmethod
    def for_learner(cls, learner: Learner) -> "HeldRounds | None":
        """Held rounds for a learner that cannot be told each loss at once; None for the others.

        A bandit is told one loss a round, so that its rounds are complete with that loss.
        """
        bandit = learner.setting is not Setting.FULL_INFORMATION
        at_once = "padded" if bandit else "own"
        if learner.window is None and learner.delivery in ("own", at_once):
            return None
        return cls(learner.delivery == "in order", learner.window)

    def ready(self, finished: FinishedRounds, book: TicketBook) -> dict[int, FinishedRound]:
        """The rounds to be learned once these are finished, too, in the order of learning.

        With a window it is one round at most, whose window ends with the round played last.
        """
        if self.window is not None:
            rounds: Iterator[int] = iter([book.opened - self.window])
        else:
            rounds = self._in_order(finished, book) if self.in_order else iter(finished)
        found = ((round_, finished.get(round_) or self.rounds.get(round_)) for round_ in rounds)
        return {round_: each for round_, each in found if each is not None}

    def keep(self, finished: FinishedRounds, learned: FinishedRounds, book: TicketBook) -> None:
        """Add finished rounds, and drop those that were learned."""
        self.rounds.update(finished)
        for round_ in learned:
            del self.rounds[round_]
        self.advance(book)

    def advance(self, book: TicketBook) -> None:
        """Move `first` on to the first round that is open or held."""
        while (
            self.first <= book.opened
            and self.first not in book.open
            and self.first not in self.rounds
        ):
            self.first += 1

    def start_epoch(self, first_round: int) -> None:
        """Drop all rounds at the start of a new epoch, which learns nothing of the last one."""
        self.rounds.clear()
        self.first = first_round

    def _in_order(self, finished: FinishedRounds, book: TicketBook) -> Iterator[int]:
        """The rounds from the first one on, up to one that is still open."""
        round_ = self.first
        while round_ <= book.opened and (round_ in finished or round_ not in book.open):
            yield round_
            round_ += 1
