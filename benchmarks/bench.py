"""A benchmark: measures taken one after the other, with the machine and the peers they ran on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.machine import machine_facts
from benchmarks.measure import Effort, Measure, Measured, take
from benchmarks.peers import PEERS
from benchmarks.peers.peer import Presence


@dataclass
class Bench:
    """The results of a benchmark so far; an interrupt keeps what was measured."""

    effort: Effort
    machine: dict[str, str] = field(default_factory=machine_facts)
    peers: list[Presence] = field(default_factory=lambda: [peer.presence for peer in PEERS])
    measured: list[Measured] = field(default_factory=list)
    interrupted: bool = False

    @property
    def missed(self) -> bool:
        """Whether a goal was missed."""
        return any(result.met is False for each in self.measured for result in each.results)

    @property
    def failed(self) -> bool:
        """Whether a measure could not be finished."""
        return any(each.failure for each in self.measured)

    def content(self) -> dict[str, Any]:
        """The benchmark as a JSON object."""
        return {
            "quick": self.effort.quick,
            "interrupted": self.interrupted,
            "machine": self.machine,
            "peers": [
                {
                    "name": peer.name,
                    "usable": peer.usable,
                    "version": peer.version,
                    "reason": peer.reason,
                    "install": peer.install,
                }
                for peer in self.peers
            ],
            "measures": [each.content() for each in self.measured],
        }


def take_measures(
    measures: Sequence[Measure], effort: Effort, status: Callable[[str], None]
) -> Bench:
    """Take the measures in order; `status` is called with a text that names the current one."""
    bench = Bench(effort)
    try:
        for place, measure in enumerate(measures, 1):
            measured = Measured(measure)
            bench.measured.append(measured)
            title = f"{measure.number} {measure.title} ({place} of {len(measures)})"
            status(title)
            for result in take(measure, effort, measured):
                arms = "" if result.arms is None else f", K={result.arms:,}"
                status(f"{title}: {result.what}{arms} done")
    except KeyboardInterrupt:
        bench.interrupted = True
    return bench
