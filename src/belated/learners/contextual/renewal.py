"""Renewal: a second model of the recent plays, which replaces the model once it foretells better.

A world may change, and what was learned before is then wrong. A second ridge learns only from the
plays since some round, and from time to time starts again. Of each observation that both learn from
it is noted how much better the second one has foretold it, as a logarithm of likelihoods. The sum
of this, which never falls below zero, is Page's test (1954). If it exceeds 2 ln t, the plays of
late are all that the model rests on from then on: what was played before is forgotten.
"""

import math
from typing import NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled_apart
from belated.learners.contextual.ridge import (
    Ridge,
    common_mean,
    copy_ridge,
    foretold,
    forget,
    learn,
    nothing_learned,
    spread_of,
)

MODEL, RECENT = range(2)  # in `since`
# The recent plays begin again after so many rounds, or after this part of the model's age.
LEAST_ROUNDS, SHARE = 256, 8


class Renewal(NamedTuple):
    """What was learned from the recent plays, and by how much it foretells better.

    `since` has the first rounds that the model rests on, and that the recent plays begin with.
    `gained` is the sum of this round.
    """

    ridge: Ridge
    since: Counts
    lead: Floats
    gained: Floats


def no_renewal(arms: int, width: int, round_: int) -> Renewal:
    """Make the record for a model that rests on all rounds, in which the recent plays begin."""
    since = np.array([1, round_], dtype=np.int64)
    return Renewal(nothing_learned(arms, width), since, lead=np.zeros(1), gained=np.zeros(1))


@compiled_apart
def learn_both(
    ridge: Ridge, renewal: Renewal, arm: int, x: Floats, played: int, weight: float, reward: float
) -> None:
    """Learn so much weight, and so much of weight times reward, of the play of a round.

    Nothing is learned of plays that are forgotten. With f and g foretold by the two models,
    the second one gains (w f^2 - w g^2 - 2 w y (f - g))/(2 sigma^2).
    """
    recent, since = renewal.ridge, renewal.since
    if played < since[MODEL]:
        return
    if played >= since[RECENT]:
        mean = common_mean(ridge)
        of_arm = ridge.inverse[arm], ridge.rewards[arm], ridge.weights[arm]
        f, _ = foretold(of_arm[0], of_arm[1], of_arm[2], mean, x)
        of_late = recent.inverse[arm], recent.rewards[arm], recent.weights[arm]
        g, _ = foretold(of_late[0], of_late[1], of_late[2], common_mean(recent), x)
        sigma = spread_of(mean)
        better = weight * (f * f - g * g) - 2.0 * reward * (f - g)
        renewal.gained[0] += better / (2.0 * sigma * sigma)
        learn(recent, arm, x, weight, reward)
    learn(ridge, arm, x, weight, reward)


@compiled_apart
def renew(ridge: Ridge, renewal: Renewal, round_: int) -> bool:
    """Replace the model by that of the recent plays if it leads by more than 2 ln t; return so.

    Else the recent plays begin again, once there are enough of them.
    """
    since, lead = renewal.since, renewal.lead
    lead[0] = max(0.0, lead[0] + renewal.gained[0])
    renewal.gained[0] = 0.0
    outdone = lead[0] > 2.0 * math.log(float(round_))
    if outdone:
        copy_ridge(renewal.ridge, ridge)
        since[MODEL] = since[RECENT]
    if outdone or round_ - since[RECENT] >= max(LEAST_ROUNDS, (round_ - since[MODEL]) // SHARE):
        forget(renewal.ridge)
        since[RECENT], lead[0] = round_, 0.0
    return bool(outdone)
