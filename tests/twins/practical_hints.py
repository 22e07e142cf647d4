"""Hints: what Algorithm 1 adds to Lhat_t^av for the prediction of round t only."""

import math
from dataclasses import dataclass

import numpy as np

from belated.arrays import Floats
from belated.ftrl.estimators import Estimator
from belated.ftrl.ledger import Ledger
from tests.twins.practical_imputation import SLOW, History, Told, history_of, renewals

UNSEEN_RISE = 0.5  # of the level, since an arm was last played, is taken off its worth
FORGIVEN = 0.5  # of the excess of squared errors, for every recent play that is outstanding
CHECKS_FALL = -5.0 / 6.0  # the share of checks, as a power of the round


@dataclass(frozen=True)
class Imputing:
    """h_t(i) = t worth_t(i), with which all that is missing, of every arm, is imputed.

    Without trust it is what the rounds without trust have brought: Lhat^av of a game of their own.
    The worth of an arm is its estimated mean loss less `width` standard deviations of it, and less
    half of what the common level has risen since it was last played, for it may have stayed. It
    stands until the arm is played, a loss of it is told or withdrawn, or all arms are renewed.
    """

    estimate: Estimator
    width: float
    checks: float
    patience: float
    forgets: bool
    levels: bool
    listens: bool

    def hint(self, ledger: Ledger) -> Floats:
        """h_t."""
        if self.is_trusted(ledger):
            worth = [self.worth(ledger, arm) for arm in range(ledger.arms)]
            return ledger.round * np.array(worth)[:, None]
        own, available = without_trust(ledger), np.zeros((ledger.arms, 1))
        for (s, arm), loss in own.arrived.items():
            available[arm] += self.estimate(own.plays[s - 1], arm, loss)
        return available

    def worth(self, ledger: Ledger, arm: int) -> float:
        """As of round t = u + 1, where u is the last round at or after which anything changed."""
        u = self._last_change(ledger, arm)
        t, history = u + 1, self._history(ledger)
        told, standing = Told.until(ledger, ledger.round), history.standing(u)
        estimates, counts = history.estimates(arm, told, u, standing.overall)
        believed = (1.0 - standing.level_share) * history.shares(arm, told, standing.echo)
        shares = np.append(believed, standing.level_share)
        mean, count = float(shares @ estimates), float(shares @ counts)
        waiting = ledger.outstanding_rounds(arm)
        if waiting:
            recent, age = sum((s / t) ** 2 for s in waiting), t - sum(waiting) / len(waiting)
            count += recent
            own = history.above_expected(told, told.arm == arm)
            mean += recent * standing.silence(age, own) / (count + 1.0)
        share = min(1.0, max(0.0, (mean * (count + 1.0) + 1.0) / (count + 3.0)))
        growth = 1.0 + max(0.0, math.log(t / (ledger.arms * (count + 1.0))))
        mean -= self.width * math.sqrt(share * (1.0 - share) * growth / (count + 1.0))
        met = history.standing(self._last_play(ledger, arm)).level
        return mean - UNSEEN_RISE * standing.level_share * max(0.0, standing.level - met)

    def _history(self, ledger: Ledger) -> History:
        return history_of(ledger, self.forgets, self.levels, self.listens)

    def _last_play(self, ledger: Ledger, arm: int) -> int:
        return max((play.round for play in ledger.plays if play.arm == arm), default=0)

    def _last_change(self, ledger: Ledger, arm: int) -> int:
        ended = [after for (_, i), after in ledger.ended.items() if i == arm]
        return max([self._last_play(ledger, arm), *ended, *renewals(ledger.round - 1)])

    def is_trusted(self, ledger: Ledger) -> bool:
        """Whether what was expected of plays was not worse than the mean of all arms, by too much.

        Both are taken as they stood when the play was chosen, and judged when its loss is told.
        """
        history, excess = self._history(ledger), 0.0
        history.standing(ledger.round - 1)
        for (s, arm), loss in ledger.arrived.items():
            standing = history.standings[s - 1]
            excess += (loss - standing.expected(arm)) ** 2 - (loss - standing.overall[SLOW]) ** 2
        recent = sum((s / ledger.round) ** 2 for s, _ in ledger.pending)
        return excess <= self.patience + FORGIVEN * recent

    def checked(self, ledger: Ledger, p: Floats) -> Floats:
        """p_t with no arm below a share that falls as t^(-5/6), and with the overall mean loss m as
        m/(1 - m), which compares what may be found with what looking may cost."""
        if not self.is_trusted(ledger):
            return p
        share, last = 0.5, max([0, *renewals(ledger.round - 1)])
        if last > 0:
            mean = float(self._history(ledger).standing(last).overall[SLOW])
            share = min(0.5, self.checks * mean / (1.0 - mean) * last**CHECKS_FALL)
        raised: Floats = np.maximum(p, share / ledger.arms)
        raised /= raised.sum()
        return raised


def without_trust(ledger: Ledger) -> Ledger:
    """The rounds in which the hint was not trusted, as a game of their own.

    They are known by the entropy's rate: with trust there is none.
    """
    return ledger.restricted_to([play.round for play in ledger.plays if play.rates.size > 0])
