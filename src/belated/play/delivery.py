"""Delivery: when a learner is told the losses that have arrived.

A learner made for one delay shared by all arms has no theorem when each arm has a delay of its own.
If it is told every loss on arrival, no theorem holds (F1 with experts, B1 with a bandit). If it is
told the losses of a round when the last of them has arrived, its theorem holds with the longest
delay (F2, B2). A third way, usual in industry, is to tell the loss of a play when a fixed window
has passed.
"""

from typing import NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.environments.missing import NEVER
from belated.learners.contract import NOTHING_CAME, Learner
from belated.play.game import Stretch

NO_ROUND = 2**62  # stands for the arrival of a loss that never comes


class DeliveredFeedback(NamedTuple):
    """The delays and losses of a stretch of rounds as a learner is told them."""

    delays: Counts
    losses: Floats


def on_arrival(stretch: Stretch) -> DeliveredFeedback:
    """Deliver every loss when it arrives."""
    return DeliveredFeedback(stretch.delays, stretch.losses)


class FeedbackDelivery:
    """Delivers the stretches of one game to a learner, by its `delivery` and its `window`."""

    def __init__(self, learner: Learner) -> None:
        self.delivery, self.window = learner.delivery, learner.window
        self.in_order = InOrderDelays()

    def deliver(self, stretch: Stretch) -> DeliveredFeedback:
        """Return the delays and losses of the next stretch as the learner is told them."""
        delays, losses = stretch.delays, stretch.losses
        if self.window is not None:
            in_time = (delays != NEVER) & (delays <= self.window)
            losses = np.where(in_time, losses, NOTHING_CAME)
            delays = np.full_like(delays, self.window)
        if self.delivery == "own":
            return DeliveredFeedback(delays, losses)
        longest = longest_delays(delays)
        if self.delivery == "in order":
            longest = self.in_order.next(stretch.first, longest)
        return DeliveredFeedback(np.repeat(longest[:, None], delays.shape[1], axis=1), losses)


def longest_delays(delays: Counts) -> Counts:
    """Return the longest delay of each round; NEVER if one of its losses never comes."""
    return np.where((delays == NEVER).any(axis=1), NEVER, delays.max(axis=1))


class InOrderDelays:
    """Lengthens the delays of a game so that no round is told before an earlier round.

    A round that never arrives holds up all rounds after it, since it cannot be known that it will
    not arrive; only a window ends the wait.
    """

    def __init__(self) -> None:
        self.latest = 0  # the latest round in which a loss of the rounds so far is due

    def next(self, first: int, longest: Counts) -> Counts:
        """Return the delays of the next rounds, which begin with `first`.

        `longest` is the longest delay of each of these rounds.
        """
        played = np.arange(first, first + len(longest))
        due = np.where(longest == NEVER, NO_ROUND, played + longest)
        due = np.maximum.accumulate(np.maximum(due, self.latest))
        self.latest = int(due[-1]) if len(due) else self.latest
        return np.where(due >= NO_ROUND, NEVER, due - played)
