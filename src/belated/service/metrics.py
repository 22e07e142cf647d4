"""What Prometheus is told: counted by this process since it began."""

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
SIZES = (1, 2, 5, 10, 25, 50, 100, 250, 500, 1000)


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
        self.decisions = Counter("belated_decisions_total", "Decisions handed out", **own)
        self.pending = Gauge(
            "belated_pending_tickets", "Tickets that wait for an outcome", ("problem",), **own
        )
        self.rounds = Gauge("belated_rounds", "Rounds played", ("problem",), **own)

        self._of_route: dict[tuple[str, int], tuple[Counter, Histogram]] = {}

    def answered(self, route: str, status: int, seconds: float) -> None:
        """A request was answered; its two numbers are looked up once, as that takes longest."""
        found = self._of_route.get((route, status))
        if found is None:
            found = self.requests.labels(route, str(status)), self.seconds.labels(route)
            self._of_route[route, status] = found
        found[0].inc()
        found[1].observe(seconds)

    def committed(self, records: int, seconds: float) -> None:
        """A group was committed."""
        self.commits.observe(seconds)
        self.groups.observe(records)

    def text(self) -> bytes:
        """All of it in Prometheus's own format."""
        return generate_latest(self.registry)
