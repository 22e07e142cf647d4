"""Reports of tickets that had expired: they are noted in the journal, once each."""

from belated.service.core.replica import LATE
from belated.service.store import Note, Outcome

MOST_REMEMBERED = 10_000  # tickets and arms; an older one that is reported again is noted again


class LateReports:
    """Collects notes about late reports until the next batch writes them."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], None] = {}
        self._waiting: list[Note] = []

    def collect(self, report: Outcome, stands: Outcome, problem: str, now: float) -> None:
        """Note a report whose ticket has expired, if it is the first such report of its arm."""
        if stands.kind != "expired" or (report.ticket, report.arm) in self._seen:
            return
        told = {
            "ticket": report.ticket, "arm": report.arm, "loss": report.loss, "raw": report.raw,
        }  # fmt: skip
        self._waiting.append(Note(problem, LATE, told, now))
        self._seen[report.ticket, report.arm] = None
        if len(self._seen) > MOST_REMEMBERED:
            del self._seen[next(iter(self._seen))]

    def take(self) -> list[Note]:
        """Return the collected notes and forget them; the caller writes them."""
        waiting, self._waiting = self._waiting, []
        return waiting
