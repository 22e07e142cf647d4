"""Verification of a store: its journal is folded again and compared with the state in use.

The fold must give the state that is in use, bit for bit. Each probability in the journal must be
the one that the fold predicts, with several workers that of the state which the decision names;
another version of belated may have computed other digits. No ticket may be decided or answered
twice. The tallies and open tickets in the store must be those of the journal. Each row must be as
it was written, by its checksum.

Where the journal was folded into checkpoints, all this begins with them. Each must be as it was
written and agree with the sums in it, and the rows before it must be those of its open tickets.
"""

import contextlib
import functools
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from belated.compiled.sources import source_hash
from belated.service.admin.past_weights import NamedWeights, PastWeights
from belated.service.contexts import eligible_arms
from belated.service.core.arms import drawn_shares
from belated.service.core.errors import UnavailableError
from belated.service.core.problems import ServedProblem
from belated.service.core.replica import Replica
from belated.service.core.replicas import Replicas
from belated.service.core.snapshots import fingerprint
from belated.service.store import (
    START,
    BehindCheckpoint,
    CheckpointSums,
    Decision,
    Event,
    Note,
    Outcome,
    Position,
    Store,
    Unreadable,
)
from belated.service.store.checksums import checksum_of
from belated.service.store.queries import place_of
from belated.service.store.records import DECIDED, LATE, OUTCOME_KINDS

MOST_COMPLAINTS = 10
ALL = "*"  # in the place of a problem, for what concerns all
TOO_FAR = 1e-10  # from what the fold predicts


