"""The arms of a comparison: their sums averaged over the games, and which arms to show."""

from dataclasses import dataclass

import numpy as np

from belated.analysis.game_sums import LEVELS
from belated.arrays import Counts, Floats
from belated.comparison.result import Comparison
from belated.report.formatting import arm_name

FEW_ARMS = 12  # up to this number, all arms are shown
MOST_ARMS = 8  # of more arms, only this number is shown


@dataclass(frozen=True)
class ArmSummary:
    """Losses, delays and missing losses of each arm, averaged over the games of a comparison.

    Losses are in the units of the environment. Arrays have an entry for each arm. `shown` are the
    indices of the arms that a report shows, in the order of their losses. They are all arms if
    these are few. Else they are the best one, the one with the largest weight in the balanced
    comparator, and those with the largest weights of the learners.
    """

    labels: tuple[str, ...]
    rounds: int
    losses: Floats
    missing_losses: Floats
    mean_missing: Floats
    most_missing: Counts
    sampled: int  # number of rounds whose delays were examined
    mean_delay: Floats  # of the losses that arrive
    never: Floats  # share of the losses that never arrive
    quantiles: Floats  # of the delays: (level, arm), the median over the games
    balanced: Floats
    shown: Counts

    @property
    def hidden(self) -> int:
        """The number of arms that are not shown."""
        return len(self.labels) - self.shown.size

    @property
    def best(self) -> int:
        """The index of the arm with the smallest mean loss."""
        return int(self.losses.argmin())

    @property
    def favoured(self) -> int:
        """The index of the arm with the largest weight in the balanced comparator."""
        return int(self.balanced.argmax())

    def quantile(self, level: float) -> Floats:
        """Return a quantile of each arm's delays, infinite if that loss never arrives."""
        quantile: Floats = self.quantiles[LEVELS.index(level)]
        return quantile

    def share(self, weights: Floats) -> Floats:
        """Reduce weights (last axis: arms) to the arms shown plus, if any are hidden, their sum."""
        kept = weights[..., self.shown]
        if not self.hidden:
            return kept
        others = np.maximum(weights.sum(axis=-1) - kept.sum(axis=-1), 0.0)
        return np.concatenate([kept, others[..., None]], axis=-1)


def summarise_arms(comparison: Comparison) -> ArmSummary:
    """Average the sums of each arm over all games, and choose the arms to show."""
    game_sums, units = comparison.game_sums, comparison.units
    rounds = game_sums[0].rounds
    losses = units.total_of(np.mean([each.losses for each in game_sums], axis=0), rounds)
    missing = np.mean([each.mean_missing for each in game_sums], axis=0)
    weighed = np.mean([each.missing_losses for each in game_sums], axis=0)
    balanced = np.mean(comparison.balanced, axis=0)
    return ArmSummary(
        labels=tuple(map(arm_name, game_sums[0].labels)),
        rounds=rounds,
        losses=losses,
        missing_losses=units.total_of(weighed, rounds * missing),
        mean_missing=missing,
        most_missing=np.max([each.most_missing for each in game_sums], axis=0),
        sampled=game_sums[0].delays.sampled,
        mean_delay=np.mean([each.delays.mean for each in game_sums], axis=0),
        never=np.mean([each.delays.never for each in game_sums], axis=0),
        quantiles=np.quantile(
            [each.delays.quantiles for each in game_sums],
            0.5,
            axis=0,
            method="inverted_cdf",
        ),
        balanced=balanced,
        shown=_choose_arms(comparison, losses, int(balanced.argmax())),
    )


def _choose_arms(comparison: Comparison, losses: Floats, favoured: int) -> Counts:
    """Return the indices of the arms to show, smallest loss first."""
    if losses.size <= FEW_ARMS:
        return np.argsort(losses, kind="stable")
    weights = np.max(
        [comparison.mean_weights(k) for k in range(len(comparison.contenders))], axis=0
    )
    by_weight = np.lexsort((losses, -weights))
    first = [int(losses.argmin()), favoured, *by_weight[:MOST_ARMS].tolist()]
    chosen = np.array(list(dict.fromkeys(first))[:MOST_ARMS])
    return chosen[np.argsort(losses[chosen], kind="stable")]
