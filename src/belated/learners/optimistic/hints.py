"""Hints: what an optimistic learner expects of the rounds whose losses are still out.

Flaspohler et al. (2021) treat a delay as missing information that may be guessed: the learner plays
as if the losses of all outstanding rounds, the coming one among them, were what the hint says.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, get_args

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.jit import compiled
from belated.learners.contract import Learner
from belated.learners.whole_rounds import COUNT, LATEST, LOSS, Gathers, nothing_gathered
from belated.types import Covers, Delivery, Setting

Hint = Literal["none", "prev", "mean", "recent"]
HINTS: tuple[Hint, ...] = get_args(Hint)
NONE, PREVIOUS, MEAN, RECENT = range(4)


class Hinted(Gathers, Protocol):
    """The part of a state that hints are made from.

    `latest` is the losses of the last round told. `history` holds, in row n, the sum over the first
    n rounds told; it has rows only for the hint "recent", which may reach back any time.
    """

    @property
    def round(self) -> Counts: ...

    @property
    def hint(self) -> Counts: ...

    @property
    def latest(self) -> Floats: ...

    @property
    def history(self) -> Floats: ...


@compiled
def outstanding(state: Hinted) -> int:
    """How many rounds are waited for, the coming one included."""
    return int(state.round[0] - state.told[LATEST])


@compiled
def remember(state: Hinted) -> None:
    """Keep what hints need of the round that was told just now."""
    for i in range(state.latest.shape[0]):
        state.latest[i] = state.gathered[LOSS, i]
    if state.hint[0] == RECENT:
        for i in range(state.latest.shape[0]):
            state.history[state.told[COUNT], i] = state.losses[i]


@compiled
def fill_guess(state: Hinted, guess: Floats) -> None:
    """The losses that "prev" or "mean" expects of each outstanding round; zero if none is told."""
    told = state.told[COUNT]
    for i in range(guess.shape[0]):
        if state.hint[0] == PREVIOUS:
            guess[i] = state.latest[i]
        elif state.hint[0] == MEAN and told > 0:
            guess[i] = state.losses[i] / told
        else:
            guess[i] = 0.0


@compiled
def fill_hint(state: Hinted, hint: Floats) -> None:
    """The losses expected of all outstanding rounds together."""
    if state.hint[0] == RECENT:
        told = state.told[COUNT]
        before = told - min(outstanding(state), told)
        for i in range(hint.shape[0]):
            hint[i] = state.losses[i] - state.history[before, i]
        return
    fill_guess(state, hint)
    for i in range(hint.shape[0]):
        hint[i] *= outstanding(state)


def with_room(table: Floats, rows: int) -> Floats:
    """The table itself if it has so many rows, else a copy that has, and twice what it had."""
    if len(table) >= rows:
        return table
    larger = np.zeros((max(rows, 2 * len(table)), table.shape[1]))
    larger[: len(table)] = table
    return larger


@dataclass(frozen=True)
class OptimisticLearner(Learner):
    """A learner of Flaspohler et al., with the hint by which it guesses what is outstanding.

    "none" expects losses of zero; "prev", of every outstanding round the last losses told; "mean",
    the mean of all told; "recent", of the k-th outstanding round, from the oldest, the k-th most
    recent told, or zero if there are fewer. "recent" remembers every round.
    """

    hint: Hint = "none"

    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    deliveries: ClassVar[tuple[Delivery, ...]] = ("in order",)
    covers: ClassVar[Covers] = Covers.SHARED
    source: ClassVar[str] = "Flaspohler et al. 2021: their code, PoolD, read; theorem from memory"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hint not in HINTS:
            known = " or ".join(map(repr, HINTS))
            raise ValueError(f"hint is {self.hint!r}; it must be {known}")

    def nothing_told(self) -> dict[str, Any]:
        """The parts of a state that gather and hint, before the first round."""
        return {
            **nothing_gathered(self.arms, self.play_width),
            "hint": np.full(1, HINTS.index(self.hint), dtype=np.int64),
            "latest": np.zeros(self.arms),
            "history": np.zeros((1, self.arms)),
        }

    def reserved(self, state: Any, rounds: int) -> Any:
        if self.hint != "recent":
            return state
        rows = int(state.round[0]) + rounds  # no more than all rounds played can have been told
        history = with_room(state.history, rows)
        return state if history is state.history else state._replace(history=history)
