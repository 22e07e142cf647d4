"""The contextual rivals written out literally: sums over the record of all plays, every time.

A play is its round, its arm, its vector, and when it was told which reward.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from belated.arrays import Floats


@dataclass
class ToldPlay:
    """A play; `delay` is how many rounds had been played since when it was told."""

    arm: int
    x: Floats
    reward: float | None = None
    delay: int | None = None


@dataclass
class ToldTwin:
    """A game of a contextual rival: ask with a vector, play an arm, tell a reward."""

    arms: int
    width: int
    plays: list[ToldPlay] = field(default_factory=list)

    def ask(self, x: Floats, allowed: list[int]) -> Floats:
        raise NotImplementedError

    def play(self, x: Floats, arm: int) -> int:
        self.plays.append(ToldPlay(arm, np.array(x)))
        return len(self.plays)

    def tell(self, round_: int, reward: float) -> None:
        play = self.plays[round_ - 1]
        play.reward, play.delay = reward, len(self.plays) - round_


class SquareCbTwin(ToldTwin):
    """Inverse gaps of the losses that the ridge of told rewards foretells, at 10 sqrt(n)."""

    def loss(self, arm: int, x: Floats) -> float:
        """1 - f_a(x), with f_a(x) = m + x' (I + sum xx')^-1 sum (y - m) x."""
        told = [play for play in self.plays if play.reward is not None]
        mean = (0.5 + math.fsum(play.reward or 0.0 for play in told)) / (1.0 + len(told))
        matrix, above = np.eye(self.width), np.zeros(self.width)
        for play in told:
            if play.arm == arm and play.reward is not None:
                matrix += np.outer(play.x, play.x)
                above += (play.reward - mean) * play.x
        return 1.0 - mean - float(x @ np.linalg.solve(matrix, above))

    def ask(self, x: Floats, allowed: list[int]) -> Floats:
        losses = {a: self.loss(a, x) for a in allowed}
        least, q = min(losses.values()), np.zeros(self.arms)
        best = [a for a in allowed if losses[a] - least <= 1e-10]
        told = sum(play.reward is not None for play in self.plays)
        gamma = 10.0 * math.sqrt(max(1, told))
        for a in set(allowed) - set(best):
            q[a] = 1.0 / (len(allowed) + gamma * (losses[a] - least))
        q[best] = (1.0 - q.sum()) / len(best)
        return q
