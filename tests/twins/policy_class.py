"""Learners over a class of policies, written out literally: sums over a list of all told plays.

A told play is what each policy advised, the arm, its probability and its reward.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from belated.arrays import Floats

SLACK = 1e-9


@dataclass
class Told:
    """A play whose reward has come."""

    advice: Floats
    arm: int
    q: float
    reward: float


def smoothed(weights: Floats, advice: Floats, mu: float) -> Floats:
    """Q^mu(a|x) = (1 - K mu) sum_n Q(n) xi(n, a) + mu."""
    arms = advice.shape[1]
    result: Floats = (1.0 - arms * mu) * (weights @ advice) + mu
    return result


def variances(history: list[Told], weights: Floats, mu: float) -> Floats:
    """The mean over the history of 1/Q^mu(pi(x)|x) for each policy."""
    each = [told.advice @ (1.0 / smoothed(weights, told.advice, mu)) for told in history]
    return np.mean(each, axis=0)


def squares(history: list[Told], weights: Floats, mu: float) -> Floats:
    """The mean over the history of 1/Q^mu(pi(x)|x)^2 for each policy."""
    each = [
        ((told.advice / smoothed(weights, told.advice, mu)) ** 2).sum(axis=1) for told in history
    ]
    return np.mean(each, axis=0)


def solution(history: list[Told], b: Floats, left: list[int], mu: float) -> Floats:
    """Algorithm 2 of Agarwal et al. 2014, from Q = 0."""
    arms, weights = history[0].advice.shape[1], np.zeros(len(b))
    while True:
        limit = 2.0 * arms + b
        if weights @ limit > 2.0 * arms:
            weights = weights * 2.0 * arms / (weights @ limit)
        v, s = variances(history, weights, mu), squares(history, weights, mu)
        slack = SLACK * 2.0 * arms
        largest = max((v - limit)[left])
        if largest <= slack:
            return weights
        n = next(n for n in left if v[n] - limit[n] >= largest - slack)
        d = v[n] - limit[n]
        weights[n] += (v[n] + d) / (2.0 * (1.0 - arms * mu) * s[n])


def rewards(history: list[Told]) -> Floats:
    """The mean of xi(n, i) r/q for each policy: its estimated reward."""
    terms = np.array([told.advice[:, told.arm] * told.reward / told.q for told in history])
    return np.array([math.fsum(column) for column in terms.T]) / len(history)


@dataclass
class ClassTwin:
    """A game of a learner over a class."""

    policies: int
    arms: int
    delta: float = 0.05
    history: list[Told] = field(default_factory=list)
    due: int = 1
    mu: float = 0.0
    weights: Floats = field(default_factory=lambda: np.zeros(0))
    left: list[int] = field(default_factory=list)
    descents: int = 0  # that did not end at once

    def __post_init__(self) -> None:
        self.mu = 1.0 / (2.0 * self.arms)
        self.weights = np.full(self.policies, 1.0 / self.policies)
        self.left = list(range(self.policies))

    def ask(self, advice: Floats) -> Floats:
        if len(self.history) >= self.due:
            self.solve()
            self.due = 2 * len(self.history)
        return smoothed(self.weights, advice, self.mu)

    def with_rest(self, weights: Floats, regrets: Floats) -> Floats:
        """What is left to one goes to the policies of no regret, evenly."""
        best = [n for n in self.left if regrets[n] <= SLACK]
        weights = weights.copy()
        weights[best] += (1.0 - weights.sum()) / len(best)
        return weights

    def solve(self) -> None:
        raise NotImplementedError

    def tell(self, told: Told) -> None:
        self.history.append(told)


class IlovetoTwin(ClassTwin):
    """ILOVETOCONBANDITS on the plays whose rewards have come."""

    def solve(self) -> None:
        n, estimates = len(self.history), rewards(self.history)
        log = math.log(16.0 * n**2 * self.policies / self.delta)
        self.mu = min(1.0 / (2.0 * self.arms), math.sqrt(log / (self.arms * n)))
        regrets = estimates.max() - estimates
        found = solution(self.history, regrets / (100.0 * self.mu), self.left, self.mu)
        self.descents += bool(found.any())
        self.weights = self.with_rest(found, regrets)


class EliminationTwin(ClassTwin):
    """Policy elimination on the plays whose rewards have come."""

    def solve(self) -> None:
        n, estimates = len(self.history), rewards(self.history)
        log = math.log(4.0 * self.policies * n**2 / self.delta)
        b = 2.0 * math.sqrt(2.0 * self.arms * log / n)
        self.mu = min(1.0 / (2.0 * self.arms), math.sqrt(log / (2.0 * self.arms * n)))
        best = max(estimates[n] for n in self.left)
        self.left = [n for n in self.left if estimates[n] >= best - 2.0 * b]
        found = solution(self.history, np.zeros(self.policies), self.left, self.mu)
        self.descents += bool(found.any())
        self.weights = self.with_rest(found, best - estimates)
