"""The stochastic learners written out literally, from the list of all that has been played."""

import math
from collections import deque
from collections.abc import Callable, Generator
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.special import betainc, betaln

from belated.arrays import Floats

Script = Generator[Floats, "Round", None]


class Play(NamedTuple):
    """An arm played in a round, and its reward, due at the end of another (infinite: never)."""

    round: int
    arm: int
    reward: float
    due: float


class Round(NamedTuple):
    """What a script is told at the end of a round: all plays so far, and what has just arrived."""

    plays: list[Play]
    arrived: list[Play]


def even(arms: int, chosen: list[int]) -> Floats:
    """The same weight for every chosen arm."""
    q = np.zeros(arms)
    q[chosen] = 1.0 / len(chosen)
    return q


def best_of(values: list[float], plays: list[int]) -> list[int]:
    """The arms of largest value; of these, those played least."""
    tied = [i for i, value in enumerate(values) if value == max(values)]
    least = min(plays[i] for i in tied)
    return [i for i in tied if plays[i] == least]


def by_arm(plays: list[Play], arms: int) -> list[list[Play]]:
    return [[play for play in plays if play.arm == i] for i in range(arms)]


def rewards_before(plays: list[Play], t: float) -> list[float]:
    """The rewards that are there in round t."""
    return [play.reward for play in plays if play.due < t]


def mean(rewards: list[float], count: float) -> float:
    return math.fsum(rewards) / count


def by_index(arms: int, index: Callable[[list[Play], int], float]) -> Script:
    """Play the arm of largest index, computed anew from all its plays and the round."""
    plays: list[Play] = []
    while True:
        own = by_arm(plays, arms)
        values = [index(each, len(plays) + 1) for each in own]
        plays = (yield even(arms, best_of(values, list(map(len, own))))).plays


def ucb1(rewards: list[float], t: int) -> float:
    if not rewards:
        return math.inf
    return mean(rewards, len(rewards)) + math.sqrt(2.0 * math.log(t) / len(rewards))


def undelayed_ucb1(arms: int) -> Script:
    """UCB1 as it is when there are no delays."""
    return by_index(arms, lambda plays, t: ucb1([play.reward for play in plays], t))


def delayed_ucb1(arms: int) -> Script:
    return by_index(arms, lambda plays, t: ucb1(rewards_before(plays, t), t))


def qpm_d(arms: int) -> Script:
    """The base's samples and the queues, as lists."""
    samples: list[list[float]] = [[] for _ in range(arms)]
    queues: list[deque[Play]] = [deque() for _ in range(arms)]
    played = [0] * arms
    while True:
        t = 1 + sum(map(len, samples))
        values = [ucb1(each, t) for each in samples]
        ready = [i for i in range(arms) if values[i] == max(values) and queues[i]]
        if ready:
            arm = min(ready, key=lambda i: queues[i][0].round)
            samples[arm].append(queues[arm].popleft().reward)
            continue
        told = yield even(arms, best_of(values, played))
        played = list(map(len, by_arm(told.plays, arms)))
        for play in sorted(told.arrived):
            queues[play.arm].append(play)


def elimination(arms: int, horizon: int, optimistic: bool) -> Script:
    """SE and OPSE with their active set."""
    active, plays = list(range(arms)), []
    while True:
        own, t = by_arm(plays, arms), len(plays) + 1
        bounds = [interval(each, t, horizon, optimistic) for each in own]
        active = survivors(active, bounds)
        counts = list(map(len, own))
        least = min(counts[i] for i in active)
        plays = (yield even(arms, [i for i in active if counts[i] == least])).plays


def interval(plays: list[Play], t: int, horizon: int, optimistic: bool) -> tuple[float, float]:
    rewards = rewards_before(plays, t)
    count = len(plays) if optimistic else len(rewards)
    if count == 0:
        return -math.inf, math.inf
    width, sum_ = math.sqrt(2.0 * math.log(max(horizon, 2)) / count), math.fsum(rewards)
    return sum_ / count - width, (sum_ + count - len(rewards)) / count + width


