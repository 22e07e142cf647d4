"""A game: the losses and delays of an environment for one seed, with all missing counts.

It is read in stretches of rounds, which end at the checkpoints where sums are recorded. It is drawn
again each time it is read, unless it is small enough to be kept in memory.
"""

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Counts, Floats
from belated.compiled.entries import Entry, obtain
from belated.compiled.records import Handle, layout_of, opened
from belated.compiled.steps import compiled_step
from belated.environments.environment import Environment
from belated.environments.missing import NEVER
from belated.play.calendar import (
    Calendar,
    begin_round,
    empty_calendar,
    put,
    reserved,
    take,
)

KEPT_ENTRIES = 2**20  # (round, arm) pairs of a game that is kept: 25 MB
ENDING_ENTRIES = 2**19
MOST_CHECKPOINTS = 200
CHECKPOINT_ENTRIES = 2**21
INTERPRETED_PAIRS = 20_000  # (round, arm) pairs of a game that is not worth compiling for


class Stretch(NamedTuple):
    """Consecutive rounds of a game that has `rounds` rounds; `first` is counted from 0."""

    first: int
    rounds: int
    losses: Floats
    delays: Counts
    missing: Counts  # rho_t(i)
    advice: Floats | None = None  # xi_t(n, i) by round, policy and arm, if there are policies
    contexts: Floats | None = None  # what is known of each round before, by round and feature
    means: Floats | None = None  # the mean losses in these contexts, if they are known

    @property
    def end(self) -> int:
        """The number of rounds that are over after this stretch."""
        return self.first + len(self.losses)


class MissingPairs(NamedTuple):
    """The (round, arm) pairs whose loss is missing: how many of each arm, and when each arrives.

    Losses that arrive soon are counted in `ending`, in the row of the round at whose end they
    arrive; the others wait in a calendar, with their arms.
    """

    missing: Counts
    ending: NDArray[np.int32]
    calendar: Calendar


def no_missing_pairs(arms: int) -> MissingPairs:
    """Make the record of missing pairs before the first round, when there are none."""
    rows = 1 << max(0, min(12, (ENDING_ENTRIES // arms).bit_length() - 1))
    return MissingPairs(
        missing=np.zeros(arms, dtype=np.int64),
        ending=np.zeros((rows, arms), dtype=np.int32),
        calendar=empty_calendar(width=1),
    )


@compiled_step("count")
def count_missing(handle: Any, delays: Counts, missing: Counts, first: int, rounds: int) -> None:
    """Fill `missing` with rho_t(i) = |{s < t : s + d_s(i) >= t}| of consecutive rounds (eq:key).

    This takes constant time for each pair of a round and an arm.
    """
    pairs = opened(handle)
    counts, ending, arms = pairs.missing, pairs.ending, pairs.missing.shape[0]
    turn = ending.shape[0] - 1  # a bit mask, since the number of rows is a power of two
    for row in range(delays.shape[0]):
        now = first + row
        begin_round(pairs.calendar, now)
        for i in range(arms):
            missing[row, i] = counts[i]
            counts[i] += 1
            delay = delays[row, i]
            if delay <= turn and delay != NEVER:
                ending[(now + delay) & turn, i] += 1
            elif delay != NEVER and delay < rounds - now:
                pairs.calendar.rows[put(pairs.calendar, now, now + delay), 0] = i
        for i in range(arms):
            counts[i] -= ending[now & turn, i]
            ending[now & turn, i] = 0
        entry, end = take(pairs.calendar, now)
        while entry < end:
            for row_due in range(entry, end):
                counts[int(pairs.calendar.rows[row_due, 0])] -= 1
            entry, end = take(pairs.calendar, now)


def entry_for_counting() -> Entry:
    """Return the entry that counts the missing losses of a game."""
    return Entry(count_missing, layout_of(no_missing_pairs(1)))


def fill_missing(
    pairs: MissingPairs, first: int, rounds: int, delays: Counts, missing: Counts
) -> None:
    """Fill in the missing counts of consecutive rounds, compiled if there is a compiler."""
    delays = np.ascontiguousarray(delays)
    is_short = rounds * delays.shape[1] <= INTERPRETED_PAIRS
    function = obtain(Entry(count_missing, layout_of(pairs)), is_short)
    if function is None:
        count_missing(pairs, delays, missing, first, rounds)
    else:
        handle = Handle(pairs)  # it must live as long as the call
        function(handle.address, delays, missing, first, rounds)


class Game:
    """One game of an environment; every reading of it gives the same rounds."""

    def __init__(
        self,
        environment: Environment,
        seed: np.random.SeedSequence,
        most_checkpoints: int = MOST_CHECKPOINTS,
    ) -> None:
        self.environment = environment
        self.seed = seed
        self.checkpoints = checkpoints(environment.rounds, environment.arms, most_checkpoints)

    def stretches(self) -> Iterator[Stretch]:
        """Yield all rounds of the game in order, as stretches that end at the checkpoints."""
        if self.environment.rounds * self.environment.entries <= KEPT_ENTRIES:
            yield from self._kept
        else:
            yield from self._drawn()

    @functools.cached_property
    def _kept(self) -> list[Stretch]:
        return list(self._drawn())

    def _drawn(self) -> Iterator[Stretch]:
        rounds, arms = self.environment.rounds, self.environment.arms
        pairs = no_missing_pairs(arms)
        for span, losses, delays, *told in self.environment.blocks(self.seed):
            beyond = int((delays >= pairs.ending.shape[0]).sum())
            pairs = pairs._replace(calendar=reserved(pairs.calendar, beyond))
            missing = np.empty_like(delays)
            fill_missing(pairs, span.first, rounds, delays, missing)
            for part in self._cut(span.first, span.count):
                yield Stretch(
                    span.first + part.start,
                    rounds,
                    losses[part],
                    delays[part],
                    missing[part],
                    *(None if each is None else each[part] for each in told),
                )

    def _cut(self, first: int, count: int) -> Iterator[slice]:
        """Cut the rows of a block into slices that end at checkpoints."""
        inside = self.checkpoints[(self.checkpoints > first) & (self.checkpoints < first + count)]
        ends = [*(int(end) - first for end in inside), count]
        yield from map(slice, [0, *ends[:-1]], ends)


def checkpoints(rounds: int, arms: int, most: int = MOST_CHECKPOINTS) -> Counts:
    """The rounds after which sums are recorded: evenly spread, the last one included."""
    count = min(most, max(2, CHECKPOINT_ENTRIES // arms), max(1, rounds // 10))
    return np.unique(np.round(np.linspace(rounds / count, rounds, count)).astype(np.int64))
