"""Verifying a store: its journal is folded again from the beginning, and compared with what is.

The fold must give the state that is in use, bit for bit; each probability in the journal must be
the one that the fold predicts (with several workers it may be of a moment before, and another
version of belated may have had other numbers); no ticket may be decided or answered twice; and
what the store counts beside the journal must be what is in it.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from belated.compiled.jit import source_hash
from belated.service.core.replica import Replica
from belated.service.core.replicas import Replicas
from belated.service.core.snapshots import fingerprint
from belated.service.store import START, Decision, Event, Outcome, Position, Store

MOST_COMPLAINTS = 10
TOO_FAR = 1e-10  # from what the fold predicts, where there is one worker


@dataclass
class Finding:
    """What was found about one problem; `gap` is the largest |q - what was written| there.

    `judged` counts the decisions of this version of belated, and `off` is the gap of those.
    """

    problem: str
    events: int = 0
    rounds: int = 0
    pending: int = 0
    gap: float = 0.0
    judged: int = 0
    off: float = 0.0
    state: str = ""
    complaints: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong."""
        return not self.complaints

    def complain(self, text: str) -> None:
        """Something is wrong; the first few things are enough."""
        if len(self.complaints) < MOST_COMPLAINTS:
            self.complaints.append(text)

    def shown(self) -> dict[str, Any]:
        """As it is handed out."""
        return {**asdict(self), "clean": self.is_clean}


class Refold:
    """Goes through the whole journal, and watches every event."""

    def __init__(self, store: Store) -> None:
        self._store, self.replicas = store, Replicas(store)
        self._ours_after = store.code.since(source_hash()) if store.one_owner else None
        self.findings: dict[str, Finding] = {}
        self._decided: set[str] = set()
        self._answered: set[tuple[str, str]] = set()
        self.tallies: dict[str, Counter[tuple[str | None, str]]] = {}

    def to(self, end: Position) -> None:
        """Fold all events up to a position."""
        position = START
        while True:
            events, position = self._store.tail(position)
            for event in events:
                if event.position > end:
                    return
                self._watch(event)
                self.replicas.take(event)
            if not events:
                return

    def _watch(self, event: Event) -> None:
        finding = self.findings.setdefault(event.problem, Finding(event.problem))
        finding.events += 1
        body, replica = event.body, self.replicas.by_name.get(event.problem)
        if isinstance(body, Decision):
            if body.ticket in self._decided:
                finding.complain(f"ticket {body.ticket!r} was decided twice")
            self._decided.add(body.ticket)
            if replica is not None:
                here = gap(replica, body)
                finding.gap = max(finding.gap, here)
                if self._ours_after is not None and event.position > self._ours_after:
                    finding.judged += 1
                    finding.off = max(finding.off, here)
        elif isinstance(body, Outcome):
            if (body.ticket, body.arm) in self._answered:
                finding.complain(f"arm {body.arm!r} of {body.ticket!r} was answered twice")
            if body.ticket not in self._decided:
                finding.complain(f"{body.ticket!r} was answered before it was decided")
            self._answered.add((body.ticket, body.arm))
        else:
            return
        kind = "decided" if isinstance(body, Decision) else body.kind
        self.tallies.setdefault(event.problem, Counter())[body.arm, kind] += 1


def gap(replica: Replica, decision: Decision) -> float:
    """How far what was written is from what the fold predicts."""
    weights, places = replica.weights(), replica.problem.places
    written = decision.weights or {str(decision.arm): float(decision.probability or 0.0)}
    # Of several workers one may not have known yet that an arm was added or removed.
    return max(
        (
            abs(float(weights[places[arm]]) - share)
            for arm, share in written.items()
            if arm in places
        ),
        default=0.0,
    )


def verified(
    store: Store, live: Mapping[str, str], end: Position, at_rest: bool = False
) -> list[Finding]:
    """What is wrong with a store; `live` has the fingerprints of the state in use at `end`.

    What the store keeps beside the journal is compared, too, if nobody writes to it meanwhile.
    """
    refold = Refold(store)
    refold.to(end)
    for name, replica in refold.replicas.by_name.items():
        finding = refold.findings[name]
        finding.rounds, finding.pending = replica.round, len(replica.open)
        finding.state = fingerprint(replica)
        if live.get(name) != finding.state:
            finding.complain("the state in use is not the fold of the journal")
        if finding.off > TOO_FAR:
            finding.complain(f"a probability is {finding.off:.3g} off what the fold predicts")
        if at_rest and store.end() == end:
            check_tables(store, finding, refold.tallies.get(name, Counter()))
    for name, reason in refold.replicas.broken.items():
        refold.findings[name].complain(f"it cannot be served: {reason}")
    return list(refold.findings.values())


def check_tables(
    store: Store, finding: Finding, tallies: Mapping[tuple[str | None, str], int]
) -> None:
    """Compare what the store keeps beside the journal with what is in it."""
    kept = store.counts(finding.problem).by_arm
    pairs = {(arm, kind): n for arm, kinds in kept.items() for kind, n in kinds.items()}
    if pairs != dict(tallies):
        finding.complain("the tallies are not those of the journal")
    waiting = sum(map(sum, store.ages(finding.problem, []).values()))
    if waiting != finding.pending:
        finding.complain(f"{waiting} tickets are open in the store, {finding.pending} in the fold")


def fingerprints(replicas: Replicas) -> dict[str, str]:
    """Of all replicas, by name."""
    return {name: fingerprint(replica) for name, replica in replicas.by_name.items()}


def verified_at_rest(store: Store) -> list[Finding]:
    """Verify a store against its snapshots and what came after them."""
    loaded = Replicas.loaded(store)
    return verified(store, fingerprints(loaded), loaded.position, at_rest=True)
