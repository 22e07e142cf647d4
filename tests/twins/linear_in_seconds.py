"""`linear` with ages in seconds, written out: the twin of rounds with a time for all that happens.

Plays are looked at when one of the rounds to come finds that they have passed a bin of ages, in the
order in which they were played, at most sixteen in a bin and round. A play that was told after it
passed a bin was silent there, whenever it is looked at.
"""

import math
from dataclasses import dataclass, field

from belated.arrays import Floats
from tests.twins.linear import LinearPlay, LinearTwin

LOOKS = 16
LAST = 21  # the bin without an end


@dataclass
class TimedPlay(LinearPlay):
    """A play with its time, that of its report, and in how many bins it was looked at."""

    at: float = 0.0
    told_at: float = math.nan
    looks: int = 0
    looks_until: float = math.inf  # in how many bins it was looked at before it was withdrawn

    @property
    def bin(self) -> int | None:
        """The bin of its delay: less than 2 seconds, then less than 4, then less than 8, ..."""
        if math.isnan(self.told_at):
            return None
        return min(LAST, math.floor(math.log2(max(1.0, self.told_at - self.at))))

    def passed(self, j: int, t: int) -> bool:
        return j < self.looks and j < self.looks_until


@dataclass
class LinearInSecondsTwin(LinearTwin):
    """A game of `linear` in which somebody says what time it is."""

    bins: int = LAST + 1
    time: float = 0.0
    timed: list[TimedPlay] = field(default_factory=list)

    def play(self, x: Floats, arm: int) -> int:
        t, foretold = len(self.plays) + 1, self.value(arm, x)
        self.renew(t)
        self.timed.append(TimedPlay(t, arm, x.copy(), at=self.time, foretold=foretold))
        self.plays.append(self.timed[-1])
        if t <= 256 or t % 16 == 0:
            self.law = self.counted_law(t - 1)
        for j in range(self.bins):
            waiting = [play for play in self.timed if play.looks <= j]
            for play in waiting[:LOOKS]:
                play.at = min(play.at, self.time)
                if self.time - play.at < 2.0 ** (j + 1):
                    break
                play.looks = j + 1
                if play.pending:
                    self.weigh(play, j)
        return t

    def tell(self, round_: int, loss: float) -> None:
        play = self.timed[round_ - 1]
        assert play.pending
        self.compare(play, 1.0, 1.0 - loss)
        play.reward, play.told_at = 1.0 - loss, self.time

    def withdraw(self, round_: int) -> None:
        super().withdraw(round_)
        self.timed[round_ - 1].looks_until = self.timed[round_ - 1].looks
