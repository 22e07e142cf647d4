"""The contextual rivals written out literally: sums over the record of all plays, every time.

A play is its round, its arm, its vector, and when it was told which reward.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from belated.arrays import Floats
from tests.twins.normal_chances import chances_to_be_largest


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


@dataclass
class OtfTwin(ToldTwin):
    """OTFLinUCB: V of all plays, B of rewards told within m rounds, in one space of K d numbers."""

    censor: int = 5
    delta: float = 0.05
    norms: list[float] = field(default_factory=list)

    def phi(self, x: Floats, arm: int) -> Floats:
        """x in the place of the arm, and 0 elsewhere."""
        return np.kron(np.eye(self.arms)[arm], x)

    def inverse(self) -> Floats:
        """V^-1, where V = I + sum of phi phi' over all plays."""
        size = self.arms * self.width
        rows = np.array([self.phi(play.x, play.arm) for play in self.plays]).reshape(-1, size)
        inverse: Floats = np.linalg.inv(np.eye(size) + rows.T @ rows)
        return inverse

    def estimate(self) -> Floats:
        """V^-1 B, where B is the sum of r phi over the rewards that came in time."""
        b = np.zeros(self.arms * self.width)
        for play in self.plays:
            if play.reward is not None and play.delay is not None and play.delay <= self.censor:
                b += play.reward * self.phi(play.x, play.arm)
        estimate: Floats = self.inverse() @ b
        return estimate

    def norm(self, x: Floats, arm: int) -> float:
        """|phi| in V^-1."""
        phi = self.phi(x, arm)
        return math.sqrt(float(phi @ self.inverse() @ phi))

    def noise(self) -> float:
        """f_t = sqrt(lambda) + sqrt(2 ln(1/delta) + D ln((D lambda + t)/(D lambda))), lambda 1."""
        size, t = self.arms * self.width, len(self.plays) + 1
        return 1.0 + math.sqrt(2.0 * math.log(1.0 / self.delta) + size * math.log(1.0 + t / size))

    def untold(self) -> float:
        """The sum of the norms of the last m plays, each as it was when it was played."""
        return math.fsum(self.norms[-self.censor :])

    def play(self, x: Floats, arm: int) -> int:
        self.norms.append(self.norm(x, arm))
        return super().play(x, arm)

    def ask(self, x: Floats, allowed: list[int]) -> Floats:
        """All weight on the largest <phi, V^-1 B> + alpha |phi|."""
        theta, alpha = self.estimate(), 2.0 * self.noise() + self.untold()
        index = {a: self.phi(x, a) @ theta + alpha * self.norm(x, a) for a in allowed}
        best = [a for a in allowed if max(index.values()) - index[a] <= 1e-10]
        q = np.zeros(self.arms)
        q[best] = 1.0 / len(best)
        return q


class OtfTsTwin(OtfTwin):
    """OTFLinTS: theta is N(V^-1 B, beta V^-1), and an arm is drawn if its <phi, theta> is largest.

    Values of arms would have covariances phi_a' V^-1 phi_c: all are 0 here.
    """

    def ask(self, x: Floats, allowed: list[int]) -> Floats:
        theta, beta = self.estimate(), 1.0 + self.untold() / self.noise()
        rows = np.array([self.phi(x, a) for a in allowed])
        covariance = beta * rows @ self.inverse() @ rows.T
        np.testing.assert_allclose(covariance, np.diag(np.diag(covariance)), rtol=0, atol=1e-12)
        q = np.zeros(self.arms)
        q[allowed] = chances_to_be_largest(rows @ theta, np.sqrt(np.diag(covariance)))
        return q