@dataclass
class ProblemVerification:
    """The result for one problem; `gap` is the largest |q in the journal - q of the fold|.

    `judged` counts the decisions of this version of belated, and `off` is the gap of those.
    `sealed` counts the events whose row has a checksum. `retained` counts the events that are in
    the checkpoint, and not in `events`.
    """

    problem: str
    events: int = 0
    retained: int = 0
    rounds: int = 0
    pending: int = 0
    gap: float = 0.0
    judged: int = 0
    off: float = 0.0
    sealed: int = 0
    state: str = ""
    complaints: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether there are no complaints."""
        return not self.complaints

    def complain(self, text: str) -> None:
        """Add a complaint; only the first few are kept."""
        if len(self.complaints) < MOST_COMPLAINTS:
            self.complaints.append(text)

    def shown(self) -> dict[str, Any]:
        """The result as an object for JSON."""
        return {**asdict(self), "clean": self.is_clean}


class Refold:
    """Folds the journal into new replicas from the checkpoints on, and checks every event."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._reached, self._sealed = store.checkpoints.reached(), store.checkpoints.positions()
        self.replicas = Replicas.at_checkpoints(store)
        self._ours_after = store.code.since(source_hash()) if store.one_owner else None
        self._past = PastWeights()
        self.results: dict[str, ProblemVerification] = {}
        self.tallies: dict[str, Counter[tuple[str | None, str]]] = {}
        for name, replica in self.replicas.by_name.items():
            self._begin(name, replica)

    def _begin(self, name: str, replica: Replica) -> None:
        """Take over what the checkpoint of a problem says."""
        checkpoint = self._store.checkpoints.of(name)
        assert checkpoint is not None
        self.result(name).retained = checkpoint.sums.events
        self.tallies[name] = Counter({(arm, kind): n for arm, kind, n in checkpoint.sums.tallies})
        if not self._store.one_owner:
            self._past.begin(replica)
        check_sums(self.result(name), replica, checkpoint.sums)

    def to(self, end: Position) -> None:
        """Fold and check all events up to a position."""
        self._check_kept()
        for event in self.replicas.events_behind():
            self._take(event)
        position, coming = self._reached.position, list[Event]()
        while True:
            events, position = self._store.tail(position)
            is_end = not events
            if not self._store.one_owner:  # a page is read ahead
                self._past.expect(events)
                events, coming = coming, events
            for event in events:
                if event.position > end:
                    return
                self._take(event)
            if is_end:
                return

    def _take(self, event: Event) -> None:
        replica = self.replicas.by_name.get(event.problem)
        if replica is not None and event.position <= replica.position:  # its rows stayed
            self._check_seal(event, self.result(event.problem))
            return
        try:
            self._look_back(self._past.before, event)
            self._check(event)
        except Exception as error:  # one row must not end the verification of all
            _, seq = place_of(event.position)
            self.result(event.problem).complain(f"row {seq} makes no sense: {error!r}")
        self.replicas.take(event)
        self._look_back(self._past.add, event)

    def _look_back(self, note: Callable[[Position, Replica], None], event: Event) -> None:
        """Have weights noted before or after an event, where decisions may be made from others."""
        if not self._store.one_owner:
            self.replicas.sound(event.problem, functools.partial(note, event.position))

    def _check_kept(self) -> None:
        """Check the rows before the checkpoints: they are those of tickets that were open there."""
        position, end, left = START, self._reached.position, 0
        folded = {
            name: each for name, each in self.replicas.by_name.items() if each.position == end
        }
        decided = Counter[str]()
        while events := self._store.kept_before(position, end) if folded else []:
            position = events[-1].position
            for event in events:
                if event.problem in folded and not self._is_kept(event, folded[event.problem]):
                    left += 1
                elif isinstance(event.body, Decision):
                    decided[event.problem] += 1
        for name, replica in folded.items():
            lost = len(replica.open) - decided[name]
            if lost > 0:
                self.result(name).complain(f"the rows of {lost} open tickets are lacking")
        if left and self._reached.swept:
            self.result(ALL).complain(f"{left} rows before the checkpoints should be deleted")

    def _is_kept(self, event: Event, replica: Replica) -> bool:
        """Whether a row before the checkpoints belongs there."""
        body, result = event.body, self.result(event.problem)
        self._check_seal(event, result)
        if isinstance(body, Unreadable):
            result.complain(body.reason)
            return True
        return body.kind != LATE if isinstance(body, Note) else body.ticket in replica.open

    def is_undisturbed(self) -> bool:
        """Whether no checkpoints were written meanwhile."""
        checkpoints = self._store.checkpoints
        is_same = checkpoints.reached()[:2] == self._reached[:2]
        return is_same and checkpoints.positions() == self._sealed

    def _judge(
        self, position: Position, decision: Decision, replica: Replica, result: ProblemVerification
    ) -> None:
        """Compare the probabilities of a decision with those of the state it was made from."""
        problem, given = replica.problem, replica.given_with(decision)
        now: NamedWeights = (problem.places, replica.weights_in(given))
        then: NamedWeights | None
        result.gap = max(result.gap, gap(now, decision, problem))
        if self._store.one_owner:
            ours = self._ours_after is not None and position > self._ours_after
            then = now if ours else None
        else:
            then = self._past.of(decision)
        if then is not None:
            result.judged += 1
            result.off = max(result.off, gap(then, decision, problem))

    def result(self, problem: str) -> ProblemVerification:
        """What is found about a problem."""
        return self.results.setdefault(problem, ProblemVerification(problem))

    def _check_seal(self, event: Event, result: ProblemVerification) -> None:
        """Check that a row is as it was written."""
        if event.checksum is not None and not isinstance(event.body, Unreadable):
            result.sealed += 1
            if checksum_of(event.body) != event.checksum:
                _, seq = place_of(event.position)
                result.complain(f"row {seq} of the journal is not as it was written")

    def _check(self, event: Event) -> None:
        result = self.result(event.problem)
        result.events += 1
        self._check_seal(event, result)
        body, replica = event.body, self.replicas.by_name.get(event.problem)
        if isinstance(body, Decision):
            if replica is not None:
                self._judge(event.position, body, replica, result)
        elif isinstance(body, Outcome):
            play = None if replica is None else replica.open.get(body.ticket)
            if replica is not None and (play is None or not replica.waits_for(play, body.arm)):
                why = "was answered twice, or before it was decided"
                result.complain(f"arm {body.arm!r} of {body.ticket!r} {why}")
            if replica is not None:
                check_rule(result, replica, body)
        else:  # named, a note, or a row that cannot be read, for which the problem is given up
            return
        kind = "decided" if isinstance(body, Decision) else body.kind
        self.tallies.setdefault(event.problem, Counter())[body.arm, kind] += 1


def check_rule(result: ProblemVerification, replica: Replica, outcome: Outcome) -> None:
    """Compare what closes a ticket with what the rule says about its named outcomes."""
    rule = replica.problem.outcomes
    if rule is None or outcome.kind == "cancelled":
        return
    told = replica.named.of(outcome.ticket)
    says = rule.reward(told) if told else None
    if outcome.raw != says:
        result.complain(
            f"ticket {outcome.ticket!r} was told {outcome.raw!r}, and its outcomes amount to {says}"
        )


