"""Simulated logs with late and missing outcomes, whose truth is known.

There are two segments and two arms. The policy to be judged plays the slow arm in segment 0 and
the fast one in segment 1; it earns 0.55. The logger plays the policy's own arm rarely, so that
weights are large. The same rewards, drawn once, are told in different ways:

- `independent`: delays are exponential, and do not depend on the reward;
- `lost`: moreover 10 % of the fast arm's outcomes and 40 % of the slow one's never come;
- `slow zeros`: a reward of 0 takes four times as long;
- `never zeros`: a reward of 0 never comes.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.evaluation.logs.journal import Journal

TRUTH = 0.55
ARMS = ("fast", "slow")
MEANS = np.array([[0.3, 0.6], [0.5, 0.2]])  # of the rewards, by segment and arm
FAST = np.array([0.7, 0.4])  # how often the logger plays the fast arm, by segment
LOST = np.array([0.1, 0.4])
WAYS = ("independent", "lost", "slow zeros", "never zeros")
Logger = Callable[["Draws"], tuple[Counts, Floats]]


class Draws(NamedTuple):
    """The random parts of a log: segments, a uniform number a row for each purpose, and delays."""

    segments: Counts
    for_arms: Floats
    for_rewards: Floats
    for_losses: Floats
    waits: Floats  # exponential with mean 1


class Known(NamedTuple):
    """A log of which everything is known."""

    segments: Counts
    chosen: Counts
    probability: Floats
    rewards: Floats
    draws: Draws


def draws_of(seed: int, rows: int) -> Draws:
    """Draw the random parts of a log."""
    random = np.random.default_rng(seed)
    uniform = random.random((4, rows))
    segments = (uniform[0] < 0.5).astype(np.int64)
    _, arms, rewards, losses = uniform
    return Draws(segments, arms, rewards, losses, random.exponential(1.0, rows))


def fixed_logger(draws: Draws) -> tuple[Counts, Floats]:
    """The arms and probabilities of a logger that never learns."""
    fast = FAST[draws.segments]
    chosen = (draws.for_arms >= fast).astype(np.int64)
    return chosen, np.where(chosen == 0, fast, 1.0 - fast)


def learning_logger(draws: Draws) -> tuple[Counts, Floats]:
    """The arms and probabilities of exp3, which is told each reward ten rounds later.

    A fifth of its plays are uniform, so that no probability is below 0.1.
    """
    from belated.learners.driver import Driver
    from belated.learners.registry import learner_named

    rows = len(draws.segments)
    driver = Driver(learner_named("exp3")(arms=2), room=rows)
    chosen, probability = np.zeros(rows, dtype=np.int64), np.zeros(rows)
    plays: list[tuple[Floats, int, float]] = []
    for row in range(rows):
        if row >= 10:
            play, arm, loss = plays[row - 10]
            driver.tell(play, arm, loss)
        fast = 0.8 * float(driver.weights()[0]) + 0.1
        arm = int(draws.for_arms[row] >= fast)
        chosen[row], probability[row] = arm, fast if arm == 0 else 1.0 - fast
        loss = float(draws.for_rewards[row] >= MEANS[draws.segments[row], arm])
        plays.append((driver.play(arm, probability=probability[row])[0], arm, loss))
    return chosen, probability


def known_log(draws: Draws, logger: Logger = fixed_logger) -> Known:
    """Play a log and draw its rewards."""
    chosen, probability = logger(draws)
    rewards = (draws.for_rewards < MEANS[draws.segments, chosen]).astype(np.float64)
    return Known(draws.segments, chosen, probability, rewards, draws)


def delays_of(log: Known, way: str, means: tuple[float, float]) -> Floats:
    """Return how long each outcome takes, infinite if it never comes."""
    zero = log.rewards == 0.0
    delays: Floats = log.draws.waits * np.array(means)[log.chosen]
    if way == "slow zeros":
        delays = np.where(zero, 4.0 * delays, delays)
    if way == "never zeros":
        delays = np.where(zero, np.inf, delays)
    if way == "lost":
        delays = np.where(log.draws.for_losses < LOST[log.chosen], np.inf, delays)
    return delays


def journal_with(log: Known, delays: Floats) -> Journal:
    """Return the journal of a log at its end, one round after the other."""
    rows = len(log.chosen)
    played = np.arange(1.0, rows + 1.0)
    told = played + delays <= rows
    segments = [{"segment": str(each)} for each in log.segments]
    return Journal(
        arms=ARMS,
        chosen=log.chosen,
        probability=log.probability,
        rewards=np.where(told, log.rewards, np.nan),
        played=played,
        delays=np.where(told, delays, np.nan),
        end=float(rows),
        weights=np.ones(rows),
        contexts=tuple(segments),
    )


def policy_of(log: Known) -> Floats:
    """The probabilities of the arms under the policy to be judged."""
    table = np.zeros((len(log.chosen), 2))
    table[np.arange(len(log.chosen)), 1 - log.segments] = 1.0
    return table
