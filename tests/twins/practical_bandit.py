"""The practical bandit from docs/practical-bandit.md, computed anew from the record of the game.

Only what the text says stays in force is kept from round to round: the estimates, the pooled means,
the gain, the memory used, and what silence counted as when it was last judged.
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

ODDS, SHARED_PLAYS, ALIKE = 15.0, 10.0, 10
BINS, LAST = 14, 13


@dataclass(frozen=True)
class Options:
    """What the user may choose; `exploration` is c. A default loss forgoes certified trust."""

    default_loss: float | None = None
    forgets: bool = True
    certified: bool | None = None
    beta: float = 5.0
    exploration: float = 0.3
    spread: float = 0.5

    @property
    def is_certified(self) -> bool:
        """As it was chosen, or else unless there is a default loss."""
        return self.default_loss is None if self.certified is None else self.certified


class PracticalBanditTwin:
    """In every round first `tell` and `withdraw`, then `begin`, then `play` of the arm drawn."""

    def __init__(self, arms: int, rounds: int, options: Options) -> None:
        self.arms, self.options, self.record = arms, options, Record(arms, rounds)
        self.growth = np.array([1.0, 1.0 + 1.0 / (10.0 * arms)])  # of both memories
        self.account = Account(self.record, options.beta, options.is_certified)
        self.fallback = Fallback(self.record)
        self.gain, self.memory = 0.0, 0
        self.meaning, self.next_when_judged = options.default_loss, 0
        self.counts_as = np.zeros((arms, BINS))  # losses of the size that silence means
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
        self.round_passes()

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

    def silent(self) -> tuple[Floats, Floats]:
        """V(i) and v V(i): what the pending plays of each arm count as, and its sum."""
        pending = self.record.pending()
        arms, bins = self.record.arm[pending], self.record.bins()[pending]
        V = np.bincount(arms, self.counts_as[arms, bins], self.arms).astype(np.float64)
        return V, V * (self.meaning or 0.0)

    def pooled_means(self) -> Floats:
        (S, N), (V, vV) = self.sums(), self.silent()
        pooled: Floats = (0.5 + S.sum(axis=1) + vV.sum()) / (1.0 + N.sum(axis=1) + V.sum())
        return pooled

    def forecasts(self) -> Floats:
        """forecast_k(i) in the present round, with the pooled means of the last that passed."""
        (S, N), (V, vV) = self.sums(), self.silent()
        forecasts: Floats = (self.pooled[:, None] + S + vV) / (1.0 + N + V)
        return forecasts

    def evidence(self, arm: int) -> float:
        own = self.record.arm == arm
        n = int((own & self.record.told()).sum())
        p = int((own & self.record.pending()).sum())
        return (n + 1.0) / (n + 1.0 + p) / self.narrowness()

    def gained(self) -> float:
        """What the losses that came just before the last round say for the short memory."""
        gain = 0.0
        for s in np.flatnonzero(self.record.came == self.record.number):
            f, loss = np.clip(self.record.forecasts[s], 0.001, 0.999), self.record.loss[s]
            of_rest = (1.0 - loss) * math.log((1.0 - f[1]) / (1.0 - f[0]))
            gain += self.record.evidence[s] * (loss * math.log(f[1] / f[0]) + of_rest)
        return gain

    def choose_memory(self) -> None:
        """The gains of the round that passes are added up, and the memory is chosen."""
        may_forget = self.meaning is None and self.options.forgets
        if may_forget:
            self.gain = max(0.0, self.gain + self.gained())
        self.memory = int(may_forget and self.gain > ODDS)

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
        scale = self.narrowness() * self.options.spread**2
        likelihoods: Floats = np.exp(-self.number * kl / scale)
        weights: Floats = likelihoods / likelihoods.sum()
        return weights

    # --- a round passes --------------------------------------------------------------------------

    def round_passes(self) -> None:
        """In this order: the memory is chosen, silence is judged, means and estimates follow."""
        before, passed = self.memory, self.record.number
        self.choose_memory()
        judged = passed >= self.next_when_judged + self.next_when_judged // 20
        if judged:
            self.judge_silence()
        self.pooled = self.pooled_means()
        if judged or self.memory != before or self.memory == 1:
            self.compute_estimates(list(range(self.arms)))

    def judge_silence(self) -> None:
        self.meaning = self.meaning_now()
        reached, reports = self.law_of_silence()
        for i in range(self.arms):
            G = still_to_come(reached, reports, i)
            for j in range(BINS):
                self.counts_as[i, j] = counts_as(G[j], float(self.estimate[i]), self.meaning)
        self.next_when_judged = self.record.round

    def meaning_now(self) -> float | None:
        losses = self.record.loss[self.record.told()]
        if self.options.default_loss is not None or losses.size < ALIKE:
            return self.options.default_loss
        if (losses == 0.0).all():
            return 1.0
        return 0.0 if (losses == 1.0).all() else None

    def law_of_silence(self) -> tuple[Floats, Floats]:
        """reached[i, j] and reports[i, j], counted play by play."""
        reached, reports = np.zeros((self.arms, BINS)), np.zeros((self.arms, BINS))
        arms, ages = self.record.arm, self.record.ages()
        made = np.arange(1, arms.size + 1)
        told, withdrawn = self.record.came - made, self.record.withdrawn - made  # the age then
        for j in range(BINS):
            first, end = 2**j, 2 ** (j + 1) if j < LAST else math.inf
            look = end if j < LAST else first  # the age at which it counts, if not withdrawn
            counts = (ages >= look) & (withdrawn >= look)
            there: NDArray[np.bool_] = counts & (told >= first)
            reached[:, j] = np.bincount(arms[there], minlength=self.arms)
            reports[:, j] = np.bincount(arms[there & (told < end)], minlength=self.arms)
        return reached, reports


def still_to_come(reached: Floats, reports: Floats, i: int) -> list[float]:
    """G_j of an arm, of every bin; 1 where nothing ever comes, so that nothing counts."""
    s = [1.0]
    for j in range(BINS):
        of_all = reached[:, j].sum()
        shared = reports[:, j].sum() / of_all if of_all else 0.0
        h = (reports[i, j] + SHARED_PLAYS * shared) / (reached[i, j] + SHARED_PLAYS)
        s.append(s[j] * max(0.0, 1.0 - h))
    if s[BINS] == 1.0:
        return [1.0] * BINS
    return [((s[j] + s[j + 1]) / 2.0 - s[BINS]) / (1.0 - s[BINS]) for j in range(BINS)]


def counts_as(G: float, m: float, meaning: float | None) -> float:
    """How many losses of the size that silence means a pending play counts as."""
    if meaning is None:
        return 0.0
    c = 1.0
    if meaning in (0.0, 1.0):
        c = min(max(m if meaning == 1.0 else 1.0 - m, 0.01), 0.99)
    return c * (1.0 - G) / (c + (1.0 - c) * G)
