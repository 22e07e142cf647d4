"""Small versions of the games that break two theorems of the paper (docs/errata.md, E1 and E2)."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import MOST_ARMS, MOST_ROUNDS, as_count
from belated.environments.delays import Constant
from belated.environments.environment import Random, Span
from belated.environments.losses import Bernoulli
from belated.environments.missing import NEVER
from belated.environments.parameters import between
from belated.environments.scenarios import Parts, scenario_named


@dataclass(frozen=True)
class LateTurn:
    """Two arms with loss 1, except that arm 1 has loss 0 after the first `first` rounds."""

    first: int

    arms = 2
    random = False

    def sampler(self, random: Random) -> Callable[[Span], Floats]:
        def draw(span: Span) -> Floats:
            losses = np.ones((span.count, 2))
            losses[span.index >= self.first, 0] = 0.0
            return losses

        return draw


@dataclass(frozen=True)
class LateSilence:
    """No delay, except that arm 1's losses of `silent` rounds after round `first` never arrive."""

    first: int
    silent: int

    random = False

    def sampler(self, random: Random) -> Callable[[Span, Floats], Counts]:
        def draw(span: Span, losses: Floats) -> Counts:
            delays = np.zeros(losses.shape, dtype=np.int64)
            since = span.index - self.first
            delays[(since >= 0) & (since < self.silent), 0] = NEVER
            return delays

        return draw


@scenario_named(
    "late-silence",
    shows="An arm of tiny prior weight turns good, and at that moment its losses stop arriving: "
    "the full-information learner of the paper finds it later than the repaired one does.",
)
def late_silence(
    first: int = 20_000, second: int = 5_000, most: int = 16, kappa: float = 10.0
) -> Parts:
    """Erratum E1 of th:fullinfobound, with T1 = first, T2 = second, M = most.

    The prior weight of the arm that turns good is e^-kappa. M - 1 of its zero losses never arrive.
    """
    as_count(most, "most", 1)
    rounds = as_count(first + second, "first + second", 1, MOST_ROUNDS)
    between(0.0, 700.0)(kappa, "kappa")
    prior = (math.exp(-kappa), -math.expm1(-kappa))
    labels = ("turns good", "stays bad")
    return Parts(LateTurn(first), LateSilence(first, most - 1), rounds, labels, prior)


@scenario_named(
    "many-arms",
    shows="One arm of thousands always has loss 0, and nothing is late: the concealed learner of "
    "the paper explores so much that it finds the arm later than the repaired one does.",
)
def many_arms(rounds: int = 20_000, arms: int = 2000) -> Parts:
    """Erratum E2 of th:concealed: the first arm has loss 0, all others loss 1, without delay."""
    as_count(arms, "arms", 1, MOST_ARMS)
    return Parts(Bernoulli([0.0] + [1.0] * (arms - 1)), Constant(0), rounds)