def survivors(active: list[int], bounds: list[tuple[float, float]]) -> list[int]:
    return [i for i in active if not any(bounds[i][1] < bounds[j][0] for j in active)]


def phased_elimination(arms: int, horizon: int) -> Script:
    """PSE, phase by phase."""
    active, plays, phase = list(range(arms)), [], 0
    while True:
        phase += 1
        needed, turns = 32.0 * math.log(max(horizon, 2)) * 4.0**phase, [0] * arms
        while True:
            own = by_arm(plays, arms)
            seen = [len(rewards_before(each, len(plays) + 1)) for each in own]
            wanted = [i for i in active if seen[i] < needed]
            if not wanted:
                break
            least = min(turns[i] for i in wanted)
            told = yield even(arms, [i for i in wanted if turns[i] == least])
            plays = told.plays
            turns[plays[-1].arm] += 1
        bounds = [interval(each, len(plays) + 1, horizon, False) for each in own]
        active = survivors(active, bounds)


def patient_bandits(arms: int, horizon: int, tail_index: float) -> Script:
    def index(plays: list[Play], t: int) -> float:
        if not plays:
            return math.inf
        n = float(len(plays))
        deviation = 2.0 * (math.log(2 * arms) + 3.0 * math.log(horizon))
        bonus = math.sqrt(deviation / n) + 2.0 * n ** -min(tail_index, 0.5)
        return mean(rewards_before(plays, t), n) + bonus

    return by_index(arms, index)


class Promise(NamedTuple):
    """What the adaptive learner of the tails is told about all arms, and the horizon."""

    horizon: int
    c: float
    least_index: float
    least_reward: float

    def logs(self, arms: int) -> float:
        return math.log(2 * arms * self.horizon**3)


def mean_within(own: list[Play], now: int, delay: int) -> float:
    """Of the plays that are at least as old as the delay, what arrived within it."""
    old = [play for play in own if play.round + delay <= now]
    prompt = [play.reward for play in old if play.due - play.round <= delay]
    return math.fsum(prompt) / len(old)


def tail_index(own: list[list[Play]], now: int, promise: Promise) -> float:
    """The lower bound on alpha, by every arm that was played most."""
    n = max(map(len, own))
    late = n // 2
    early = math.floor((promise.c / 2) ** (1 / promise.least_index) * late)
    most = [each for each in own if len(each) == n]
    rises = [mean_within(each, now, late) - mean_within(each, now, early) for each in most]
    found = min([0.5, *(-math.log(rise) / math.log(n) for rise in rises if rise > 0)])
    factor = 2**4 * math.sqrt(promise.logs(len(own))) / (promise.c * promise.least_reward)
    return max(0.0, found - math.log(factor) / math.log(n))


def adaptive_patient_bandits(arms: int, promise: Promise) -> Script:
    """Each arm twice, then the largest upper bound."""
    plays = list[Play]()
    while True:
        own = by_arm(plays, arms)
        counts, values = list(map(len, own)), [0.0] * arms
        if min(counts) >= 2:
            alpha = tail_index(own, len(plays), promise)
            values = [
                mean(rewards_before(each, len(plays) + 1), len(each))
                + math.sqrt(2 * promise.logs(arms) / len(each))
                + 2 * float(len(each)) ** -alpha
                for each in own
            ]
        plays = (yield even(arms, best_of(values, counts))).plays


