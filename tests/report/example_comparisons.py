"""Small comparisons for the tests of reports, and unusual ones that are hard to draw."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from belated.comparison.compare import compare
from belated.comparison.contenders import Contender
from belated.comparison.result import Comparison
from belated.environments.delays import PerArm
from belated.environments.environment import Environment
from belated.environments.in_memory import GivenDelays, GivenLosses
from belated.environments.losses import Bernoulli
from belated.environments.missing import NEVER

LEARNERS = ("concealed", "concealed:variant=repaired", "full-information", "uniform")
CAPPED = tuple(f"concealed:max_missing={most}" for most in range(1, 9))
ODD = (
    "<script>alert('&amp;')</script>",
    "costs $5 or $6",
    "under_score_and_$x_1$",
    "a very long label " * 12,
    "\u4e2d\u6587\u6807\u7b7e \u3068 \u65e5\u672c\u8a9e" * 4,
    "bell\x07 null\x00 line\nbreak \ud800",
    "_hidden",
    "",
)


def environment(
    rounds: int, arms: int, labels: Sequence[str] = (), never: float = 0.0
) -> Environment:
    """Uniform losses with delays up to 5; a share `never` of the losses never arrives."""
    random = np.random.default_rng(arms)
    delays = random.integers(0, 6, (rounds, arms))
    delays[random.random((rounds, arms)) < never] = NEVER
    losses = random.random((rounds, arms)) * np.linspace(0.5, 1.0, arms)
    return Environment("given", GivenLosses(losses), GivenDelays(delays), rounds, labels)


def late_best(rounds: int = 600) -> Environment:
    """An environment where the best arm's losses are late and a good arm's are immediate."""
    labels = ("late best", "prompt good", "prompt bad")
    delays = PerArm([40, 0, 2])
    return Environment("late-best", Bernoulli([0.1, 0.4, 0.8]), delays, rounds, labels, "It shows.")


@functools.cache
def given() -> Comparison:
    """Five runs of one game without randomness, with two arms."""
    return compare(LEARNERS, environment(60, 2), repetitions=5)


@functools.cache
def ordinary() -> Comparison:
    """Four learners in six games with three arms."""
    found = compare(LEARNERS, late_best(), repetitions=6)
    return replace(found, command="belated compare late-best -r 6 --report 'a & b.html'")


def odd_labels() -> Comparison:
    """Names that are HTML, TeX, very long or empty, and losses that never arrive."""
    found = compare(LEARNERS, environment(200, len(ODD), ODD, never=0.05), repetitions=2)
    names = (
        Contender("a <b>learner</b> & co_with_$ " * 6),
        Contender("_own"),
        *found.contenders[2:],
    )
    place = replace(found.environment, name="<i>a name</i> that says $everything_about_it " * 4)
    return replace(found, contenders=names, environment=place)


UNUSUAL: dict[str, Callable[[], Comparison]] = {
    "one repetition": lambda: compare(LEARNERS, late_best(), repetitions=1),
    "one arm": lambda: compare(LEARNERS, environment(50, 1), repetitions=3),
    "one learner": lambda: compare(["concealed"], late_best(), repetitions=3),
    "one round": lambda: compare(LEARNERS, environment(1, 3), repetitions=2),
    "least of all": lambda: compare(["uniform"], environment(1, 1), repetitions=1),
    "never known": lambda: compare(LEARNERS, environment(60, 12, never=1.0), repetitions=2),
    "odd labels": odd_labels,
    "many learners": lambda: compare([*LEARNERS, *CAPPED], environment(60, 3), repetitions=2),
    "many arms": lambda: compare(LEARNERS, environment(40, 60), repetitions=2),
}


@functools.cache
def unusual(case: str) -> Comparison:
    """One of the unusual comparisons, by its name in `UNUSUAL`."""
    return UNUSUAL[case]()


def with_regrets(comparison: Comparison, regrets: Sequence[Sequence[float]]) -> Comparison:
    """Change the final regret of contender k in game r to regrets[k][r]."""
    traces = tuple(
        tuple(
            replace(trace, loss_at=np.r_[trace.loss_at[:-1], sums.losses.min() + regret])
            for trace, sums, regret in zip(row, comparison.game_sums, given, strict=True)
        )
        for row, given in zip(comparison.traces, regrets, strict=True)
    )
    return replace(comparison, traces=traces)
