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
from tests.twins.practical_record import LAST_BIN, Record

ODDS, SHARED_PLAYS, ALIKE, ENOUGH = 15.0, 10.0, 10, 20
BY_OUTCOME = "by outcome"  # what silence means if both kinds report, after all were of one kind
Meaning = float | str | None


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
        self.next_when_judged = 0
        self.meaning: Meaning = options.default_loss
        self.counts_as = np.zeros((arms, LAST_BIN + 1, 2))  # of a pending play: number and sum
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
        """V(i) and U(i): how many losses the pending plays of each arm count as, and their sum."""
        pending = self.record.pending()
        arms, bins = self.record.arm[pending], self.record.bins()[pending]
        found = [
            np.bincount(arms, self.counts_as[arms, bins, k], self.arms).astype(np.float64)
            for k in range(2)
        ]
        return found[0], found[1]

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
        return (n + 1.0) / (n + 1.0 + p)

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
        may_forget = self.meaning in (None, BY_OUTCOME) and self.options.forgets
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
        law = self.law_of_silence()
        for i in range(self.arms):
            S, lost = [law.untold(i, kind) for kind in (0.0, 1.0, None)], law.lost(i)
            for j in range(1, LAST_BIN + 1):
                found = counts_as(
                    [each[j] for each in S], lost, float(self.estimate[i]), self.meaning
                )
                self.counts_as[i, j] = found
        self.next_when_judged = self.record.round

    def meaning_now(self) -> Meaning:
        """What was declared; else the opposite of reports that are alike, among those that count.

        These are the reports of plays that have passed the bin in which they reported.
        """
        if self.options.default_loss is not None:
            return self.options.default_loss
        losses = self.record.loss[self.law_of_silence().is_report.any(axis=1)]
        if losses.size < ALIKE:
            return None
        if (losses == 0.0).all():
            return 1.0
        if (losses == 1.0).all():
            return 0.0
        return None if self.meaning is None else BY_OUTCOME

    def law_of_silence(self) -> "LawOfSilence":
        return LawOfSilence(self.record, self.options.default_loss)


class LawOfSilence:
    """What is known of delays, counted play by play: a row for each play, a column for each bin.

    A play counts in a bin as soon as it has passed it, if it was not withdrawn before, and not if
    it was told the declared loss before. It was `told` by the end of the bin, or is silent; it
    `is_report` if it was told in the bin.
    """

    def __init__(self, record: Record, default_loss: float | None) -> None:
        self.arm, self.loss, self.arms = record.arm, np.nan_to_num(record.loss), record.arms
        made = np.arange(1, record.arm.size + 1)
        end = 2.0 ** np.arange(1, LAST_BIN + 1)
        passed = record.ages()[:, None] >= end
        told = (record.came - made)[:, None] < end  # the ages at which they were told
        withdrawn = (record.withdrawn - made)[:, None] < end
        says_nothing = told & (record.loss == default_loss)[:, None]
        self.counts: NDArray[np.bool_] = passed & ~withdrawn & ~says_nothing
        self.told: NDArray[np.bool_] = self.counts & told
        in_bin = (record.came - made)[:, None] >= end / 2.0
        self.is_report: NDArray[np.bool_] = self.told & in_bin

    def of_kind(self, rows: NDArray[np.bool_], kind: float | None) -> Floats:
        """How many losses of 0, of 1, or of both kinds, in these rows; l is l of one of 1."""
        share = {None: 1.0, 0.0: 1.0 - self.loss, 1.0: self.loss}[kind]
        found: Floats = (rows * np.reshape(share * np.ones(self.arm.size), (-1, 1))).sum(axis=0)
        return found

    def untold(self, i: int, kind: float | None) -> list[float]:
        """S: the probability that a report of a kind is still to come at the ages of each bin."""
        own = (self.arm == i)[:, None]
        both = ratio(self.of_kind(self.is_report, None), self.of_kind(self.told, None))
        h = both
        if kind is not None:
            h = mixed(self.of_kind(self.is_report, kind), self.of_kind(self.told, kind), h)
        h = mixed(self.of_kind(self.is_report & own, kind), self.of_kind(self.told & own, kind), h)
        return [1.0 - float(np.prod(1.0 - h[j:])) for j in range(LAST_BIN + 1)]

    def lost(self, i: int) -> float:
        """rho: the share of the arm's reports that are lost."""
        own = self.counts & (self.arm == i)[:, None]
        passed, silent = own.sum(axis=0), (own & ~self.told).sum(axis=0)
        enough = np.flatnonzero(passed >= ENOUGH)
        return float((silent[enough[-1]] + 1) / (passed[enough[-1]] + 2)) if enough.size else 0.9


def ratio(reports: Floats, told: Floats) -> Floats:
    """The share of reports, 0 where there are none."""
    return np.divide(reports, told, out=np.zeros_like(reports), where=told > 0.0)


def mixed(reports: Floats, told: Floats, h: Floats) -> Floats:
    """The share of reports, mixed with ten plays that have the share h."""
    return (reports + SHARED_PLAYS * h) / (told + SHARED_PLAYS)


def counts_as(S: list[float], lost: float, m: float, meaning: Meaning) -> tuple[float, float]:
    """How many losses a pending play counts as, and their sum.

    S has the probabilities that a loss of 0, one of 1, or any, is still to come.
    """
    if meaning is None:
        return 0.0, 0.0
    if isinstance(meaning, float) and 0.0 < meaning < 1.0:
        return 1.0 - S[2], (1.0 - S[2]) * meaning
    G0, G1 = S[0], S[1]
    if meaning == BY_OUTCOME:
        G0, G1 = lost + (1.0 - lost) * G0, lost + (1.0 - lost) * G1
    elif meaning == 1.0:
        G1 = 1.0
    else:
        G0 = 1.0
    c = min(max(m, 0.01), 0.99)
    silent = c * G1 + (1.0 - c) * G0
    if silent == 0.0:
        return 0.0, 0.0
    if G1 >= G0:
        return c * (G1 - G0) / silent, c * (G1 - G0) / silent
    return (1.0 - c) * (G0 - G1) / silent, 0.0
