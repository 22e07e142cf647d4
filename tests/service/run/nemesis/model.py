"""What must stand whatever was broken: all that was acknowledged, once, and nothing that was not.

Every request is sent again until it is answered, so the journal can be compared with the answers
for equality. A ticket belongs to one client, which knows what became of it.
"""

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from belated.service.core.replica import LATE
from belated.service.store import Decision, NamedOutcome, Note, Outcome, Store
from tests.service.material import whole_journal

ARMS = ["red", "green"]
SPECS: dict[str, dict[str, Any]] = {
    "plain": {"arms": ARMS},
    "weighed": {"arms": ARMS, "learner": "full-information", "options": {"horizon": 100_000}},
    "brief": {"arms": ARMS, "expire_seconds": 1.5, "default_loss": 1.0},
    "patient": {"arms": ARMS, "expire_seconds": 7200, "default_loss": 1.0},
    "seen": {
        "arms": ARMS,
        "learner": "linear",
        "features": {"age": "number", "device": ["phone", "desktop"]},
        "default_loss": 1.0,
        "holdout": {"share": 0.3, "arm": "red"},
    },
    "orders": {
        "arms": ARMS,
        "soft_range": [0.0, 1.0],
        "outcomes": {"names": ["sale", "refund"], "rule": "sum", "revise_within": 2.0},
    },
}
SEEN = "seen"  # the only one with contexts
ORDERS = "orders"  # the only one whose tickets have several outcomes
EXPIRES = "brief"  # the only one whose tickets may expire
TOLD, CANCELLED, EXPIRED = "told", "cancelled", "expired"

Pair = tuple[str, str]  # ticket and arm
Named = tuple[str, str, int]  # ticket, name and revision


class Acknowledged(NamedTuple):
    """An outcome as its client knows it."""

    kind: str
    loss: float | None


class Weather:
    """Whether the service may be away: in a storm it may refuse a request, in a calm it must not.

    A fault of one request or of one problem is no storm.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._storms, self._calms = 0, 0

    @contextmanager
    def storm(self) -> Iterator[None]:
        """The service may be away."""
        with self._lock:
            self._storms += 1
            self._calms += 1
        try:
            yield
        finally:
            with self._lock:
                self._storms -= 1
                self._calms += 1

    def calm(self) -> int | None:
        """The number of the present calm; None in a storm."""
        with self._lock:
            return None if self._storms else self._calms


class Model:
    """All that was acknowledged to all clients, and what was answered that should not have been."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.decided: dict[str, tuple[str, str | None]] = {}  # ticket -> problem, arm
        self.outcomes: dict[Pair, Acknowledged] = {}
        self.counted: dict[Pair | Named, int] = {}
        self.named: dict[Named, float] = {}
        self.named_late: set[Named] = set()
        self.sent_again = 0
        self.wrong: list[str] = []

    def complain(self, text: str) -> None:
        """Keep what should not have happened."""
        with self.lock:
            self.wrong.append(text)

    def check(self, store: Store, victims: list[str]) -> None:
        """Compare all answers with the journal; of the victims only what was acknowledged."""
        assert self.wrong == []
        twice = [pair for pair, number in self.counted.items() if number > 1]
        assert twice == []
        journal = Journal(store)
        assert journal.twice == []
        acknowledged = self._of(set(SPECS))
        assert {name: set() for name in SPECS} == {
            name: acknowledged[name] ^ journal.tickets(name) for name in SPECS
        }
        for ticket, (problem, arm) in self.decided.items():
            if problem in SPECS:
                assert journal.decisions[ticket].arm == arm
        for pair, outcome in journal.outcomes.items():
            problem = self.decided.get(pair[0], ("", None))[0]
            if problem in SPECS:
                self._check_outcome(problem, pair, outcome)
        kept = {ticket for ticket, (problem, _) in self.decided.items() if problem in SPECS}
        lost = [pair for pair in self.outcomes if pair[0] in kept and pair not in journal.outcomes]
        assert lost == []
        self._check_late(journal, kept)
        self._check_named(journal)
        forgotten = self._of(set(victims))
        assert {name: forgotten[name] - journal.tickets(name) for name in victims} == {
            name: set() for name in victims
        }

    def _of(self, names: set[str]) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {name: set() for name in names}
        for ticket, (problem, _) in self.decided.items():
            if problem in names:
                found[problem].add(ticket)
        return found

    def _check_outcome(self, problem: str, pair: Pair, stands: Outcome) -> None:
        known = self.outcomes.get(pair)
        if known is None and problem == ORDERS:
            assert stands.kind == TOLD, (pair, stands)
        elif known is None or known.kind == EXPIRED:
            assert (problem, stands.kind) == (EXPIRES, EXPIRED), (pair, stands)
        else:
            assert (stands.kind, stands.loss) == known, (pair, stands)

    def _check_late(self, journal: "Journal", kept: set[str]) -> None:
        """Whoever was answered that a ticket has expired was told that the report is recorded."""
        answered = {
            pair
            for pair, known in self.outcomes.items()
            if known.kind == EXPIRED and pair[0] in kept
        }
        assert answered <= journal.late

    def _check_named(self, journal: "Journal") -> None:
        """Named outcomes are there as they were told, and what closes a ticket is their sum."""
        assert self.named.items() <= journal.named.items()
        assert self.named_late <= journal.named_late
        standing: dict[str, dict[str, tuple[int, float]]] = {}
        for (ticket, name, revision), reward in journal.named.items():
            of_ticket = standing.setdefault(ticket, {})
            of_ticket[name] = max((revision, reward), of_ticket.get(name, (-1, 0.0)))
        orders = journal.tickets(ORDERS)
        for (ticket, _), outcome in journal.outcomes.items():
            if ticket in orders and outcome.kind == TOLD:
                rewards = [reward for _, reward in standing[ticket].values()]
                assert outcome.raw == math.fsum(rewards), (ticket, standing[ticket])


class Journal:
    """The whole journal of a store, by ticket."""

    def __init__(self, store: Store) -> None:
        self.decisions: dict[str, Decision] = {}
        self.outcomes: dict[Pair, Outcome] = {}
        self.late: set[Pair] = set()
        self.named: dict[Named, float] = {}
        self.named_late: set[Named] = set()
        self.twice: list[str] = []
        for event in whole_journal(store):
            body = event.body
            if isinstance(body, Decision):
                self.twice += [body.ticket] if body.ticket in self.decisions else []
                self.decisions[body.ticket] = body
            elif isinstance(body, Outcome):
                pair = body.ticket, body.arm
                self.twice += [body.ticket] if pair in self.outcomes else []
                self.outcomes[pair] = body
            elif isinstance(body, NamedOutcome):
                self.twice += [body.ticket] if body[:3] in self.named else []
                self.named[body[:3]] = body.reward
            elif isinstance(body, Note) and body.kind == LATE:
                told = body.payload
                if "outcome" in told:
                    self.named_late.add((told["ticket"], told["outcome"], told["revision"]))
                else:
                    self.late.add((told["ticket"], told["arm"]))

    def tickets(self, problem: str) -> set[str]:
        """The tickets of a problem."""
        return {each.ticket for each in self.decisions.values() if each.problem == problem}
