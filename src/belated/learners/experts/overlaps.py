"""The account of gradients that were on their way together, by which adaptive steps are chosen.

A gradient that is missing when another round is played costs the product of their norms. The sum

    A_t = sum over s <= t of (share |g_s|^2 + |g_s| times the sum of |g_j| over j missing at s)

is not known in time, so a norm counts as the largest possible one until its gradient arrives. This
bound on A_t can fall, when gradients turn out to be small, and its running maximum is used.
"""

from typing import NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.whole_rounds import ROUND, WholeRounds, no_rounds

FROZEN = 1  # the column of a play after its round: what `open_round` returned
WIDTH = 2


class OverlapAccount(NamedTuple):
    """The bound on A_t, and what is needed to correct it when a gradient arrives.

    total is the bound on A of the rounds played, most its largest value so far with the coming
    round. share weighs the square of a norm, and norm is the largest possible norm. common is the
    sum of the norms of all rounds, each as far as it is known, and outstanding the number of rounds
    that are not whole. withdrawn is the last round of which a loss was withdrawn.
    """

    total: Floats
    most: Floats
    share: Floats
    norm: Floats
    common: Floats
    outstanding: Counts
    withdrawn: Counts


class OverlappingRounds(NamedTuple):
    """The losses of the whole rounds, and the account of those that were on their way together."""

    rounds: WholeRounds
    overlaps: OverlapAccount


def no_overlapping_rounds(arms: int, share: float, norm: float) -> OverlappingRounds:
    """Make the record before the first round, for gradients of at most this norm."""
    return OverlappingRounds(no_rounds(arms, WIDTH), no_overlaps(share, norm))


def no_overlaps(share: float, norm: float) -> OverlapAccount:
    """Make the account before the first round."""
    return OverlapAccount(
        total=np.zeros(1),
        most=np.zeros(1),
        share=np.full(1, share),
        norm=np.full(1, norm),
        common=np.zeros(1),
        outstanding=np.zeros(1, dtype=np.int64),
        withdrawn=np.zeros(1, dtype=np.int64),
    )


@compiled
def cost_with_coming_round(account: OverlapAccount) -> float:
    """Return the running maximum of the bound on A_t, the coming round t included."""
    norm = account.norm[0]
    coming = norm * norm * (account.share[0] + account.outstanding[0])
    return float(max(account.most[0], account.total[0] + coming))


@compiled
def open_round(account: OverlapAccount) -> float:
    """Play a round; returns the number that `close_round` needs when its gradient is whole.

    That is the sum of the norms of the rounds that are missing now, less those of all rounds up to
    this one. Once `common` is added, it is the sum over all rounds that overlap with this one.
    """
    norm = account.norm[0]
    account.most[0] = cost_with_coming_round(account)
    account.total[0] += norm * norm * (account.share[0] + account.outstanding[0])
    account.common[0] += norm
    frozen = norm * account.outstanding[0] - account.common[0]
    account.outstanding[0] += 1
    return float(frozen)


@compiled
def close_round(account: OverlapAccount, frozen: float, norm: float) -> None:
    """Put the norm of a gradient that has arrived in the place of the largest possible one."""
    less = norm - account.norm[0]
    overlapping = frozen + account.common[0]
    squares = norm * norm - account.norm[0] * account.norm[0]
    account.total[0] += account.share[0] * squares + less * overlapping
    account.common[0] += less
    account.outstanding[0] -= 1


@compiled
def freeze_round(played: OverlappingRounds, plays: Floats) -> None:
    """Play a round: freeze its number and its place in the account."""
    frozen = open_round(played.overlaps)
    for i in range(plays.shape[0]):
        plays[i, ROUND] = played.rounds.round[0]
        plays[i, FROZEN] = frozen
    played.rounds.round[0] += 1


@compiled
def withdraw_loss(played: OverlappingRounds, play: Floats) -> None:
    """Close a round of which a loss will never be told, as one without losses; only once.

    Nothing is learned from it.
    """
    account, round_ = played.overlaps, int(play[ROUND])
    if account.withdrawn[0] != round_:
        account.withdrawn[0] = round_
        close_round(account, play[FROZEN], 0.0)
