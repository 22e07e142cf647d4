"""Waits: how many losses are missing, and for how long, for each way of delivery.

A learner that is told losses later than they arrive misses more of them, and its theorem is about
what it misses. With padded delivery every arm waits for the slowest arm of its round; with delivery
in order it also waits for all earlier rounds.
"""

from typing import NamedTuple

import numpy as np

from belated.arrays import Counts
from belated.environments.missing import NEVER
from belated.play.calendar import reserved
from belated.play.delivery import InOrderDelays, longest_delays
from belated.play.game import Stretch, fill_missing, no_missing_pairs
from belated.types import DELIVERIES, Delivery


class Waits(NamedTuple):
    """How many losses are missing in a game, and for how long, with one way of delivery.

    most_missing is the largest missing count, and total_delay the sum over rounds of each round's
    largest. max_delay is the longest delay that ends within the game, and longest_wait the longest
    time that a learner waits for a loss, which ends with the game if the loss does not arrive.
    """

    most_missing: int = 0
    total_delay: int = 0
    max_delay: int = 0
    longest_wait: int = 0

    def plus(self, missing: Counts, ended: Counts, left: Counts) -> "Waits":
        """Return the waits with some more rounds added.

        `missing` are their missing counts, `ended` their delays that end within the game, and
        `left` the number of rounds after each of them.
        """
        waited = np.where(ended == NEVER, left[:, None], ended)
        return Waits(
            max(self.most_missing, int(missing.max())),
            self.total_delay + int(missing.max(axis=1).sum()),
            max(self.max_delay, int(ended.max(initial=0))),
            max(self.longest_wait, int(waited.max(initial=0))),
        )


def waits_for_window(window: int, rounds: int) -> Waits:
    """Return the waits of a learner that is told every loss after exactly `window` rounds."""
    longest = min(window, rounds - 1)
    total = rounds * longest - longest * (longest + 1) // 2  # the sum of min(t, longest) over t
    return Waits(longest, total, window if window < rounds else 0, longest)


class WaitSums:
    """The waits of a game with each delivery, added up stretch by stretch."""

    def __init__(self) -> None:
        self.waits: dict[Delivery, Waits] = dict.fromkeys(DELIVERIES, Waits())
        self.in_order = InOrderDelays()
        self.pairs = no_missing_pairs(2)

    def add(self, stretch: Stretch) -> Counts:
        """Add one stretch.

        Returns the delays that end within the game in two columns, one for padded delivery and one
        for delivery in order. With these all arms have the same delay, so one column is enough.
        """
        longest = longest_delays(stretch.delays)
        held = np.column_stack([longest, self.in_order.next(stretch.first, longest)])
        beyond = int((held >= self.pairs.ending.shape[0]).sum())
        self.pairs = self.pairs._replace(calendar=reserved(self.pairs.calendar, beyond))
        missing = np.empty_like(held)
        fill_missing(self.pairs, stretch.first, stretch.rounds, held, missing)
        together = in_time(stretch, held)
        self._note(stretch, "own", stretch.missing, in_time(stretch, stretch.delays))
        self._note(stretch, "padded", missing[:, :1], together[:, :1])
        self._note(stretch, "in order", missing[:, 1:], together[:, 1:])
        return together

    def _note(self, stretch: Stretch, delivery: Delivery, missing: Counts, ended: Counts) -> None:
        left = rounds_left(stretch) - 1
        self.waits[delivery] = self.waits[delivery].plus(missing, ended, left)


def in_time(stretch: Stretch, delays: Counts) -> Counts:
    """Return the delays of a stretch, with NEVER where they end after the game."""
    return np.where(delays < rounds_left(stretch)[:, None], delays, NEVER)


def rounds_left(stretch: Stretch) -> Counts:
    """Return the number of rounds from each round of a stretch on, up to the end of the game."""
    return stretch.rounds - np.arange(stretch.first, stretch.end)
