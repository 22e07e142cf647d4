"""Laws that families share: steady losses with a best arm, and delays by arm, each with a text."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from belated.environments.combined_delays import LogNormal
from belated.environments.delays import Geometric, Pareto, PerArm
from belated.environments.environment import DelayProcess, LossProcess, Random
from belated.environments.losses import Bernoulli
from belated.environments.moving_losses import AroundPath, MeanPath
from belated.worlds.draws import (
    Size,
    log_uniform,
    one_of,
    rounded,
    said_range,
    shuffled,
    uniform,
)

SMALLEST_GAP, LARGEST_GAP = 0.02, 0.4
LAWS = ("constant", "geometric", "Pareto", "log-normal")


class LossLaw(NamedTuple):
    """A loss process with the mean of each arm and a text that describes it."""

    process: LossProcess
    means: Sequence[float]
    says: str


class DrawsLosses(Protocol):
    """A function that draws a loss law for worlds of a size."""

    def __call__(self, random: Random, size: Size) -> LossLaw: ...


class DelayLaw(NamedTuple):
    """A delay process with a text that describes it."""

    process: DelayProcess
    says: str


def draw_means(random: Random, size: Size, gap: float, most: float = 0.95) -> list[float]:
    """Draw the mean of each arm: one is the best by at least `gap`, at a random place.

    In half of the worlds all others are equal; else they are spread evenly above the gap.
    """
    best = uniform(random, 0.05, most - gap - 0.05)
    above = most - best - gap
    spread = random.uniform(0.0, above) if random.random() < 0.5 else 0.0
    others = [rounded(best + gap + spread * u) for u in random.random(size.arms - 1)]
    others[0] = rounded(best + gap)
    return shuffled(random, [best, *others])


def draw_gap(random: Random, size: Size) -> float:
    """Draw a gap from what can just be learned with coins in these rounds, up to 0.4.

    The lower end is sqrt(2 K / T), where uniform play has seen each arm 2 / gap^2 times.
    """
    least = min(max(SMALLEST_GAP, float(np.sqrt(2.0 * size.arms / size.rounds))), 0.3)
    return log_uniform(random, least, LARGEST_GAP)


def coins(random: Random, size: Size, gap: float | None = None) -> LossLaw:
    """Draw losses of 0 and 1 with steady means."""
    means = draw_means(random, size, draw_gap(random, size) if gap is None else gap)
    return LossLaw(Bernoulli(means), means, f"coins with {said_means(means)}")


def narrow(random: Random, size: Size) -> LossLaw:
    """Draw losses that stay near their means: a small spread, and a gap of 0.3 to 3 spreads."""
    spread = log_uniform(random, 0.01, 0.1)
    means = draw_means(random, size, rounded(spread * log_uniform(random, 0.3, 3.0)), most=0.8)
    process = AroundPath(MeanPath([0], [means]), spread=spread)
    return LossLaw(process, means, f"losses of spread {spread:g} around {said_means(means)}")


def steady(random: Random, size: Size) -> LossLaw:
    """Draw coins in two of three worlds, else narrow losses."""
    return coins(random, size) if random.random() < 2.0 / 3.0 else narrow(random, size)


def said_means(means: Sequence[float]) -> str:
    """Say the best mean and the range of the others."""
    best, *others = sorted(means)
    return f"means {best:.3g} and {said_range(others)}"


def draw_delays(random: Random, size: Size, longest: float = 0.05) -> DelayLaw:
    """Draw delays of any law.

    They are typically from 1 round up to the share `longest` of all rounds, and in half of the
    worlds up to ten times as long or as short for some arms.
    """
    typical = log_uniform(random, 1.0, max(2.0, longest * size.rounds))
    factors = np.exp(random.normal(0.0, 1.0, size.arms)) if random.random() < 0.5 else 1.0
    scales = np.clip(typical * np.broadcast_to(factors, size.arms), 0.1 * typical, 10.0 * typical)
    return delays_of_scale(random, [rounded(scale) for scale in scales])


def delays_of_scale(random: Random, scales: Sequence[float]) -> DelayLaw:
    """Draw the law of delays whose typical size is given for each arm."""
    law, said = one_of(random, LAWS), said_range(scales)
    by_arm = " by arm" if len(set(scales)) > 1 else ""
    if law == "constant":
        process: DelayProcess = PerArm([round(scale) for scale in scales])
        return DelayLaw(process, f"constant delays of {said_range([*map(round, scales)])}{by_arm}")
    if law == "geometric":
        return DelayLaw(Geometric(scales), f"geometric delays of mean {said}{by_arm}")
    if law == "Pareto":
        index = uniform(random, 0.7, 2.0)
        process = Pareto(index, scales)
        return DelayLaw(process, f"Pareto delays of index {index:g} and scale {said}{by_arm}")
    spread = uniform(random, 0.5, 2.0)
    process = LogNormal(scales, spread)
    return DelayLaw(process, f"log-normal delays of median {said}{by_arm} and spread {spread:g}")
