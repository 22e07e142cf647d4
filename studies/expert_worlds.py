"""Worlds in which the practical experts were found weak, drawn at random, and what they do there.

Three families, made of the same parts as `belated.worlds`: forecasts whose quality depends on the
hour, a trial with two arms whose good news comes last, and rare conversions of which the best arm's
are the slowest. They are no part of the design or the judge set.
"""

from collections.abc import Callable, Sequence

import numpy as np

from belated.analysis.statistics import estimate
from belated.comparison.compare import compare
from belated.comparison.table import Table
from belated.environments.combined_delays import ByOutcome, Within
from belated.environments.delays import Constant, Geometric
from belated.environments.environment import Environment, Random
from belated.environments.losses import Bernoulli
from belated.environments.moving_losses import AroundPath, MeanPath
from belated.worlds.draws import draw_size, log_uniform, rounded, shuffled, uniform, whole

CLIP = (-300.0, 600.0)  # percent of uniform play's regret, in one world
LEARNERS = (
    "practical-experts",
    "practical-experts:bold=1",
    "practical-experts:imputes=0",
    "practical-experts:tracks=0",
    "leading-expert",
    "anytime-hedge",
)


def forecasts(random: Random) -> Environment:
    """Forecasts of nearly the same quality, of which another is the best at each hour of a day."""
    size = draw_size(random, (3, 8), (2000, 12_000))
    day = 24 if random.random() < 0.5 else whole(random, 8, 200)
    spread, swing = log_uniform(random, 0.02, 0.1), uniform(random, 0.02, 0.15)
    gap, best = rounded(spread * log_uniform(random, 0.02, 0.5)), uniform(random, 0.25, 0.6)
    others = [best + gap * random.uniform(0.3, 1.5) for _ in range(size.arms - 1)]
    means = np.array(shuffled(random, [best, *others]))
    phases = random.uniform(0.0, 2.0 * np.pi, size.arms)
    rounds = np.arange(size.rounds)
    turns = np.sin(2.0 * np.pi * rounds[:, None] / day + phases)
    path = MeanPath(rounds.tolist(), np.clip(means + swing * turns, 0.0, 1.0).tolist())
    delay = Constant(whole(random, 0.1 * day, 2.0 * day))
    return Environment("forecasts", AroundPath(path, spread=spread), delay, size.rounds)


def trial(random: Random) -> Environment:
    """Two arms: a failure is known when it happens, a success when the follow-up is over."""
    rounds, gap = whole(random, 200, 3000), log_uniform(random, 0.05, 0.25)
    best = uniform(random, 0.2, 0.6)
    follow_up = max(2, round(rounds * log_uniform(random, 0.05, 0.5)))
    typical = follow_up * uniform(random, 0.1, 0.6)
    failures = Geometric([rounded(typical * 2.0 ** random.uniform(-1.0, 1.0)) for _ in range(2)])
    delays = ByOutcome(Constant(follow_up), Within(follow_up, failures))
    losses = Bernoulli(shuffled(random, [best, rounded(best + gap)]))
    return Environment("trial", losses, delays, rounds)


def slow_best(random: Random) -> Environment:
    """Rare conversions, the best arm's late in the window at whose end failures are known."""
    size = draw_size(random, (2, 6), (3000, 20_000))
    best, ratio = log_uniform(random, 0.005, 0.03), log_uniform(random, 1.3, 2.5)
    others = [best / ratio * 2.0 ** -random.uniform(0.0, 1.0) for _ in range(size.arms - 1)]
    window = round(size.rounds * log_uniform(random, 0.02, 0.2))
    fast = [rounded(window * uniform(random, 0.01, 0.2)) for _ in others]
    pairs = shuffled(random, [*zip([best, *others], [0.5 * window, *fast], strict=True)])
    rates, scales = zip(*pairs, strict=True)
    delays = ByOutcome(Within(window, Geometric(scales)), Constant(window))
    losses = Bernoulli([1.0 - rate for rate in rates])
    return Environment("slow-best", losses, delays, size.rounds)


FAMILIES: dict[str, Callable[[Random], Environment]] = {
    "forecasts": forecasts,
    "trial": trial,
    "slow-best": slow_best,
}


def shares(family: str, worlds: int, games: int, seed: int, workers: int | None) -> Table:
    """Play all learners on random worlds of a family: means of their shares of uniform play.

    `difference` is to the first learner, with half of its 95 % interval over the worlds.
    """
    found = np.array([_shares(family, k, games, seed, workers) for k in range(worlds)])
    rows = []
    for learner, own in zip(LEARNERS, found.T, strict=True):
        apart = estimate(own - found[:, 0])
        rows.append(
            {
                "family": family,
                "learner": learner,
                "mean": float(own.mean()),
                "median": float(np.median(own)),
                "95 % of worlds": float(np.quantile(own, 0.95)),
                "difference": float(apart.mean),
                "±": float(apart.half_width),
            }
        )
    return Table.of(rows)


def _shares(
    family: str, number: int, games: int, seed: int, workers: int | None
) -> Sequence[float]:
    world = FAMILIES[family](np.random.default_rng([seed, number]))
    result = compare(["uniform", *LEARNERS], world, games, number + 1, workers)
    whole_regret = float(result.regret(0).mean())
    parts = [100.0 * result.regret(k + 1).mean() / whole_regret for k in range(len(LEARNERS))]
    clipped: list[float] = np.clip(parts, *CLIP).tolist()
    return clipped
