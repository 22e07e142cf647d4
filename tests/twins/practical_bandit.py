"""The practical bandit from docs/practical-bandit.md, computed anew from the record of the game.

Only what the text says stays in force is kept from round to round: the estimates, the pooled means,
the gains, the memory used, and what silence counted as when it was last judged.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Floats
from tests.oracle.certified_trust import with_floor
from tests.twins.practical_branches import Account, Fallback
from tests.twins.practical_record import Record

ODDS, SHARED_PLAYS = 12.0, 10.0
BINS, LAST = 14, 13


@dataclass(frozen=True)
class Options:
    """What the user may choose; `exploration` is c."""

    default_loss: float | None = None
    forgets: bool = True
    certified: bool = True
    beta: float = 5.0
    exploration: float = 0.3
    spread: float = 0.45


class PracticalBanditTwin:
    """In every round first `tell` and `withdraw`, then `begin`, then `play` of the arm drawn."""

    def __init__(self, arms: int, rounds: int, options: Options) -> None:
        self.arms, self.options, self.record = arms, options, Record(arms, rounds)
        self.growth = np.array([1.0, 1.0 + 1.0 / (50.0 * arms), 1.0 + 1.0 / (10.0 * arms)])
        self.account = Account(self.record, options.beta, options.certified)
        self.fallback = Fallback(self.record)
        self.gains, self.memory = np.zeros(3), 0
        self.meaning, self.next_when_judged = options.default_loss, 0
        self.counts_as = np.zeros((2, arms, BINS))  # how many losses, and their sum
        self.pooled = self.pooled_means()
        self.estimate, self.number = np.zeros(arms), np.zeros(arms)
        self.compute_estimates(list(range(arms)))

    # --- the four verbs --------------------------------------------------------------------------

    def tell(self, round_: int, loss: float) -> None:
        """The loss of the play of this round comes at the start of the present round."""
        self.record.tell(round_, loss)
        self.compute_estimates([self.record.arm[round_ - 1]])

    def withdraw(self, round_: int) -> None:
        """The play of this round will never be told."""
        self.record.withdraw(round_)
        self.compute_estimates([self.record.arm[round_ - 1]])

    def begin(self) -> dict[str, Any]:
        """q of the present round, whether it is trusted, and the account."""
        row = self.account.start()
        if row["trusted"]:
            t, c = self.record.round, self.options.exploration
            q = with_floor(list(self.weights()), row["C"], row["b"], t, c)
        else:
            q = self.fallback.q_of_round()
        self.account.q[-1] = [float(x) for x in q]
        return row | {"q": np.array(self.account.q[-1])}

    def play(self, arm: int) -> None:
        """The arm of the present round is drawn, and the round passes."""
        self.account.play(arm)
        if not self.account.trusted[-1]:
            self.fallback.play(arm)
        self.freeze(arm)

    def freeze(self, arm: int) -> None:
        """Put the play with its forecasts into the record, after which the round passes."""
        self.record.play(arm, self.forecasts()[:, arm], self.evidence(arm))
        self.round_passes(arm)

    # --- memories --------------------------------------------------------------------------------

    def sums(self) -> tuple[Floats, Floats]:
        """S_k(i) and N_k(i) of all memories and arms in the present round."""
        told = self.record.told()
        arms, losses = self.record.arm[told], self.record.loss[told]
        ages = self.record.round - self.record.came[told]
        weights = [g**-ages for g in self.growth]
        return (
            np.array([np.bincount(arms, w * losses, self.arms) for w in weights]),
            np.array([np.bincount(arms, w, self.arms) for w in weights]),
        )

    def silent(self) -> Floats:
        """V(i) and U(i): what the pending plays of each arm count as."""
        pending = self.record.pending()
        arms, bins = self.record.arm[pending], self.record.bins()[pending]
        return np.array(
            [np.bincount(arms, table[arms, bins], self.arms) for table in self.counts_as]
        )

    def pooled_means(self) -> Floats:
        (S, N), (V, U) = self.sums(), self.silent()
        pooled: Floats = (0.5 + S.sum(axis=1) + U.sum()) / (1.0 + N.sum(axis=1) + V.sum())
        return pooled

    def forecasts(self) -> Floats:
        """forecast_k(i) in the present round, with the pooled means of the last that passed."""
        (S, N), (V, U) = self.sums(), self.silent()
        forecasts: Floats = (self.pooled[:, None] + S + U) / (1.0 + N + V)
        return forecasts

    def evidence(self, arm: int) -> float:
        own = self.record.arm == arm
        n = int((own & self.record.told()).sum())
        p = int((own & self.record.pending()).sum())
        return (n + 1.0) / (n + 1.0 + p) / self.narrowness()

    def gained(self) -> Floats:
        """The gains of all memories from the losses that came just before the last round."""
        gains = np.zeros(3)
        for s in np.flatnonzero(self.record.came == self.record.number):
            f, loss = np.clip(self.record.forecasts[s], 0.001, 0.999), self.record.loss[s]
            better = loss * np.log(f / f[0]) + (1.0 - loss) * np.log((1.0 - f) / (1.0 - f[0]))
            gains += self.record.evidence[s] * better
        return gains

    def choose_memory(self) -> None:
        """The gains of the round that passes are added up, and the memory is chosen."""
        if self.meaning is None and self.options.forgets:
            self.gains = np.maximum(0.0, self.gains + self.gained())
            self.memory = int(self.gains.argmax()) if self.gains.max() > ODDS else 0
        else:
            self.memory = 0

    # --- the estimates and weights ---------------------------------------------------------------

    def compute_estimates(self, arms: list[int]) -> None:
        number = 1.0 + self.sums()[1][self.memory] + self.silent()[0]
        self.number[arms] = number[arms]
        self.estimate[arms] = np.clip(self.forecasts()[self.memory], 1e-9, 1.0 - 1e-9)[arms]

    def narrowness(self) -> float:
        told = self.record.told()
        losses, arms = self.record.loss[told], self.record.arm[told]
        Q = sum(losses[arms == i].sum() ** 2 / (arms == i).sum() for i in set(arms))
        R = (1.0 + (losses**2).sum() - Q) / (1.0 + losses.sum() - Q)
        return float(np.clip(R, 0.001, 1.0))

    def weights(self) -> Floats:
        """q before exploration on demand."""
        m, best = self.estimate, self.estimate.min()
        kl = m * np.log(m / best) + (1.0 - m) * np.log((1.0 - m) / (1.0 - best))
        weights: Floats = np.exp(-self.number * kl / (self.narrowness() * self.options.spread**2))
        return weights / weights.sum()

    # --- a round passes --------------------------------------------------------------------------

    def round_passes(self, arm: int) -> None:
        """In this order: the memory is chosen, silence is judged, means and estimates follow."""
        before, passed = self.memory, self.record.number
        self.choose_memory()
        judged = passed >= self.next_when_judged + self.next_when_judged // 20
        if judged:
            self.judge_silence()
        self.pooled = self.pooled_means()
        everything = judged or self.memory != before or self.memory != 0
        self.compute_estimates(list(range(self.arms)) if everything else [arm])

    def judge_silence(self) -> None:
        reached, reports = self.law_of_silence()
        low, high = reports.sum(axis=(1, 2))
        self.meaning = self.options.default_loss
        if self.meaning is None and low >= 10.0 and high == 0.0:
            self.meaning = 1.0
        elif self.meaning is None and high >= 10.0 and low == 0.0:
            self.meaning = 0.0
        for i in range(self.arms):
            silent, s = silent_if_it_comes(reached, reports, i)
            m = float(np.clip(self.estimate[i], 0.01, 0.99))
            for j in range(BINS):
                G_low, G_high = silent[:, j]
                self.counts_as[:, i, j] = counts_as(G_low, G_high, s, m, self.meaning)
        self.next_when_judged = self.record.round

    def law_of_silence(self) -> tuple[Floats, Floats]:
        """reached[i, j] and reports[y, i, j] (y = low, high), counted play by play."""
        reached, reports = np.zeros((self.arms, BINS)), np.zeros((2, self.arms, BINS))
        arms, loss, ages = self.record.arm, self.record.loss, self.record.ages()
        made = np.arange(1, arms.size + 1)
        told, withdrawn = self.record.came - made, self.record.withdrawn - made  # the age then
        for j in range(BINS):
            first, end = 2**j, 2 ** (j + 1) if j < LAST else math.inf
            look = end if j < LAST else first  # the age at which it counts, if not withdrawn
            counts = (ages >= look) & (withdrawn >= look)
            there: NDArray[np.bool_] = counts & (told >= first)
            reported = there & (told < end)
            reached[:, j] = np.bincount(arms[there], minlength=self.arms)
            reports[0, :, j] = np.bincount(arms[reported], 1.0 - loss[reported], self.arms)
            reports[1, :, j] = np.bincount(arms[reported], loss[reported], self.arms)
        return reached, reports


def silent_if_it_comes(reached: Floats, reports: Floats, i: int) -> tuple[Floats, float]:
    """G_y(j) of an arm, y = low, high in the rows, and s, the share that never comes."""
    h = np.zeros((2, BINS))
    for j in range(BINS):
        of_all = reached[:, j].sum()
        prior = reports[:, :, j].sum(axis=1) / of_all if of_all else np.zeros(2)
        h[:, j] = (reports[:, i, j] + SHARED_PLAYS * prior) / (reached[i, j] + SHARED_PLAYS)
    s, c = 1.0, np.zeros((2, BINS + 1))  # c of bin j is in column j + 1
    middle = np.zeros((2, BINS))
    for j in range(BINS):
        middle[:, j] = c[:, j] + s * h[:, j] / 2.0
        c[:, j + 1] = c[:, j] + s * h[:, j]
        s = max(0.0, 1.0 - c[0, j + 1] - c[1, j + 1])
    G = np.ones((2, BINS))
    for y in range(2):
        if c[y, BINS] != 0.0:
            G[y] = np.maximum(0.0, 1.0 - middle[y] / c[y, BINS])
    return G, s


def counts_as(
    G_low: float, G_high: float, s: float, m: float, meaning: float | None
) -> tuple[float, float]:
    """How many losses a pending play counts as, and their sum."""
    if meaning is None:
        r = max(s, 0.02)
        G_low, G_high = r + (1.0 - r) * G_low, r + (1.0 - r) * G_high
    elif meaning == 1.0:
        G_high = 1.0
    elif meaning == 0.0:
        G_low = 1.0
    g = (1.0 - m) * G_low + m * G_high
    if meaning is not None and meaning not in (0.0, 1.0):
        return 1.0 - g, (1.0 - g) * meaning
    ones = m * (G_high - G_low) / g
    return (ones, ones) if G_high >= G_low else ((1.0 - m) * (G_low - G_high) / g, 0.0)
