"""Cited learners for experts, each round computed anew from the list of what has arrived."""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

from belated.arrays import Counts, Floats
from belated.environments.missing import NEVER


def arrival(delays: Counts, s: int, i: int) -> float:
    """The round, from 0, at whose end a loss is known."""
    return math.inf if delays[s, i] == NEVER else s + int(delays[s, i])


def known(delays: Counts, t: int, i: int) -> list[int]:
    """The rounds whose loss of arm i is known when round t begins."""
    return [s for s in range(t) if arrival(delays, s, i) < t]


def told_in_order(delays: Counts) -> list[float]:
    """The round at whose end each round is whole and all before it have been told."""
    last, told = 0.0, []
    for s in range(len(delays)):
        last = max(last, *(arrival(delays, s, i) for i in range(delays.shape[1])))
        told.append(last)
    return told


def sums(losses: Floats, delays: Counts, t: int) -> list[float]:
    arms = range(losses.shape[1])
    return [math.fsum(losses[s, i] for s in known(delays, t, i)) for i in arms]


def each_round(losses: Floats, weights: Callable[[int], Floats | list[float]]) -> Floats:
    return np.array([weights(t) for t in range(len(losses))])


def prod(losses: Floats, delays: Counts, eta: float) -> Floats:
    """Products of 1 - eta l."""

    def weights(t: int) -> Floats:
        arms = range(losses.shape[1])
        w = [math.prod(1 - eta * losses[s, i] for s in known(delays, t, i)) for i in arms]
        return np.array(w) / sum(w)

    return each_round(losses, weights)


def multi_scale(losses: Floats, delays: Counts, eta: float, ranges: Floats) -> Floats:
    """The multiplier by bisection."""

    def weights(t: int) -> Floats:
        scaled = eta * np.array(sums(losses, delays, t))

        def at(x: float) -> Floats:
            return np.exp(np.clip(-(scaled + x) / ranges, -700, 700)) / len(ranges)

        found: Floats = at(brentq(lambda x: at(x).sum() - 1.0, -1e3, 1e3, xtol=1e-15, rtol=1e-15))
        return found

    return each_round(losses, weights)


def perturbed_leader(losses: Floats, delays: Counts) -> Floats:
    """P(eta L(i) - Z(i) is the smallest), an integral over Z(i)."""
    arms = losses.shape[1]

    def weights(t: int) -> list[float]:
        eta = math.sqrt(math.log(arms) / (2 * (t + 1)))
        scores = [eta * x for x in sums(losses, delays, t)]

        def leads(i: int) -> float:
            def density(z: float) -> float:
                gaps = [z + scores[j] - scores[i] for j in range(arms) if j != i]
                return math.exp(-z) * math.prod(max(0.0, 1.0 - math.exp(-gap)) for gap in gaps)

            start = max(0.0, scores[i] - min(scores))
            return float(quad(density, start, start + 45, epsabs=1e-14, limit=200)[0])

        return [leads(i) for i in range(arms)]

    return each_round(losses, weights)


def dropout(losses: Floats, delays: Counts, alpha: float) -> Floats:
    """All sums that the coins can have, and who leads with them."""
    arms = losses.shape[1]

    def weights(t: int) -> Floats:
        laws = []
        for i in range(arms):
            law = np.ones(1)
            for s in known(delays, t, i):
                heads = (1 - alpha) * losses[s, i]
                law = np.convolve(law, [1 - heads, heads])
            laws.append(law)
        q = np.zeros(arms)
        for values in itertools.product(*(range(len(law)) for law in laws)):
            chance = math.prod(law[v] for law, v in zip(laws, values, strict=True))
            leaders = [i for i in range(arms) if values[i] == min(values)]
            q[leaders] += chance / len(leaders)
        return q

    return each_round(losses, weights)


Nearest = Callable[[Floats], Floats]


def ada_delay(losses: Floats, delays: Counts, c: float, nearest: Nearest) -> Floats:
    """Step by step, from the first gradient to the last one known."""
    told, arms = told_in_order(delays), losses.shape[1]

    def weights(t: int) -> Floats:
        point = np.full(arms, 1.0 / arms)
        for s in [s for s in range(t) if told[s] < t]:
            now, tau = told[s] + 1, told[s] - s
            point = nearest(point - losses[s] / (c * math.sqrt(now + tau)))
        return point

    return each_round(losses, weights)


def adaptive_revision(losses: Floats, delays: Counts, alpha: float, nearest: Nearest) -> Floats:
    """Per coordinate, with the sums between play and arrival read off the list."""
    told, arms = told_in_order(delays), losses.shape[1]

    def coordinate(t: int, i: int) -> float:
        used = [s for s in range(t) if told[s] < t]
        x, z, steps = 1.0 / arms, [1.0], [alpha]
        for k, s in enumerate(used):
            between = math.fsum(losses[j, i] for j in used[:k] if told[j] >= s)
            g = losses[s, i]
            z.append(z[-1] + g * g + 2 * g * between)
            steps.append(alpha / math.sqrt(max(z)))
            x += -steps[-1] * g + (steps[-2] - steps[-1]) * between
        return float(x)

    def weights(t: int) -> Floats:
        return nearest(np.array([coordinate(t, i) for i in range(arms)]))

    return each_round(losses, weights)


class Norms(NamedTuple):
    """How gradients are measured: a norm, its largest value, and the share of its square."""

    of: Callable[[Floats], float]
    largest: float
    share: float


def overlap_costs(losses: Floats, delays: Counts, norms: Norms) -> Iterator[float]:
    """The largest bound on A_u for u <= t, the coming round included, for every round t."""
    told, most = told_in_order(delays), 0.0
    for t in range(len(losses)):
        sizes = [norms.of(losses[s]) if told[s] < t else norms.largest for s in range(t + 1)]
        total = 0.0
        for s in range(t + 1):
            missing = [j for j in range(s) if told[j] >= s]
            total += sizes[s] * (norms.share * sizes[s] + sum(sizes[j] for j in missing))
        most = max(most, total)
        yield most


def whole_sums(losses: Floats, delays: Counts, t: int) -> Floats:
    told = told_in_order(delays)
    found: Floats = losses[[s for s in range(t) if told[s] < t]].sum(axis=0)
    return found


def delay_tolerant_hedge(losses: Floats, delays: Counts) -> Floats:
    arms, q = losses.shape[1], []
    for t, cost in enumerate(overlap_costs(losses, delays, Norms(max, 1.0, 1.0))):
        scaled = -math.sqrt(math.log(arms) / (2 * cost)) * whole_sums(losses, delays, t)
        w = np.exp(scaled - scaled.max())
        q.append(w / w.sum())
    return np.array(q)


def dual_averaging(losses: Floats, delays: Counts, nearest: Nearest) -> Floats:
    norms = Norms(lambda g: float(np.linalg.norm(g)), math.sqrt(losses.shape[1]), 0.5)
    return np.array(
        [
            nearest(-whole_sums(losses, delays, t) / (2 * math.sqrt(cost)))
            for t, cost in enumerate(overlap_costs(losses, delays, norms))
        ]
    )
