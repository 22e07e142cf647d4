"""Four estimates of each arm's mean loss, as they stood after every round of a ledger.

Steady counts every loss of the arm alike, slow and fast let it fade with every round since it was
made, and level counts it alike, less the common level when it was told. An arm's own losses weigh
the first three against each other, those of all arms weigh them too, at a tenth, and the fourth
against them: by the squares of what each was off by. Nothing is kept incrementally but what stood
after earlier rounds, which nothing that comes later can change.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Floats
from belated.ftrl.ledger import Ledger

STEADY, SLOW, FAST, LEVEL, MIXTURE = range(5)
FADING = np.array([1.0, 0.998, 0.99, 1.0])  # by estimate, for every round since the play
LEVEL_FADING = 0.95  # for every loss told since, but not for those of the same round
SHARPNESS, DOUBT, ECHO = 4.0, 4.0, 0.1
SUPPOSED, LEANING = 2.0, 0.25
UNRELATED = 10.0  # losses that are supposed


@dataclass(frozen=True)
class Told:
    """The losses that had been told before some round, in columns."""

    round: NDArray[np.int64]  # in which the play was made
    arm: NDArray[np.int64]
    loss: Floats
    after: NDArray[np.int64]  # the round at whose end it was told

    @classmethod
    def until(cls, ledger: Ledger, round_: int) -> "Told":
        """What was told before this round was played."""
        rows = [(s, i, loss, ledger.ended[s, i]) for (s, i), loss in ledger.arrived.items()]
        rows = [row for row in rows if row[3] < round_]
        columns = np.array(rows, dtype=np.float64).reshape(-1, 4).T
        round_made, arm, after = columns[[0, 1, 3]].astype(np.int64)
        return cls(round_made, arm, columns[2], after)


@dataclass(frozen=True)
class Standing:
    """What stands from the commit of a round on: losses told later are judged by it.

    overall has the mean over all arms by estimate; said has the estimates by arm, and in the last
    row the mixture of an arm's own three. echo is what the losses of all arms have against these,
    and above, of all losses told until the last renewal, how many rounds they took and what they
    were above the expected.
    """

    level: float
    level_share: float
    overall: Floats
    said: Floats
    echo: Floats
    above: Floats

    def expected(self, arm: int) -> float:
        """The loss of a play of this arm in the next round, as all estimates have it together."""
        with_level = self.said[LEVEL, arm] + self.level
        own = self.said[MIXTURE, arm]
        return float((1.0 - self.level_share) * own + self.level_share * with_level)

    def silence(self, age: float, own: Floats) -> float:
        """How much worse than all losses of an arm those are that take as long as this.

        own has in two rows, of the arm, what above has of all arms, and all that was told.
        """
        waited, above = self.above
        longer, own_longer = powers(waited) >= powers(age), powers(own[0]) >= powers(age)
        of_all = above.sum() / (UNRELATED + above.size)
        of_own = own[1].sum() / (UNRELATED + own[1].size)
        says = above[longer].sum() / (UNRELATED + longer.sum()) - of_all
        with_own = own[1][own_longer].sum() + UNRELATED * says
        return float(with_own / (UNRELATED + own_longer.sum()) - of_own)

    def explained(self, waited: float) -> float:
        """How much worse than all losses those were that took just as long as this."""
        took, above = self.above
        alike = powers(took) == powers(waited)
        of_all = above.sum() / (UNRELATED + above.size)
        return float((above[alike] - of_all).sum() / (UNRELATED + alike.sum()))


def renewals(rounds: int) -> list[int]:
    """The rounds up to this one whose commits renew what is said of all arms.

    All of the first sixteen, then every second, and so on; from round 240 on, every sixteenth.
    """
    found = [1]
    while found[-1] <= rounds:
        found.append(found[-1] + min(16, 1 + found[-1] // 16))
    return found[:-1]


def powers(rounds: Floats | float) -> Floats:
    """The largest k for which 4^k is at most so many rounds."""
    found: Floats = np.floor(0.5 * np.floor(np.log2(rounds)))
    return found


def logistic(against: float) -> float:
    """1/(1 + exp(against)), without overflow."""
    return 0.5 * (1.0 - math.tanh(0.5 * against))


class History:
    """The standings after the rounds of a ledger; what uses them asks for the last one first."""

    def __init__(
        self, ledger: Ledger, forgets: bool = True, levels: bool = True, listens: bool = True
    ) -> None:
        self.ledger, self.listens = ledger, listens
        doubt = DOUBT if forgets else math.inf
        self.doubts = np.array([0.0, doubt, 2.0 * doubt])
        self.level_doubt = DOUBT if levels else math.inf
        half, said = np.full(4, 0.5), np.full((5, ledger.arms), 0.5 + 0.5 * LEANING)
        level_share, nothing = logistic(self.level_doubt), np.zeros((2, 0))
        self.standings = [Standing(0.0, level_share, half, said, np.zeros(LEVEL), nothing)]

    def standing(self, round_: int) -> Standing:
        """What stands from the commit of this round on; of round 0, before the first."""
        for u in range(len(self.standings), round_ + 1):
            self.standings.append(self._after_commit(u))
        return self.standings[round_]

    def shares(self, arm: int, told: Told, echo: Floats) -> Floats:
        """How much an arm's own estimates are believed: exp(-evidence against each), normalised."""
        evidence = self.doubts + echo + self._against_own(told, told.arm == arm)
        weights: Floats = np.exp(evidence.min() - evidence)
        shares: Floats = weights / weights.sum()
        return shares

    def estimates(
        self, arm: int, told: Told, round_: int, overall: Floats
    ) -> tuple[Floats, Floats]:
        """The four estimates of an arm, seen from a round, and how many losses back each."""
        sums, counts = self._sums(told, round_, told.arm == arm)
        supposed = overall + LEANING * (1.0 - overall)
        return (sums + SUPPOSED * supposed) / (counts + SUPPOSED), counts

    def _after_commit(self, u: int) -> Standing:
        told, before = Told.until(self.ledger, u), self.standings[u - 1]
        overall, said, echo, above = before.overall, before.said.copy(), before.echo, before.above
        arms = [self.ledger.plays[u - 1].arm]
        if u in renewals(u):
            every = np.ones(told.arm.size, dtype=bool)
            sums, counts = self._sums(told, u, every)
            overall, arms = (sums + 0.5) / (counts + 1.0), list(range(self.ledger.arms))
            echo, above = ECHO * self._against_own(told, every), self.above_expected(told, every)
        for arm in arms:
            assert arm is not None
            said[:MIXTURE, arm], _ = self.estimates(arm, told, u, overall)
            said[MIXTURE, arm] = self.shares(arm, told, echo) @ said[:LEVEL, arm]
        level_share = logistic(self._against_level(told))
        return Standing(self._level(told), level_share, overall, said, echo, above)

    def _sums(self, told: Told, round_: int, of: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Sums and counts of some losses by estimate, as they have faded until this round."""
        weights = FADING[:, None] ** (round_ - told.round[of])
        losses = np.tile(told.loss[of], (4, 1))
        losses[LEVEL] -= [self.standings[after].level for after in told.after[of]]
        return (weights * losses).sum(axis=1), weights.sum(axis=1)

    def _level(self, told: Told) -> float:
        """By how much losses were above what was said of their arms without the level, of late."""
        told_since = np.array([(told.after > after).sum() for after in told.after])
        weights = LEVEL_FADING**told_since if told_since.size else np.zeros(0)
        rest = self._above(told, LEVEL) - self._explained(told)
        return float((weights * rest).sum() / (weights.sum() + 1.0))

    def _against_own(self, told: Told, of: NDArray[np.bool_]) -> Floats:
        """What some losses have against the three estimates of their arms that are its own."""
        rows = [self._above(told, kind)[of] for kind in range(LEVEL)]
        return np.array([SHARPNESS * float((row**2).sum()) for row in rows])

    def above_expected(self, told: Told, of: NDArray[np.bool_]) -> Floats:
        """Of some losses: the rounds each took, counting both ends, and what it was above the
        expected. If nobody listens to silence, there are none."""
        of = of if self.listens else np.zeros_like(of)
        rows = zip(told.arm[of], told.after[of], strict=True)
        expected = np.array([self.standings[after].expected(arm) for arm, after in rows])
        return np.array([(told.after - told.round)[of] + 1.0, told.loss[of] - expected])

    def _explained(self, told: Told) -> Floats:
        """What the delay of each loss explains of it, as was known when it was told."""
        rows = zip(told.round, told.after, strict=True)
        return np.array([self.standings[after].explained(after - s + 1.0) for s, after in rows])

    def _against_level(self, told: Told) -> float:
        """The evidence against a common level, over all arms, as far as no delay explains it."""
        levels = np.array([self.standings[after].level for after in told.after])
        explained = self._explained(told)
        with_level = (self._above(told, LEVEL) - explained - levels) ** 2
        without = (self._above(told, MIXTURE) - explained) ** 2
        return self.level_doubt + SHARPNESS * float((with_level - without).sum())

    def _above(self, told: Told, kind: int) -> Floats:
        """Losses less what one estimate said of their arms when they were told."""
        rows = zip(told.arm, told.loss, told.after, strict=True)
        return np.array([loss - self.standings[after].said[kind, arm] for arm, loss, after in rows])


@lru_cache(maxsize=2)
def history_of(ledger: Ledger, forgets: bool, levels: bool, listens: bool) -> History:
    """The history of a ledger; that of one played on is only extended."""
    return History(ledger, forgets, levels, listens)
