"""Delivery: when a learner is told what has arrived.

A learner made for one delay for all arms has no theorem when each arm has its own. It can be told
every loss as it comes, and then there is none (F1 with experts, B1 with a bandit); or each round's
losses when the last of them is there, and then its theorem holds with the longest delay (F2, B2).
What industry does is a third way: to count a play when a whole window has passed.
"""

from typing import NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.environments.missing import NEVER
from belated.learners.contract import NOTHING_CAME, Learner
from belated.play.game import Stretch

NO_ROUND = 2**62  # what is due then never comes


class Handed(NamedTuple):
    """The delays and losses of a stretch as a learner is told them."""

    delays: Counts
    losses: Floats


def as_it_comes(stretch: Stretch) -> Handed:
    """Every loss when it arrives."""
    return Handed(stretch.delays, stretch.losses)


class Courier:
    """Hands the stretches of one game to a learner in the way it asks for."""

    def __init__(self, learner: Learner) -> None:
        self.delivery, self.window = learner.delivery, learner.window
        self.in_order = InOrder()

    def hand(self, stretch: Stretch) -> Handed:
        """The next stretch."""
        delays, losses = stretch.delays, stretch.losses
        if self.window is not None:
            in_time = (delays != NEVER) & (delays <= self.window)
            losses = np.where(in_time, losses, NOTHING_CAME)
            delays = np.full_like(delays, self.window)
        if self.delivery == "own":
            return Handed(delays, losses)
        longest = longest_delays(delays)
        if self.delivery == "in order":
            longest = self.in_order.held(stretch.first, longest)
        return Handed(np.repeat(longest[:, None], delays.shape[1], axis=1), losses)


def longest_delays(delays: Counts) -> Counts:
    """The delay of each round's last loss, NEVER if one of them never comes."""
    return np.where((delays == NEVER).any(axis=1), NEVER, delays.max(axis=1))


class InOrder:
    """Holds back the rounds of one game so that none is known before one that was played earlier.

    One that never comes holds up all after it, for nobody can know that it will not come; only a
    window ends the wait.
    """

    def __init__(self) -> None:
        self.latest = 0  # the last round in which anything so far is due

    def held(self, first: int, longest: Counts) -> Counts:
        """The delays of the next rounds, of which `first` is the first."""
        played = np.arange(first, first + len(longest))
        due = np.where(longest == NEVER, NO_ROUND, played + longest)
        due = np.maximum.accumulate(np.maximum(due, self.latest))
        self.latest = int(due[-1]) if len(due) else self.latest
        return np.where(due >= NO_ROUND, NEVER, due - played)