def check_sums(result: ProblemVerification, replica: Replica, sums: CheckpointSums) -> None:
    """Compare what a checkpoint counts with the state in it."""
    counted = Counter[str]()
    for _, kind, number in sums.tallies:
        counted[kind] += number
    stats = replica.stats
    outcomes = (int(stats.told.number.sum()), int(stats.expired.sum()), int(stats.cancelled.sum()))
    found = (replica.round, *outcomes)
    if found != tuple(counted[kind] for kind in (DECIDED, *OUTCOME_KINDS)):
        result.complain("the sums of the checkpoint are not those of its state")


def gap(fold: NamedWeights, decision: Decision, problem: ServedProblem) -> float:
    """The largest difference between a decision's probabilities and those of the fold."""
    places, weights = fold
    written = decision.weights or {str(decision.arm): float(decision.probability or 0.0)}
    # A worker may have decided before it knew that an arm was added or removed.
    known = [arm for arm in written if arm in places]
    if decision.arm is not None and known:
        among = None if decision.weights is None else frozenset(known)
        weights = drawn_shares(problem, weights, eligible_arms(list(places), among))
        if problem.holdout is not None:
            control = problem.holdout.control(list(places), among)
            weights = problem.holdout.mixed(weights, control)
    return max((abs(float(weights[places[arm]]) - written[arm]) for arm in known), default=0.0)


def verified(
    store: Store, live: Mapping[str, str], end: Position, at_rest: bool = False
) -> list[ProblemVerification]:
    """Verify all problems of a store; `live` has the fingerprints of the states in use at `end`.

    If no one writes meanwhile (`at_rest`), tallies and open tickets are compared as well.
    """
    positions = (store.checkpoints.reached().position, *store.checkpoints.positions().values())
    if end < max(positions):
        raise UnavailableError("checkpoints were written just now; verify again")
    refold = refolded(store, end)
    for name, ticket in store.decided_twice(MOST_COMPLAINTS):
        refold.result(name).complain(f"ticket {ticket!r} was decided twice")
    for name, replica in refold.replicas.by_name.items():
        result = refold.result(name)
        result.rounds, result.pending = replica.round, len(replica.open)
        result.state = fingerprint(replica)
        if live.get(name) != result.state:
            result.complain("the state in use is not the fold of the journal")
        if result.off > TOO_FAR:
            result.complain(f"a probability is {result.off:.3g} off what the fold predicts")
        if at_rest and store.end() == end:
            check_tables(store, result, refold.tallies.get(name, Counter()))
    for name, reason in refold.replicas.broken.items():
        refold.result(name).complain(f"it cannot be served: {reason}")
    problems = {problem.name: problem for problem in store.problems()}
    for problem in problems.values():
        if problem.fault:
            refold.result(problem.name).complain(problem.fault)
    known = {ALL, *problems, *live}
    return [result for name, result in refold.results.items() if name in known]


def refolded(store: Store, end: Position) -> Refold:
    """The journal folded again up to a position; again, if checkpoints are written meanwhile."""
    while True:
        with contextlib.suppress(BehindCheckpoint):
            refold = Refold(store)
            refold.to(end)
            if refold.is_undisturbed():
                return refold


def check_tables(
    store: Store, result: ProblemVerification, tallies: Mapping[tuple[str | None, str], int]
) -> None:
    """Compare the tallies and open tickets of the store with the journal."""
    kept = store.counts(result.problem).by_arm
    pairs = {(arm, kind): n for arm, kinds in kept.items() for kind, n in kinds.items()}
    if pairs != dict(tallies):
        result.complain("the tallies are not those of the journal")
    waiting = sum(map(sum, store.ages(result.problem, []).values()))
    if waiting != result.pending:
        result.complain(f"{waiting} tickets are open in the store, {result.pending} in the fold")


def fingerprints(replicas: Replicas) -> dict[str, str]:
    """The fingerprints of all replicas by name."""
    return {name: fingerprint(replica) for name, replica in replicas.by_name.items()}


def verified_at_rest(store: Store) -> list[ProblemVerification]:
    """Verify a store that no service is running on, against its snapshots and later events."""
    loaded = Replicas.loaded(store)
    return verified(store, fingerprints(loaded), loaded.position, at_rest=True)
