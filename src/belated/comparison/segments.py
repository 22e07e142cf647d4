"""Regret by segment of the contexts: by quarter of a number, or by value of a category."""

from typing import NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.comparison.observed_runs import Observed, ObservedGame
from belated.table_files import Mask

MOST_VALUES = 6  # of a feature that is taken to be a category
QUARTERS = 4
MOST_FEATURES = 3


class Segment(NamedTuple):
    """Some rounds of a game: those in which a feature has a value, or is between two limits."""

    feature: str
    label: str
    rows: Mask


class SegmentRegret(NamedTuple):
    """The regret per round of each learner in a segment, and the arm that is best there.

    Losses are in [0, 1]. Where the means of the arms are known, the regret is that against the best
    arm of each context, else that against the best arm of the segment.
    """

    feature: str
    label: str
    rounds: int
    best: str
    regrets: tuple[float, ...]


def segments_of(values: Floats, feature: str) -> list[Segment]:
    """Return the segments of a feature: its values if there are few, else its quarters."""
    different = np.unique(values)
    if different.size <= MOST_VALUES:
        return [Segment(feature, f"{value:g}", values == value) for value in different]
    limits = np.unique(np.quantile(values, np.arange(1, QUARTERS) / QUARTERS))
    places = np.searchsorted(limits, values, side="left")
    labels = [
        f"up to {limits[0]:.3g}",
        *(f"to {limit:.3g}" for limit in limits[1:]),
        f"above {limits[-1]:.3g}",
    ]
    return [
        Segment(feature, label, places == k)
        for k, label in enumerate(labels)
        if (places == k).any()
    ]


def known_losses(game: ObservedGame) -> Floats:
    """Return the mean losses of the arms in each round or, if no one knows them, the losses."""
    return game.losses if game.means is None else game.means


def telling_features(game: ObservedGame) -> Counts:
    """Return the features on which the right arm depends most, at most MOST_FEATURES of them.

    What a feature tells is how much is lost by the best arm, less that by the best of each segment.
    """
    losses = known_losses(game)
    told = [
        -sum(
            float(losses[each.rows].sum(axis=0).min())
            for each in segments_of(game.contexts[:, k], name)
        )
        for k, name in enumerate(game.features)
    ]
    first = np.argsort(-np.array(told), kind="stable")[:MOST_FEATURES]
    return np.sort(first)


def segment_regrets(observed: Observed) -> list[SegmentRegret]:
    """Return the regrets of all learners in the segments of the features that tell most."""
    game, losses = observed.game, known_losses(observed.game)
    lost = [(run.q * losses).sum(axis=1) for run in observed.runs]
    found = []
    for k in telling_features(game):
        for segment in segments_of(game.contexts[:, k], game.features[k]):
            own = losses[segment.rows]
            by_arm = own.mean(axis=0)
            least = float(by_arm.min() if game.means is None else own.min(axis=1).mean())
            found.append(
                SegmentRegret(
                    segment.feature,
                    segment.label,
                    int(segment.rows.sum()),
                    game.labels[int(by_arm.argmin())],
                    tuple(float(each[segment.rows].mean()) - least for each in lost),
                )
            )
    return found