def d_ucb(
    arms: int, law: tuple[float, ...], censor: float, epsilon: float, poisson: bool
) -> Script:
    def index(plays: list[Play], t: int) -> float:
        ages = [int(min(t - 1 - play.round, len(law) - 1, censor)) for play in plays]
        counted = math.fsum(round(law[age] * 2**32) / 2**32 for age in ages)
        if counted == 0.0:
            return math.inf
        prompt = [play for play in plays if play.due - play.round <= censor]
        theta = mean(rewards_before(prompt, t), counted)
        level = (1.0 + epsilon) * math.log(t)
        if poisson:
            return poisson_upper(theta, level / counted)
        return theta + math.sqrt(len(plays) * level / 2.0) / counted

    return by_index(arms, index)


def poisson_upper(p: float, level: float) -> float:
    """By bisection."""
    low, high = p, 2.0 * (p + level) + 1.0
    while p - high + p * math.log(high / p) > -level if p > 0 else False:
        high *= 2.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        cost = middle - p + (p * math.log(p / middle) if p > 0.0 else 0.0)
        low, high = (middle, high) if cost <= level else (low, middle)
    return low


def odaaf(arms: int, lengths: list[int], bridges: bool) -> Script:
    """Algorithm 1 of the source, stretch by stretch; whoever draws must draw from its weights."""
    active, slots, before = list(range(arms)), [[] for _ in range(arms)], 0
    for m, length in enumerate(lengths, 1):
        waiting = [i for i in active if len(slots[i]) < length]
        while waiting:
            told = yield even(arms, waiting)
            arm = told.plays[-1].arm
            waiting.remove(arm)
            slots[arm].append([play.reward for play in told.arrived])
            while len(slots[arm]) < length:
                told = yield even(arms, [arm])
                slots[arm].append([play.reward for play in told.arrived])
        means = {i: mean([x for slot in slots[i] for x in slot], len(slots[i])) for i in active}
        active = [i for i in active if means[i] + 0.5**m >= max(means.values())]
        chosen = active
        for _ in range(length - before if bridges else 0):
            told = yield even(arms, chosen)
            chosen = [told.plays[-1].arm]
        before = length
    while True:
        yield even(arms, active)


def thompson(arms: int) -> Script:
    plays: list[Play] = []
    while True:
        t, own = len(plays) + 1, by_arm(plays, arms)
        rewards = [rewards_before(each, t) for each in own]
        sums = list(map(math.fsum, rewards))
        posteriors = [(1.0 + s, 1.0 + len(each) - s) for s, each in zip(sums, rewards, strict=True)]
        plays = (yield chances(posteriors)).plays


def chances(posteriors: list[tuple[float, float]]) -> Floats:
    """P(theta_i is the largest), by Gauss and Legendre between many points, with scipy's laws."""
    points = set()
    for a, b in posteriors:
        centre, spread = math.log(a / b), math.sqrt(1.0 / a + 1.0 / b)
        points |= {centre + z * spread for z in np.linspace(-9.0, 9.0, 55)}
        points |= {centre + 9.0 * spread + z / b for z in np.linspace(0.0, 40.0, 41)}
        points |= {centre - 9.0 * spread - z / a for z in np.linspace(0.0, 40.0, 41)}
    ends = np.array(sorted(points))
    nodes, weights = leggauss(10)
    middle, half = (ends[1:] + ends[:-1]) / 2.0, (ends[1:] - ends[:-1]) / 2.0
    y = (middle[:, None] + half[:, None] * nodes).ravel()
    weight = (half[:, None] * weights).ravel()
    shared = np.log1p(np.exp(-np.abs(y)))
    log_mean, log_rest = np.minimum(y, 0.0) - shared, -np.maximum(y, 0.0) - shared
    below = np.array([betainc(a, b, np.exp(log_mean)) for a, b in posteriors])
    density = [np.exp(a * log_mean + b * log_rest - betaln(a, b)) for a, b in posteriors]
    others = [np.prod(np.delete(below, i, axis=0), axis=0) for i in range(len(posteriors))]
    q = np.array([(weight * f * rest).sum() for f, rest in zip(density, others, strict=True)])
    answer: Floats = q / q.sum()
    return answer
