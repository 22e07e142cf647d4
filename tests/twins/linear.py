"""The contextual learner `linear` written out literally, from the record of all plays.

Nothing is kept up to date: matrices are summed afresh whenever a value is needed, and the law of
delays is counted over the whole record. Rewards are 1 - loss. The formulas are those of
docs/contexts.md: each arm's ridge is shrunk to the common mean, arms are drawn by the inverse gaps
of optimistic values, and silence is an observation of fractional weight.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from belated.arrays import Floats
from tests.twins.normal_chances import chances_to_be_largest

SHRINK = 10.0  # c of the law of delays
LEAST_CHANGE = 0.02  # of a weight
TIED = 1e-10  # values that differ by no more are equal: an arm's place must not matter
FEW_PLAYS, LOST_BEFORE = 20, 0.9


@dataclass
class LinearPlay:
    """A play with its context, what was told of it, and the weight of what its silence says."""

    round: int
    arm: int
    x: Floats
    reward: float | None = None
    delay: int | None = None
    withdrawn: int | None = None  # how many rounds had been played when it was withdrawn
    weight: float = 0.0
    value: float = 0.0
    foretold: float = 0.0

    @property
    def bin(self) -> int | None:
        """The bin of its delay: 0, then 1 to 2, then 3 to 6, and so on."""
        return None if self.delay is None else (self.delay + 1).bit_length() - 1

    @property
    def pending(self) -> bool:
        return self.reward is None and self.withdrawn is None

    def passed(self, j: int, t: int) -> bool:
        """Whether it was old enough for bin j in round t, and not withdrawn before it was."""
        at = self.round + 2 ** (j + 1) - 1
        return at <= t and (self.withdrawn is None or self.withdrawn >= at)

    def told_by(self, j: int) -> bool:
        return self.bin is not None and self.bin <= j

    @property
    def observation(self) -> tuple[float, float]:
        """The weight and the value with which it counts."""
        return (self.weight, self.value) if self.reward is None else (1.0, self.reward)


@dataclass
class Law:
    """F_a(j) of ones, of zeros and of both by bin, and the share rho_a that is lost."""

    ones: Floats
    zeros: Floats
    both: Floats
    lost: Floats


@dataclass
class LinearTwin:
    """A game of `linear`: ask with a context, play an arm, tell or withdraw what was played."""

    arms: int
    width: int
    default_loss: float | None = None
    scale: float = 1.0
    ridge: float = 1.0
    gamma: float = 50.0
    floor: float = 0.0
    pending_width: bool = False
    bins: int = 14  # how often a play is looked at
    plays: list[LinearPlay] = field(default_factory=list)
    law: Law | None = None
    since: int = 1  # the first round that the model rests on
    recent: int = 1  # the first round of late
    fewest: int = 256  # rounds of late
    lead: float = 0.0
    gained: float = 0.0

    # The model (2.1)

    def mean(self, since: int | None = None) -> float:
        """m = (1/2 + sum w y) / (1 + sum w) over all arms, of plays since a round."""
        first = self.since if since is None else since
        seen = [play.observation for play in self.plays[first - 1 :]]
        return (0.5 + math.fsum(w * y for w, y in seen)) / (1.0 + math.fsum(w for w, _ in seen))

    def sums(self, arm: int, since: int | None = None) -> tuple[Floats, Floats, Floats]:
        """lambda I + sum w x x', b = sum w y x and c = sum w x of an arm, since a round."""
        first = self.since if since is None else since
        own = [play for play in self.plays[first - 1 :] if play.arm == arm]
        x = np.array([play.x for play in own]).reshape(-1, self.width)
        w, y = np.array([play.observation for play in own]).reshape(-1, 2).T
        return self.ridge * np.eye(self.width) + x.T @ (w[:, None] * x), (w * y) @ x, w @ x

    def value(self, arm: int, x: Floats, since: int | None = None) -> float:
        """f_a(x) = m + x' P_a (b_a - m c_a)."""
        (matrix, b, c), m = self.sums(arm, since), self.mean(since)
        return m + float(x @ np.linalg.solve(matrix, b - m * c))

    def deviation(self, arm: int, x: Floats) -> float:
        """sd_a(x) = sigma sqrt(x' P_a x), or with the matrix of all plays in place of P_a."""
        matrix = self.sums(arm)[0]
        if self.pending_width:
            rows = [play.x for play in self.plays if play.arm == arm and play.withdrawn is None]
            matrix = self.ridge * np.eye(self.width)
            matrix += sum((np.outer(row, row) for row in rows), np.zeros_like(matrix))
        return self.noise() * math.sqrt(float(x @ np.linalg.solve(matrix, x)))

    def noise(self) -> float:
        """sigma, by the errors of what was foretold when it was played; at most that of coins."""
        m = min(0.98, max(0.02, self.mean()))
        told = [play for play in self.plays if play.reward is not None]
        errors = math.fsum(
            (play.reward - play.foretold) ** 2 for play in told if play.reward is not None
        )
        found = (20.0 * m * (1.0 - m) + errors) / (20.0 + len(told))
        return math.sqrt(min(m * (1.0 - m), found))

    # The draw (2.2)

    def ask(self, x: Floats, allowed: list[int] | None = None) -> Floats:
        """q_t: inverse gaps of the optimistic values u_a = f_a + scale sd_a; the best share."""
        allowed = list(range(self.arms)) if allowed is None else allowed
        u = {a: self.value(a, x) + self.scale * self.deviation(a, x) for a in allowed}
        top = max(u.values())
        best = [a for a in allowed if top - u[a] <= TIED]
        told = sum(play.reward is not None for play in self.plays)
        gamma, q = self.gamma * math.sqrt(max(1, told)) / self.noise(), np.zeros(self.arms)
        for a in allowed:
            q[a] = 0.0 if a in best else 1.0 / (len(allowed) + gamma * (top - u[a]))
        q[best] = (1.0 - q.sum()) / len(best)
        q[allowed] = (1.0 - self.floor) * q[allowed] + self.floor / len(allowed)
        return q

    def play(self, x: Floats, arm: int) -> int:
        """Play the arm, and then look at the plays that have become twice as old; the round."""
        t, foretold = len(self.plays) + 1, self.value(arm, x)
        self.renew(t)
        self.plays.append(LinearPlay(t, arm, np.array(x, dtype=np.float64), foretold=foretold))
        if t <= 256 or t % 16 == 0:
            self.law = self.counted_law(t - 1)
        for j in range(self.bins):
            s = t - (2 ** (j + 1) - 1)
            if s >= 1 and self.plays[s - 1].pending:
                self.weigh(self.plays[s - 1], j)
        return t

    def tell(self, round_: int, loss: float) -> None:
        play = self.plays[round_ - 1]
        assert play.pending
        self.compare(play, 1.0, 1.0 - loss)
        play.reward, play.delay = 1.0 - loss, len(self.plays) - round_

    def withdraw(self, round_: int) -> None:
        play = self.plays[round_ - 1]
        assert play.pending
        self.compare(play, 0.0, 0.0)
        play.withdrawn, play.weight = len(self.plays), 0.0

    # Worlds that change

    def compare(self, play: LinearPlay, weight: float, value: float) -> None:
        """Note how much better the plays of late foretell what a play will count as from now on."""
        if play.round < self.recent:
            return
        f, g = (self.value(play.arm, play.x, since) for since in (self.since, self.recent))
        m = min(0.98, max(0.02, self.mean()))
        w, y = play.observation
        of_model, of_late = (weight * (value - e) ** 2 - w * (y - e) ** 2 for e in (f, g))
        self.gained += (of_model - of_late) / (2.0 * m * (1.0 - m))

    def renew(self, t: int) -> None:
        """Before round t: forget what was played before the plays of late if they lead enough."""
        self.lead = max(0.0, self.lead + self.gained)
        self.gained = 0.0
        if self.lead > 2.0 * math.log(t):
            self.since, self.recent, self.lead = self.recent, t, 0.0
        elif t - self.recent >= max(self.fewest, (t - self.since) // 8):
            self.recent, self.lead = t, 0.0

    # Silence (3)

    def weigh(self, play: LinearPlay, j: int) -> None:
        """Give a play that passed bin j in silence its new weight, if it differs enough."""
        w, y = self.silence(play, j)
        change = abs(w - play.weight) if y == play.value else w + play.weight
        if change > LEAST_CHANGE:
            self.compare(play, w, y)
            play.weight, play.value = w, y

    def silence(self, play: LinearPlay, j: int) -> tuple[float, float]:
        """The weight and the value of what silence beyond bin j says (3.1, 3.2)."""
        assert self.law is not None
        a, law = play.arm, self.law
        s1, s0 = 1.0 - law.ones[a, j + 1], 1.0 - law.zeros[a, j + 1]
        if self.default_loss is None:
            g1, g0 = (law.lost[a] + (1.0 - law.lost[a]) * s for s in (s1, s0))
        elif self.default_loss == 1.0:
            g1, g0 = s1, 1.0
        elif self.default_loss == 0.0:
            g1, g0 = 1.0, s0
        else:
            return float(law.both[a, j + 1]), 1.0 - self.default_loss
        f = min(0.99, max(0.01, self.value(a, play.x)))
        silent = f * g1 + (1.0 - f) * g0
        if g0 >= g1:
            return (1.0 - f) * (g0 - g1) / silent, 0.0
        return f * (g1 - g0) / silent, 1.0

    def counted_law(self, t: int) -> Law:
        """The right-truncated law of delays (3.3), from all plays that passed a bin by round t."""
        shape = (self.arms, self.bins)
        n1, n0, risk1, risk0 = (np.zeros(shape) for _ in range(4))
        passed, silent = np.zeros(shape), np.zeros(shape)
        for play in self.plays:
            for j in range(self.bins):
                if not play.passed(j, t) or (play.told_by(j) and self.says_nothing(play)):
                    break
                passed[play.arm, j] += 1.0
                if not play.told_by(j):
                    silent[play.arm, j] += 1.0
                    continue
                assert play.reward is not None
                risk1[play.arm, j] += play.reward
                risk0[play.arm, j] += 1.0 - play.reward
                n1[play.arm, j] += play.reward if play.bin == j else 0.0
                n0[play.arm, j] += 1.0 - play.reward if play.bin == j else 0.0
        either = ratio((n1 + n0).sum(axis=0), (risk1 + risk0).sum(axis=0))
        return Law(
            ones=products(shrunk(n1, risk1, shrunk(n1.sum(axis=0), risk1.sum(axis=0), either))),
            zeros=products(shrunk(n0, risk0, shrunk(n0.sum(axis=0), risk0.sum(axis=0), either))),
            both=products(shrunk(n1 + n0, risk1 + risk0, either)),
            lost=np.array([lost_share(passed[a], silent[a]) for a in range(self.arms)]),
        )

    def says_nothing(self, play: LinearPlay) -> bool:
        """Whether a play was told what silence means: it may have expired, so its delay is none."""
        return self.default_loss is not None and play.reward == 1.0 - self.default_loss

    def means_conversions(self) -> bool:
        """Whether silence is plainly an outcome, and nobody has said which one (3.2)."""
        told = [play for play in self.plays if play.reward is not None]
        if self.default_loss is not None or len(told) < 10:
            return False
        if len({play.reward for play in told}) > 1:
            return False
        slowest = max(play.delay for play in told if play.delay is not None)
        older = [p for p in self.plays if p.pending and len(self.plays) - p.round > slowest]
        return len(older) >= 100


@dataclass
class LinearThompsonTwin(LinearTwin):
    """A game of `linear-thompson`: the model of `linear`, and normal values at half its spread."""

    scale: float = 0.5

    def ask(self, x: Floats, allowed: list[int] | None = None) -> Floats:
        """q_t: the probability that N(f_a, (scale sd_a)^2) is the largest (2.3)."""
        allowed = list(range(self.arms)) if allowed is None else allowed
        means = np.array([self.value(a, x) for a in allowed])
        deviations = np.array([self.scale * self.deviation(a, x) for a in allowed])
        q = np.zeros(self.arms)
        q[allowed] = chances_to_be_largest(means, deviations)
        return q


def finished(before: list[Floats], context: Floats) -> Floats:
    """x: each number in standard deviations above its mean, over all contexts up to this one.

    It is at most 4 and is divided by the root of the number of features; a number that has always
    been the same is 0. The last coordinate is 1.
    """
    seen = np.array([*before, context])
    deviation = seen.std(axis=0)
    varied = np.where(deviation > 0.0, deviation, 1.0)
    scaled = np.clip((context - seen.mean(axis=0)) / varied, -4.0, 4.0) * (deviation > 0.0)
    return np.append(scaled / math.sqrt(max(1, context.size)), 1.0)


def ratio(ended: Floats, risk: Floats) -> Floats:
    """n / N, and 0 where nothing was counted."""
    return np.divide(ended, risk, out=np.zeros_like(ended), where=risk > 0.0)


def shrunk(ended: Floats, risk: Floats, common: Floats) -> Floats:
    """(n + c h) / (N + c)."""
    return (ended + SHRINK * common) / (risk + SHRINK)


def products(hazards: Floats) -> Floats:
    """F(j) = prod_{k >= j} (1 - h_k) for each bin j and the end of the last one, by arm."""
    return np.array([[np.prod(1.0 - row[j:]) for j in range(row.size + 1)] for row in hazards])


def lost_share(passed: Floats, silent: Floats) -> float:
    """rho = (Z + 1) / (M + 2) at the last bin that enough plays have passed."""
    enough = [j for j in range(passed.size) if passed[j] >= FEW_PLAYS]
    return (silent[enough[-1]] + 1.0) / (passed[enough[-1]] + 2.0) if enough else LOST_BEFORE
