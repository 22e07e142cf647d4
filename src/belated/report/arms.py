"""The arms of a comparison: their account over all games, and which of them to show."""

from dataclasses import dataclass

import numpy as np

from belated.analysis.game_sums import LEVELS
from belated.arrays import Counts, Floats
from belated.comparison.result import Comparison
from belated.report.formatting import arm_named

FEW_ARMS = 12  # are all shown
MOST_ARMS = 8


@dataclass(frozen=True)
class Arms:
    """The mean account of the games; arrays have an entry for each arm.

    `shown` are the arms that matter, best first: all if they are few, else the best one, the one
    the balanced comparator likes most, and those that the learners weigh most.
    """

    labels: tuple[str, ...]
    rounds: int
    losses: Floats
    missing_losses: Floats
    mean_missing: Floats
    most_missing: Counts
    sampled: int  # how many rounds the delays are from
    mean_delay: Floats  # of the losses that come
    never: Floats
    quantiles: Floats  # (level, arm), the median of the games
    balanced: Floats
    shown: Counts

    @property
    def hidden(self) -> int:
        """How many arms are not shown."""
        return len(self.labels) - self.shown.size

    @property
    def best(self) -> int:
        """The arm of the smallest mean loss."""
        return int(self.losses.argmin())

    @property
    def favoured(self) -> int:
        """The arm with the largest weight in the balanced comparator."""
        return int(self.balanced.argmax())

    def quantile(self, level: float) -> Floats:
        """A quantile of the delays, infinite where it falls among losses that never come."""
        quantile: Floats = self.quantiles[LEVELS.index(level)]
        return quantile

    def share(self, weights: Floats) -> Floats:
        """The weights (last axis) of the arms shown, and of all others if there are others."""
        kept = weights[..., self.shown]
        if not self.hidden:
            return kept
        others = np.maximum(weights.sum(axis=-1) - kept.sum(axis=-1), 0.0)
        return np.concatenate([kept, others[..., None]], axis=-1)


def arms_of(comparison: Comparison) -> Arms:
    """The arms of a comparison."""
    game_sums = comparison.game_sums
    losses = np.mean([each.losses for each in game_sums], axis=0)
    balanced = np.mean(comparison.balanced, axis=0)
    return Arms(
        labels=tuple(map(arm_named, game_sums[0].labels)),
        rounds=game_sums[0].rounds,
        losses=losses,
        missing_losses=np.mean([each.missing_losses for each in game_sums], axis=0),
        mean_missing=np.mean([each.mean_missing for each in game_sums], axis=0),
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
        shown=_shown(comparison, losses, int(balanced.argmax())),
    )


def _shown(comparison: Comparison, losses: Floats, favoured: int) -> Counts:
    if losses.size <= FEW_ARMS:
        return np.argsort(losses, kind="stable")
    weights = np.max(
        [comparison.mean_weights(k) for k in range(len(comparison.contenders))], axis=0
    )
    by_weight = np.lexsort((losses, -weights))
    first = [int(losses.argmin()), favoured, *by_weight[:MOST_ARMS].tolist()]
    chosen = np.array(list(dict.fromkeys(first))[:MOST_ARMS])
    return chosen[np.argsort(losses[chosen], kind="stable")]
