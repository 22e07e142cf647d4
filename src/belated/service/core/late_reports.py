"""Reports of tickets that had expired: they are noted in the journal, once each.

A note belongs to the commit of the batch in which its report is answered, so that anyone who is
told that a report is recorded can rely on it.
"""

from collections.abc import Iterable

from belated.service.store import NamedOutcome, Note, Outcome
from belated.service.store.records import LATE

MOST_REMEMBERED = 10_000  # tickets and arms; an older one that is reported again is noted again

TicketArm = tuple[str, str]


def late_note(report: Outcome, problem: str) -> Note:
    """The note about a report whose ticket has expired."""
    told = {"ticket": report.ticket, "arm": report.arm, "loss": report.loss, "raw": report.raw}
    return Note(problem, LATE, told, report.at)


def late_named(report: NamedOutcome, arm: str, problem: str) -> Note:
    """The note about a named outcome whose ticket is closed."""
    told = {"ticket": report.ticket, "arm": arm, "loss": None, "raw": report.reward}
    named = {"outcome": report.name, "revision": report.revision}
    return Note(problem, LATE, told | named, report.at)


def named_pair(report: NamedOutcome) -> TicketArm:
    """What a late named outcome is remembered by; no arm has a line break in its name."""
    return report.ticket, f"{report.name}\n{report.revision}"


class LateReports:
    """The late reports that were committed lately, by ticket and arm."""

    def __init__(self) -> None:
        self._seen: dict[TicketArm, None] = {}

    def __contains__(self, pair: TicketArm) -> bool:
        return pair in self._seen

    def remember(self, pairs: Iterable[TicketArm]) -> None:
        """Remember reports that are committed."""
        self._seen |= dict.fromkeys(pairs)
        while len(self._seen) > MOST_REMEMBERED:
            del self._seen[next(iter(self._seen))]
