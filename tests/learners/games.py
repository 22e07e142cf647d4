"""Random games for one learner, and what it plays in them."""

from typing import Any, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.environments.missing import NEVER, missing_counts
from belated.learners.contract import Learner
from belated.play.game import Stretch
from belated.play.readable import rounds_of

ARMS = (1, 2, 3, 7)


class Table(NamedTuple):
    """Losses and delays of every round and arm, and the random numbers that choose the arms."""

    losses: Floats
    delays: Counts
    draws: Floats

    def finite(self) -> Floats:
        """The delays, infinite where a loss never comes."""
        return np.where(self.delays == NEVER, np.inf, self.delays)


class Played(NamedTuple):
    """q_t in row t - 1, and the arms of a bandit."""

    q: Floats
    arms: Counts


def random_table(seed: int, rounds: int, arms: int, never: float = 0.05) -> Table:
    """Delays of every arm's own: many of them zero, some long, some infinite."""
    random = np.random.default_rng(seed)
    shape = (rounds, arms)
    delays = random.choice([0, 0, 0, 1, 2, 3, 9], shape)
    delays[random.random(shape) < 0.1] += 20
    delays[random.random(shape) < never / arms] = NEVER
    losses = random.random(shape)
    losses[random.random(shape) < 0.5] //= 0.5
    return Table(losses, delays, random.random(rounds))


def shared_delay(table: Table, delay: int) -> Table:
    """The same with one delay for all."""
    return table._replace(delays=np.full_like(table.delays, delay))


def played(learner: Learner, table: Table, state: Any = None) -> Played:
    """Play a table; arms are drawn, with a little probability for each, lest estimates explode."""
    arms: list[int] = []

    def choose(t: int, q: Floats) -> int:
        mixed = np.cumsum(0.9 * q + 0.1 / q.size)
        arms.append(int(np.searchsorted(mixed, table.draws[t] * mixed[-1], side="right")))
        return arms[-1]

    missing = missing_counts(table.delays)
    stretch = Stretch(0, len(table.draws), table.losses, table.delays, missing)
    state = learner.start() if state is None else state
    moments = list(rounds_of(learner, state, [stretch], choose))
    return Played(np.array([moment.prediction.q for moment in moments]), np.array(arms))


def softmin(losses: Floats, eta: float) -> Floats:
    """Weights in proportion to exp(-eta losses)."""
    weights: Floats = np.exp(-eta * (losses - losses.min()))
    return weights / weights.sum()


def told_after(learner: Learner, table: Table, arms: Counts) -> Floats:
    """By round, at the end of which it is told: with its last loss, or the played arm's own."""
    index = np.arange(len(table.draws))
    if learner.delivery == "own" and arms.size:
        return index + table.finite()[index, arms]
    return index + table.finite().max(axis=1)
