"""Weights over policies for which no policy's estimated reward varies much (Agarwal et al. 2014).

Their optimisation problem, solved by their coordinate descent, for a class that is listed. Policies
may advise distributions: for a policy that names an arm, all formulas are theirs. For one that
does not, the sums over arms with its advice stand in the place of that arm. These are the
derivatives of the same potential, so that each step lowers it as in their proof.
"""

from typing import NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.learners.advice.advice_history import AdviceHistory

ROUNDING = 1e-9  # a constraint holds if it is missed by no more, as a share of 2K


class DescentWork(NamedTuple):
    """Working space: V, S and D of each policy, and 1/Q^mu of each arm."""

    means: Floats
    squares: Floats
    excess: Floats
    inverse: Floats


def no_work(policies: int, arms: int) -> DescentWork:
    """Make working space of the right size."""
    return DescentWork(np.zeros(policies), np.zeros(policies), np.zeros(policies), np.zeros(arms))


@compiled
def fill_variances(
    history: AdviceHistory, weights: Floats, floor: float, work: DescentWork
) -> None:
    """Fill in V(n), the mean of sum_a xi(n, a)/Q^mu(a), and S(n), that of sum_a (xi/Q^mu)^2.

    Means are over the advice of told plays; Q^mu(a) = (1 - K mu) sum_n Q(n) xi(n, a) + mu.
    """
    policies, arms = history.kinds.shape[1], history.kinds.shape[2]
    for n in range(policies):
        work.means[n], work.squares[n] = 0.0, 0.0
    for k in range(history.used[0]):
        if history.counts[k] == 0:
            continue
        share = history.counts[k] / history.told[0]
        for i in range(arms):
            mixed = 0.0
            for n in range(policies):
                mixed += weights[n] * history.kinds[k, n, i]
            work.inverse[i] = 1.0 / ((1.0 - arms * floor) * mixed + floor)
        for n in range(policies):
            for i in range(arms):
                part = history.kinds[k, n, i] * work.inverse[i]
                work.means[n] += share * part
                work.squares[n] += share * part * part


@compiled
def scale_down(weights: Floats, allowances: Floats, most: float) -> None:
    """Scale all weights so that sum_n Q(n) (2K + b(n)) is at most 2K."""
    total = 0.0
    for n in range(weights.shape[0]):
        if weights[n] > 0.0:
            total += weights[n] * (most + allowances[n])
    if total > most:
        for n in range(weights.shape[0]):
            weights[n] *= most / total


@compiled
def descend(
    history: AdviceHistory,
    allowances: Floats,
    left: Floats,
    floor: float,
    weights: Floats,
    work: DescentWork,
) -> None:
    """Find Q with sum_n Q(n) b(n) <= 2K, and V(n) <= 2K + b(n) for each policy that is left.

    b(n) are the allowances. A step goes to the policy with the largest D = V - 2K - b, the first of
    those that are tied, by (V + D)/(2 (1 - K mu) S); at most 4 ln(1/(K mu))/mu of them are needed.
    The sum of the weights ends at 1 or below.
    """
    arms = history.kinds.shape[2]
    most = 2.0 * arms
    weights[:] = 0.0
    while True:
        scale_down(weights, allowances, most)
        fill_variances(history, weights, floor, work)
        largest = 0.0
        for n in range(weights.shape[0]):
            work.excess[n] = work.means[n] - most - allowances[n] if left[n] > 0.0 else -np.inf
            largest = max(largest, work.excess[n])
        if largest <= ROUNDING * most:
            return
        n = 0
        while work.excess[n] < largest - ROUNDING * most:
            n += 1
        step = (work.means[n] + work.excess[n]) / (2.0 * (1.0 - arms * floor) * work.squares[n])
        weights[n] += step


@compiled
def give_rest_to_best(regrets: Floats, left: Floats, weights: Floats) -> None:
    """Bring the sum of the weights to one: the rest goes to the policies left with no regret."""
    rest, best = 1.0, 0
    for n in range(weights.shape[0]):
        rest -= weights[n]
        best += 1 if left[n] > 0.0 and regrets[n] <= ROUNDING else 0
    for n in range(weights.shape[0]):
        if left[n] > 0.0 and regrets[n] <= ROUNDING:
            weights[n] += max(0.0, rest) / best
