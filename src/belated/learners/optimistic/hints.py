"""Hints: guesses of the losses of outstanding rounds, for optimistic learners.

Flaspohler et al. (2021) treat a delay as missing information that may be guessed: the learner plays
as if the losses of all outstanding rounds, including the coming one, were equal to the hint.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Learner
from belated.learners.whole_rounds import LOSS, WholeRounds, no_rounds
from belated.types import Covers, Delivery, Origin, Setting

Hint = Literal["none", "prev", "mean", "recent"]
HINTS: tuple[Hint, ...] = get_args(Hint)
NONE, PREVIOUS, MEAN, RECENT = range(4)


class Hints(NamedTuple):
    """The data from which hints are computed, besides the whole rounds.

    hint is the number of the kind of hint, and latest has the losses of the last whole round.
    Row n of history holds the sum of the losses of the first n whole rounds; history grows only for
    the hint "recent", which may reach back to any round.
    """

    hint: Counts
    latest: Floats
    history: Floats


@compiled
def outstanding(rounds: WholeRounds) -> int:
    """Return the number of rounds whose losses are missing, including the coming round."""
    return int(rounds.round[0] - rounds.told.latest[0])


@compiled
def remember(rounds: WholeRounds, hints: Hints) -> None:
    """Store what hints need of the round that has just become whole."""
    for i in range(hints.latest.shape[0]):
        hints.latest[i] = rounds.gathered[LOSS, i]
    if hints.hint[0] == RECENT:
        for i in range(hints.latest.shape[0]):
            hints.history[rounds.told.number[0], i] = rounds.losses[i]


@compiled
def fill_guess(rounds: WholeRounds, hints: Hints, guess: Floats) -> None:
    """Fill guess with the losses that the hint "prev" or "mean" expects of one outstanding round.

    They are zero while no round is whole, and for the other hints.
    """
    told = rounds.told.number[0]
    for i in range(guess.shape[0]):
        if hints.hint[0] == PREVIOUS:
            guess[i] = hints.latest[i]
        elif hints.hint[0] == MEAN and told > 0:
            guess[i] = rounds.losses[i] / told
        else:
            guess[i] = 0.0


@compiled
def fill_hint(rounds: WholeRounds, hints: Hints, hint: Floats) -> None:
    """Fill hint with the sum of the losses expected of all outstanding rounds."""
    if hints.hint[0] == RECENT:
        told = rounds.told.number[0]
        before = told - min(outstanding(rounds), told)
        for i in range(hint.shape[0]):
            hint[i] = rounds.losses[i] - hints.history[before, i]
        return
    fill_guess(rounds, hints, hint)
    for i in range(hint.shape[0]):
        hint[i] *= outstanding(rounds)


def with_room(table: Floats, rows: int) -> Floats:
    """Return the table if it has enough rows, else a larger copy with at least twice as many."""
    if len(table) >= rows:
        return table
    larger = np.zeros((max(rows, 2 * len(table)), table.shape[1]))
    larger[: len(table)] = table
    return larger


@dataclass(frozen=True)
class OptimisticLearner(Learner):
    """A learner of Flaspohler et al., with a hint that guesses the losses of outstanding rounds.

    "none" expects losses of zero. "prev" expects in every outstanding round the losses of the last
    whole round, and "mean" the mean over all whole rounds. "recent" expects in the k-th outstanding
    round, counted from the oldest, the losses of the k-th most recent whole round, or zero if there
    are fewer; it stores every round.
    """

    hint: Hint = "none"

    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    deliveries: ClassVar[tuple[Delivery, ...]] = ("in order",)
    covers: ClassVar[Covers] = Covers.SHARED
    origin: ClassVar[Origin] = Origin.MEMORY
    source: ClassVar[str] = "Flaspohler et al. 2021: their code, PoolD, read; theorem from memory"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hint not in HINTS:
            known = " or ".join(map(repr, HINTS))
            raise ValueError(f"hint is {self.hint!r}; it must be {known}")

    def no_rounds(self) -> WholeRounds:
        """Return the record of whole rounds before the first round."""
        return no_rounds(self.arms, self.row_width)

    def no_hints(self) -> Hints:
        """Return the data for hints before the first round."""
        return Hints(
            hint=np.full(1, HINTS.index(self.hint), dtype=np.int64),
            latest=np.zeros(self.arms),
            history=np.zeros((1, self.arms)),
        )

    def losses(self, state: Any) -> Floats:
        losses: Floats = state.rounds.losses[:, np.newaxis]
        return losses

    def reserved(self, state: Any, rounds: int) -> Any:
        if self.hint != "recent":
            return state
        hints = state.hints
        rows = int(state.rounds.round[0]) + rounds  # at most all rounds played are whole
        history = with_room(hints.history, rows)
        if history is hints.history:
            return state
        return state._replace(hints=hints._replace(history=history))
