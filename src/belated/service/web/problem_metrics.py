"""The numbers of each problem for Prometheus.

They come from the journal, so every worker and every machine gives the same ones. A problem adds
about ten series, and one for the weight of each of its arms, unless it has more than MOST_ARMS or
MOST_WEIGHTS are there already. A database of metrics does not bear any number of series.
"""

import functools
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from belated.service.core.replica import Replica
from belated.service.core.replicas import Replicas
from belated.service.store import Lag, Store
from belated.service.web.bridge import Bridge

MOST_ARMS = 50  # of a problem whose weights are given
MOST_WEIGHTS = 2_000  # of all problems together
AT_ONCE = 20  # problems whose numbers are read in one go, while all requests wait
OUTCOMES = ("told", "expired", "cancelled")


class ProblemNumbers(NamedTuple):
    """The numbers of a problem that its replica has; `oldest` is the age of its oldest ticket."""

    rounds: int
    pending: int
    oldest: float
    late: int
    clipped: int
    weights: Mapping[str, float]


class JournalNumbers(NamedTuple):
    """The numbers of all problems, and how far this worker lags behind the journal."""

    problems: Mapping[str, ProblemNumbers]
    counts: Mapping[tuple[str, str], int]
    broken: Iterable[str]
    lag: Lag


async def journal_numbers(bridge: Bridge) -> JournalNumbers:
    """Read the numbers of all problems, a few at a time so that no request waits for long."""

    def standing(store: Store, replicas: Replicas) -> tuple[list[str], list[str], Lag]:
        return list(replicas.by_name), list(replicas.broken), replicas.lag(time.time())

    names, broken, lag = await bridge.run_on_thread(standing)
    found: dict[str, ProblemNumbers] = {}
    weights = 0
    for first in range(0, len(names), AT_ONCE):
        some, room = names[first : first + AT_ONCE], MOST_WEIGHTS - weights
        found |= await bridge.run_on_thread(
            lambda store, replicas, some=some, room=room: numbers_of(replicas, some, room)
        )
        weights = sum(len(each.weights) for each in found.values())
    counts = await bridge.read(lambda store: store.all_counts())
    return JournalNumbers(found, counts, broken, lag)


def numbers_of(replicas: Replicas, names: Iterable[str], room: int) -> dict[str, ProblemNumbers]:
    """The numbers of some problems, with weights as long as there is room for them."""
    found = {}
    for name in names:
        numbers = replicas.sound(name, functools.partial(numbers_in, room=room))
        if numbers is not None:
            found[name] = numbers
            room -= len(numbers.weights)
    return found


def numbers_in(replica: Replica, room: int) -> ProblemNumbers:
    """The numbers of a problem, with its weights if there is room for them."""
    arms = replica.problem.arms
    fits = len(arms) <= min(MOST_ARMS, room)
    weights = dict(zip(arms, replica.weights().tolist(), strict=True)) if fits else {}
    oldest, clipped = oldest_of(replica), int(replica.stats.clipped[:, 0].sum())
    late = replica.late_reports
    return ProblemNumbers(replica.round, len(replica.open), oldest, late, clipped, weights)


def oldest_of(replica: Replica) -> float:
    """The seconds since the oldest open ticket was decided, 0 if there is none."""
    first = replica.open.oldest()
    return 0.0 if first is None else max(0.0, time.time() - first.at)


class JournalCollector(Collector):
    """Collects the numbers of all problems."""

    def __init__(self, numbers: JournalNumbers) -> None:
        self._numbers = numbers

    def collect(self) -> Iterator[Metric]:
        """One family for each number."""
        numbers = self._numbers
        lag_rows = gauge("belated_lag_rows", "Events of the journal that were not read yet")
        lag_rows.add_metric([], numbers.lag.rows)
        lag_seconds = gauge("belated_lag_seconds", "Seconds since the oldest of them was written")
        lag_seconds.add_metric([], numbers.lag.seconds)
        broken = gauge("belated_broken_problem", "Problems that cannot be served", "problem")
        for name in numbers.broken:
            broken.add_metric([name], 1)
        yield from (lag_rows, lag_seconds, broken, *self._of_replicas(), *self._of_store())

    def _of_replicas(self) -> Iterator[Metric]:
        rounds = gauge("belated_rounds", "Rounds played", "problem")
        pending = gauge("belated_pending_tickets", "Tickets that wait for an outcome", "problem")
        oldest = gauge("belated_oldest_pending_seconds", "Age of the oldest of them", "problem")
        late = counter("belated_problem_late_reports", "Reports of expired tickets", "problem")
        clipped = counter(
            "belated_problem_clipped_outcomes", "Outcomes out of the soft range", "problem"
        )
        weights = gauge("belated_weight", "Share of decisions an arm gets", "problem", "arm")
        for name, each in self._numbers.problems.items():
            rounds.add_metric([name], each.rounds)
            pending.add_metric([name], each.pending)
            oldest.add_metric([name], each.oldest)
            late.add_metric([name], each.late)
            clipped.add_metric([name], each.clipped)
            for arm, weight in each.weights.items():
                weights.add_metric([name, arm], weight)
        yield from (rounds, pending, oldest, late, clipped, weights)

    def _of_store(self) -> Iterator[Metric]:
        decisions = counter("belated_problem_decisions", "Decisions in the journal", "problem")
        outcomes = counter("belated_problem_outcomes", "Outcomes by kind", "problem", "kind")
        counts = self._numbers.counts
        for name in self._numbers.problems:
            decisions.add_metric([name], counts.get((name, "decided"), 0))
            for kind in OUTCOMES:
                outcomes.add_metric([name, kind], counts.get((name, kind), 0))
        yield from (decisions, outcomes)


def gauge(name: str, about: str, *labels: str) -> GaugeMetricFamily:
    """An empty family of gauges."""
    return GaugeMetricFamily(name, about, labels=labels)


def counter(name: str, about: str, *labels: str) -> CounterMetricFamily:
    """An empty family of counters; `_total` is added to its name."""
    return CounterMetricFamily(name, about, labels=labels)
