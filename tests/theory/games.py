"""Games for the theory tests: losses and delays of many kinds, as cases for every learner."""

from collections.abc import Callable
from typing import Any

import numpy as np

from belated.arrays import Counts, Floats
from belated.environments.missing import NEVER, missing_counts
from belated.replay.case import Case
from belated.types import Setting

Random = np.random.Generator

VARIANTS = ("paper", "repaired")


def coins(random: Random, rounds: int, arms: int) -> Floats:
    return random.random((rounds, arms))


def best_arm(random: Random, rounds: int, arms: int) -> Floats:
    chances = np.linspace(0.1, 0.8, arms)
    return (random.random((rounds, arms)) < chances).astype(np.float64)


def blocks(random: Random, rounds: int, arms: int) -> Floats:
    length = int(random.integers(2, max(3, rounds // 3)))
    turns = np.arange(rounds)[:, None] // length
    return ((turns + np.arange(arms)) % arms != 0).astype(np.float64)


def late_turn(random: Random, rounds: int, arms: int) -> Floats:
    """The best arm of the first half is the worst of the second."""
    losses = np.ones((rounds, arms))
    losses[: rounds // 2, 0] = 0.0
    losses[rounds // 2 :, -1] = 0.0
    return losses


def late_worth(random: Random, rounds: int, arms: int) -> Floats:
    """All arms lose everything until one of them stops losing."""
    losses = np.ones((rounds, arms))
    losses[rounds // 3 :, 0] = 0.0
    return losses


def prompt(random: Random, rounds: int, arms: int) -> Counts:
    return np.zeros((rounds, arms), dtype=np.int64)


def constant(random: Random, rounds: int, arms: int) -> Counts:
    return np.full((rounds, arms), int(random.integers(1, 10)), dtype=np.int64)


def heavy_tailed(random: Random, rounds: int, arms: int) -> Counts:
    return np.minimum(random.pareto(0.7, (rounds, arms)), 10.0 * rounds).astype(np.int64)


def some_never(random: Random, rounds: int, arms: int) -> Counts:
    delays = random.integers(0, 5, (rounds, arms))
    return np.where(random.random((rounds, arms)) < 0.2, NEVER, delays)


def one_arm_never(random: Random, rounds: int, arms: int) -> Counts:
    delays = prompt(random, rounds, arms)
    delays[:, 0] = NEVER
    return delays


def growing(random: Random, rounds: int, arms: int) -> Counts:
    return (np.arange(rounds)[:, None] * random.random(arms) * 0.7).astype(np.int64)


def growing_late(random: Random, rounds: int, arms: int) -> Counts:
    """Prompt at first; then one arm falls silent for good."""
    delays = prompt(random, rounds, arms)
    delays[rounds // 3 : rounds // 3 + rounds // 4, 0] = NEVER
    return delays


def batches(random: Random, rounds: int, arms: int) -> Counts:
    """Everything arrives with the next whole batch."""
    length = int(random.integers(3, 12))
    waiting = length - 1 - np.arange(rounds) % length
    return np.repeat(waiting[:, None], arms, axis=1)


LOSSES: dict[str, Callable[[Random, int, int], Floats]] = {
    f.__name__: f for f in (coins, best_arm, blocks, late_turn, late_worth)
}
DELAYS: dict[str, Callable[[Random, int, int], Counts]] = {
    f.__name__: f
    for f in (
        prompt,
        constant,
        heavy_tailed,
        some_never,
        one_arm_never,
        growing,
        growing_late,
        batches,
    )
}


def skewed_prior(arms: int, steepness: float) -> list[float]:
    """A prior that falls by e^steepness from each arm to the one before it."""
    weights = np.exp(-steepness * np.arange(arms)[::-1])
    return list(map(float, weights / weights.sum()))


def full_case(
    losses: Floats, delays: Counts, prior: list[float] | None = None, variant: str = "paper"
) -> Case:
    """A full-information game whose horizon is its length."""
    rounds, arms = losses.shape
    options = {"arms": arms, "horizon": rounds, "prior": prior, "variant": variant}
    return Case(Setting.FULL_INFORMATION, losses, delays, None, options)


def partial_case(losses: Floats, delays: Counts, played: Counts, **options: Any) -> Case:
    """A partially concealed game whose max_missing is the largest count, unless given."""
    rounds, arms = losses.shape
    most = max(1, int(missing_counts(delays).max()))
    options = {"arms": arms, "horizon": rounds, "max_missing": most} | options
    return Case(Setting.PARTIALLY_CONCEALED, losses, delays, played, options)


def concealed_case(losses: Floats, delays: Counts, played: Counts, **options: Any) -> Case:
    """A concealed game whose max_missing is the largest count, unless given."""
    most = max(1, int(missing_counts(delays).max()))
    options = {"arms": losses.shape[1], "max_missing": most} | options
    return Case(Setting.CONCEALED, losses, delays, played, options)


def random_game(setting: str, seed: int, rounds: int, variant: str = "paper") -> Case:
    """A game of random size, losses, delays and, for a bandit, plays."""
    random = np.random.default_rng([seed, rounds])
    arms = int(random.integers(2, 5))
    losses = random.choice(list(LOSSES.values()))(random, rounds, arms)
    delays = random.choice(list(DELAYS.values()))(random, rounds, arms)
    prior = skewed_prior(arms, random.uniform(0.0, 2.0)) if seed % 2 else None
    if setting == "full":
        return full_case(losses, delays, prior, variant)
    played = random.integers(0, arms, rounds)
    if setting == "partial":
        return partial_case(losses, delays, played, prior=prior, variant=variant)
    return concealed_case(losses, delays, played, variant=variant)
