"""What the models of contextual learners said, against what came: calibration and delays."""

from typing import NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.comparison.observed_runs import ObservedGame, ObservedRun, told_in
from belated.environments.missing import NEVER
from belated.learners.following import BINS

GROUPS = 8  # of plays, by what was foretold of them


class Calibration(NamedTuple):
    """Plays in groups by the reward that was foretold: its mean, and what came.

    `came` is the mean reward of all plays of a group, and `told` that of those that were told in
    the game, NaN if there are none.
    """

    foretold: Floats
    came: Floats
    told: Floats
    plays: Counts


class LearnedDelays(NamedTuple):
    """The chance that a report takes longer than an age, if it comes, by age and arm.

    `learned` is what the model has learned of the plays, and `true` what the game has of all.
    """

    ages: Floats
    learned: Floats
    true: Floats


def calibration(game: ObservedGame, run: ObservedRun) -> Calibration | None:
    """Return a run's calibration; None if its learner foretells no rewards, or plays no arms."""
    if run.foretold is None or (run.arms < 0).any():
        return None
    rows = np.arange(game.rounds)
    foretold = run.foretold[rows, run.arms]
    rewards, told = 1.0 - game.losses[rows, run.arms], told_in(game, run)
    parts = np.array_split(np.argsort(foretold, kind="stable"), GROUPS)
    groups = [each for each in parts if each.size]
    return Calibration(
        np.array([foretold[each].mean() for each in groups]),
        np.array([rewards[each].mean() for each in groups]),
        np.array([_mean(rewards[each][told[each]]) for each in groups]),
        np.array([each.size for each in groups]),
    )


def learned_delays(game: ObservedGame, run: ObservedRun) -> LearnedDelays | None:
    """Return the delays that a run's model has learned; None if its learner learns none.

    A report of delay d comes at the age d + 1. Only ages that plays of these rounds can have count.
    """
    if run.untold is None:
        return None
    bins = min(BINS, int(np.log2(game.rounds + 1)))
    ages = np.array([2.0 ** (k + 1) - 1.0 for k in range(bins)])
    comes = game.delays != NEVER
    longer = [
        [_mean(game.delays[comes[:, arm], arm] + 1.0 > age) for arm in range(game.losses.shape[1])]
        for age in ages
    ]
    return LearnedDelays(ages, run.untold[:bins], np.array(longer))


def _mean(values: Floats) -> float:
    """Return the mean, NaN if there are no values."""
    return float(values.mean()) if values.size else float("nan")
