"""The advice of all plays, and the rewards that have come, as learners over a class need them.

Advice that was given before is kept once, with the number of plays that had it and were told. So
the record grows only with advice that is new.
"""

from typing import NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.numerics.exact_sums import add_exactly
from belated.numerics.importance_weights import divisor


class AdviceHistory(NamedTuple):
    """What is known of the plays so far.

    kinds has the advice xi(n, a) of each kind that was given, of which the first used[0] are in
    use, and counts the told plays of each. rewards has the sums of xi_s(n, i_s) r_s / q_s(i_s) over
    told plays, by policy, with their rounding errors. told is the number of told plays.
    """

    kinds: Floats
    counts: Counts
    used: Counts
    rewards: Floats
    told: Counts


def nothing_played(policies: int, arms: int) -> AdviceHistory:
    """Make the record before the first play."""
    return AdviceHistory(
        kinds=np.zeros((1, policies, arms)),
        counts=np.zeros(1, dtype=np.int64),
        used=np.zeros(1, dtype=np.int64),
        rewards=np.zeros((2, policies)),
        told=np.zeros(1, dtype=np.int64),
    )


def with_room(history: AdviceHistory, rounds: int) -> AdviceHistory:
    """Return the record if so many kinds of advice still fit, else a copy twice as large or more.

    All rounds to come may have advice that was never given.
    """
    room, least = len(history.counts), int(history.used[0]) + rounds
    if room >= least:
        return history
    size = max(2 * room, least)
    kinds, counts = np.zeros((size, *history.kinds.shape[1:])), np.zeros(size, dtype=np.int64)
    kinds[:room], counts[:room] = history.kinds, history.counts
    return history._replace(kinds=kinds, counts=counts)


@compiled
def kind_of(history: AdviceHistory, advice: Floats) -> int:
    """Return the place of this advice in the record, and add it if it is new."""
    used = int(history.used[0])
    for k in range(used):
        if is_same(history.kinds[k], advice):
            return k
    for n in range(advice.shape[0]):
        for i in range(advice.shape[1]):
            history.kinds[used, n, i] = advice[n, i]
    history.used[0] = used + 1
    return used


@compiled
def is_same(one: Floats, other: Floats) -> bool:
    """Whether two tables are equal."""
    for n in range(one.shape[0]):
        for i in range(one.shape[1]):
            if one[n, i] != other[n, i]:
                return False
    return True


@compiled
def learn(history: AdviceHistory, kind: int, arm: int, q: float, reward: float) -> None:
    """Add a reward that was told, and the advice of its play, which had the probability q."""
    history.counts[kind] += 1
    history.told[0] += 1
    if reward == 0.0:
        return
    estimate = reward / divisor(q)
    for n in range(history.kinds.shape[1]):
        add_exactly(history.rewards, n, history.kinds[kind, n, arm] * estimate)


@compiled
def fill_regrets(history: AdviceHistory, left: Floats, regrets: Floats) -> None:
    """Fill in by how much the mean estimated reward of each policy is below the largest.

    The largest is that of the policies whose `left` is above 0.
    """
    best, told = -np.inf, max(1.0, float(history.told[0]))
    for n in range(regrets.shape[0]):
        regrets[n] = (history.rewards[0, n] + history.rewards[1, n]) / told
        if left[n] > 0.0:
            best = max(best, regrets[n])
    for n in range(regrets.shape[0]):
        regrets[n] = best - regrets[n]
