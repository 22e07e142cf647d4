"""Measures: a measure has a question, a goal, and results that come one after the other."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from benchmarks.timing import Spread

Value = TypeVar("Value")

TIMES, SECONDS, PASSES, MEGABYTES = "x", "s", "passes", "MB"
PER_SECOND, BYTES = "/s", "B"


@dataclass(frozen=True)
class Goal:
    """A limit on the median of a result."""

    limit: float
    at_least: bool = False

    def met_by(self, value: float) -> bool:
        """Whether the value is on the right side of the limit."""
        return value >= self.limit if self.at_least else value <= self.limit


def at_most(limit: float) -> Goal:
    """Return the goal that a value is not above the limit."""
    return Goal(limit)


def at_least(limit: float) -> Goal:
    """Return the goal that a value is not below the limit."""
    return Goal(limit, at_least=True)


@dataclass(frozen=True)
class Result:
    """One number of a measure; `ours` and `rival` are seconds for a unit of work.

    `what` says what was measured; a result without a goal is for information only.
    """

    what: str
    value: Spread
    unit: str = TIMES
    arms: int | None = None
    goal: Goal | None = None
    ours: Spread | None = None
    rival: Spread | None = None

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None without a goal."""
        return None if self.goal is None else self.goal.met_by(self.value.median)


@dataclass(frozen=True)
class Effort:
    """How much work to do; a quick benchmark only shows that everything runs."""

    quick: bool = False

    def choose(self, full: Value, quick: Value) -> Value:
        """Return the size for a full or for a quick benchmark."""
        return quick if self.quick else full

    @property
    def turns(self) -> int:
        """The number of turns that contestants take."""
        return self.choose(9, 3)


@dataclass(frozen=True)
class Measure:
    """One measure of the benchmark; `run` yields each result when it is known."""

    number: int
    title: str
    goal: str
    compares: str
    run: Callable[[Effort], Iterator[Result]]


@dataclass
class Measured:
    """The results of a measure so far."""

    measure: Measure
    results: list[Result] = field(default_factory=list)
    seconds: float = 0.0
    failure: str = ""

    def content(self) -> dict[str, Any]:
        """Return the results as a JSON object."""
        return {
            "number": self.measure.number,
            "title": self.measure.title,
            "goal": self.measure.goal,
            "compares": self.measure.compares,
            "seconds": self.seconds,
            "failure": self.failure,
            "results": [result_content(result) for result in self.results],
        }


def take(measure: Measure, effort: Effort, into: Measured) -> Iterator[Result]:
    """Run a measure and keep its results, or the reason why it could not be finished."""
    started = time.perf_counter()
    try:
        for result in measure.run(effort):
            into.results.append(result)
            into.seconds = time.perf_counter() - started
            yield result
    except Exception as error:  # the other measures are still taken
        into.failure = f"{type(error).__name__}: {' '.join(str(error).split())}"


def result_content(result: Result) -> dict[str, Any]:
    """Return a result as a JSON object, with null for what does not apply."""
    goal = result.goal
    return {
        "what": result.what,
        "arms": result.arms,
        "value": result.value.median,
        "low": result.value.low,
        "high": result.value.high,
        "unit": result.unit,
        "goal": None if goal is None else {"limit": goal.limit, "at_least": goal.at_least},
        "met": result.met,
        "ours_seconds": None if result.ours is None else result.ours.median,
        "rival_seconds": None if result.rival is None else result.rival.median,
    }


def exactly(value: float) -> Spread:
    """Return a number that is counted, not measured, as a spread without width."""
    return Spread(value, value, value)
