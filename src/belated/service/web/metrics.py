"""The numbers for Prometheus.

Counters and times cover what the workers of a service have done since they started. Several
workers behind one port keep them in files of one folder, so that any of them can answer with the
sums over all, including workers that have died. What is read from the journal, which all workers
share, is in `problem_metrics`.
"""

import os
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from belated.compiled.background import queue
from belated.service.core.commit_thread import CommittedBatch

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
SIZES = (1, 2, 5, 10, 25, 50, 100, 250, 500, 1000)
SHARED = "PROMETHEUS_MULTIPROC_DIR"  # names the folder; the library reads it at import
WORKERS, REPEATED = "belated_workers", "belated_repeated_reports"


class Metrics:
    """The numbers of one process, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        own: Any = {"registry": self.registry}
        self.requests = Counter(
            "belated_requests_total", "Requests by route and status", ("route", "status"), **own
        )
        self.seconds = Histogram(
            "belated_request_seconds", "Time to answer", ("route",), buckets=BUCKETS, **own
        )
        self.commits = Histogram(
            "belated_commit_seconds", "Time of a group and its commit", buckets=BUCKETS, **own
        )
        self.groups = Histogram(
            "belated_commit_records", "Records in one commit", buckets=SIZES, **own
        )
        self.outcomes = Counter(
            "belated_reports_total", "Reports by what became of them", ("became",), **own
        )
        self.repeated = Counter(
            REPEATED, "Reports of what was reported before", ("problem",), **own
        )
        self.decisions = Counter("belated_decisions_total", "Decisions made", **own)
        self.workers = Gauge(
            WORKERS, "Workers that carry out requests", multiprocess_mode="livesum", **own
        )
        self.interpreted = Gauge(
            "belated_interpreted_steps",
            "Steps of learners that wait for the compiler, over all workers",
            multiprocess_mode="livesum",
            **own,
        )
        queue.watch(self.interpreted.set)
        self._of_route: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self._became: dict[str, Counter] = {}

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered; its two metrics are looked up once, which is slow."""
        found = self._of_route.get((route, status))
        if found is None:
            found = self.requests.labels(route, str(status)), self.seconds.labels(route)
            self._of_route[route, status] = found
        found[0].inc()
        found[1].observe(seconds)

    def reported(self, became: str) -> None:
        """Count a report by what became of it; its metric is looked up once."""
        found = self._became.get(became)
        if found is None:
            found = self._became[became] = self.outcomes.labels(became)
        found.inc()

    def observe_batch(self, batch: CommittedBatch) -> None:
        """Count a batch that the commit thread has committed."""
        for name, number in batch.repeated.items():
            self.repeated.labels(name).inc(number)
        if batch.records:
            self.commits.observe(batch.seconds)
            self.groups.observe(batch.records)

    def total(self, name: str, **labels: str) -> int:
        """The sum of a metric over all workers."""
        return int(
            sum(
                sample.value
                for metric in self._of_all().collect()
                for sample in metric.samples
                if sample.name == name and labels.items() <= sample.labels.items()
            )
        )

    def text(self, of_journal: Collector) -> bytes:
        """All metrics, and those that are read from the journal, in the format of Prometheus."""
        journal = CollectorRegistry()
        journal.register(of_journal)
        return generate_latest(self._of_all()) + generate_latest(journal)

    def _of_all(self) -> CollectorRegistry:
        """The metrics of all workers, or of this one if there are no others."""
        if SHARED not in os.environ:
            return self.registry
        found = CollectorRegistry()
        MultiProcessCollector(found)  # type: ignore[no-untyped-call]
        return found
