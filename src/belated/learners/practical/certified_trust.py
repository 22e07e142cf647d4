"""Certified trust (Theorem 4 of docs/beyond-the-paper.md): which rounds may be played from any q.

A learner may play a round from any weights at all, as long as its own plays show that this has cost
little so far. For every arm u the account bounds the regret of these trusted rounds by

    C_t(u) = told losses + number of losses not told - told losses of u, each divided by its q,

and a round is trusted only if no C_t(u) is above a budget b_t that was known before. Then the
trusted rounds cost at most E b_T + 1 in expectation, whatever the weights and the delays were.
"""

import math
from typing import NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.states import ArmFloats

LEAST_PROBABILITY = (
    1e-100  # by what a loss is divided at least, lest an estimate be infinite or NaN
)


class TrustAccount(NamedTuple):
    """What is known of the trusted plays, by which the coming round is trusted or not.

    `told` is the sum of their losses that were told, and `outstanding` the number of those that
    were not. `most_outstanding` is the largest such number at the start of any round played so far.
    `estimates` has, for each arm, the sum of l/q over its trusted plays that were told, with q as
    it was when the arm was played. A play that is withdrawn stays outstanding for good: taking it
    out would void the theorem where arms differ in what is withdrawn.
    """

    told: Floats
    outstanding: Counts
    most_outstanding: Counts
    estimates: ArmFloats


def no_trusted_plays(arms: int) -> TrustAccount:
    """Make the account before the first round."""
    return TrustAccount(
        told=np.zeros(1),
        outstanding=np.zeros(1, dtype=np.int64),
        most_outstanding=np.zeros(1, dtype=np.int64),
        estimates=np.zeros(arms),
    )


def with_new_arms(account: TrustAccount, kept: int) -> TrustAccount:
    """Give the arms from this place on the largest C_t(u) of the others, but at least zero.

    So the regret against a new arm is bounded from its first round on, within the same budget.
    """
    paid = float(account.told[0] + account.outstanding[0])
    others = account.estimates[:kept]
    account.estimates[kept:] = min(paid, float(others.min())) if kept > 0 else paid
    return account


@compiled
def estimated_regret(account: TrustAccount, arm: int) -> float:
    """Return C_t(u): what the trusted rounds may have cost, compared to always playing arm u."""
    regret: float = account.told[0] + account.outstanding[0] - account.estimates[arm]
    return regret


@compiled
def largest_regret(account: TrustAccount) -> float:
    """Return the largest C_t(u) of all arms."""
    largest = estimated_regret(account, 0)
    for u in range(1, account.estimates.shape[0]):
        largest = max(largest, estimated_regret(account, u))
    return largest


@compiled
def most_outstanding_now(account: TrustAccount) -> int:
    """Return n_t: the most trusted plays outstanding at the start of a round, this one included."""
    return int(max(account.most_outstanding[0], account.outstanding[0]))


@compiled
def trust_budget(account: TrustAccount, beta: float, round_: int) -> float:
    """Return b_t = beta sqrt(K t) + n_t, which never falls and is known before the draw."""
    arms = account.estimates.shape[0]
    return beta * math.sqrt(arms * round_) + most_outstanding_now(account)


@compiled
def is_certified(account: TrustAccount, budget: float) -> bool:
    """Whether no C_t(u) is above the budget; with a single arm there is nothing to regret."""
    return bool(account.estimates.shape[0] == 1 or largest_regret(account) <= budget)


@compiled
def explore_on_demand(
    account: TrustAccount, budget: float, exploration: float, round_: int, q: Floats
) -> None:
    """Raise the weights of a trusted round to what keeps trust, and divide them by their sum.

    An arm that is not played lets C_t(u) rise. The weight of arm u becomes at least
    min(1/(2K), exploration t/(b_t - C_t(u))^2), or 1/(2K) where C_t(u) is b_t itself.
    """
    arms = q.shape[0]
    most, wanted, sum_ = 0.5 / arms, exploration * round_, 0.0
    for u in range(arms):
        gap = budget - estimated_regret(account, u)
        square = gap * gap
        floor = most if wanted >= most * square else wanted / square
        q[u] = max(q[u], floor)
        sum_ += q[u]
    for u in range(arms):
        q[u] /= sum_


@compiled
def begin_round(account: TrustAccount, trusted: bool) -> None:
    """Play a round: note how many plays were outstanding at its start, and count a trusted play."""
    account.most_outstanding[0] = most_outstanding_now(account)
    if trusted:
        account.outstanding[0] += 1


@compiled
def tell_trusted(account: TrustAccount, arm: int, loss: float, probability: float) -> None:
    """Learn the loss of a trusted play, with the probability with which its arm was drawn.

    A replay may have played an arm that cannot be drawn. To divide by more than its probability
    leaves the theorem as it is: an estimate may have a lower mean than the loss.
    """
    account.outstanding[0] -= 1
    account.told[0] += loss
    account.estimates[arm] += loss / max(probability, LEAST_PROBABILITY)
