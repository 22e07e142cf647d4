"""Games with a context in every round, and policies that give advice because they see it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import MOST_ARMS, as_count
from belated.environments.delays import PerArm
from belated.environments.environment import Random, Span
from belated.environments.parameters import as_chance
from belated.environments.scenarios import Parts, scenario_named

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio
UNUSED_BITS = np.uint64(32)


def contexts(span: Span, count: int) -> Counts:
    """The contexts of the rounds: 0 to count - 1, in an order without a period, all as often."""
    spread = (span.index.astype(np.uint64) * GOLDEN) >> UNUSED_BITS
    return ((spread * np.uint64(count)) >> UNUSED_BITS).astype(np.int64)


@dataclass(frozen=True)
class LossesByContext:
    """Independent losses of 0 and 1, whose means have a row for each context."""

    means: tuple[tuple[float, ...], ...]

    random = True

    @property
    def arms(self) -> int:
        return len(self.means[0])

    def sampler(self, random: Random) -> Callable[[Span], Floats]:
        table = np.array(self.means)

        def draw(span: Span) -> Floats:
            means = table[contexts(span, len(table))]
            return (random.random(means.shape) < means).astype(np.float64)

        return draw


@dataclass(frozen=True)
class AdviceByContext:
    """Policies that see the context: what each of them advises, by context and arm."""

    policies: tuple[str, ...]
    tables: tuple[tuple[tuple[float, ...], ...], ...]

    random = False

    def sampler(self, random: Random) -> Callable[[Span], Floats]:
        tables = np.array(self.tables)

        def advise(span: Span) -> Floats:
            seen = contexts(span, tables.shape[1])
            return np.ascontiguousarray(tables[:, seen].transpose(1, 0, 2))

        return advise


@scenario_named(
    "contexts",
    shows="Which arm is good depends on a context that only policies see, and slow arms can be "
    "good, too: a learner that weighs the policies does better than every single arm.",
)
def contexts_scenario(
    rounds: int = 20_000, arms: int = 4, gap: float = 0.3, delay: int = 100
) -> Parts:
    """As many contexts as arms, in each of which one arm has the mean loss 0.3, others more."""
    as_count(arms, "arms", 2, MOST_ARMS)
    worse, places = as_chance(0.3 + gap, "0.3 + gap"), range(arms)
    means = tuple(tuple(0.3 if i == c else worse for i in places) for c in places)
    even = ((1.0 / arms,) * arms,) * arms
    advice = AdviceByContext(
        ("reads the context", "is one arm off", "always the first arm", "all arms equally"),
        (_one_hot(arms, 0), _one_hot(arms, 1), (_one_hot(arms, 0)[0],) * arms, even),
    )
    delays = PerArm([delay * i // (arms - 1) for i in places])
    return Parts(LossesByContext(means), delays, rounds, advice=advice)


def _one_hot(arms: int, off: int) -> tuple[tuple[float, ...], ...]:
    """Advice for the arm of each context, or for one that is so many places off."""
    rows = np.roll(np.eye(arms), off, axis=1)
    return tuple(map(tuple, rows.tolist()))
