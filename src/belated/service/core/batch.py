"""A sitting: one group of requests on its way through one commit.

Each request first becomes records, or is refused; then all records are appended at once; then each
is answered by what stands in the store. In the journal decisions come first, then outcomes, then
notes, and requests are seen to in that order.

Where this process is the only one that writes, replicas fold each record as soon as it is made, so
that the next decision of the same group knows of it. Otherwise they are told by the journal alone.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.asktell.ticket_rules import expiry_round
from belated.numerics.random_stream import draw
from belated.service.admin.offline import is_change
from belated.service.core.errors import Conflict, Invalid, Refusal, Unavailable, Unknown
from belated.service.core.problems import Served
from belated.service.core.replica import ACTIVE, LATE, STATUS_AFTER, Replica
from belated.service.core.replicas import Replicas
from belated.service.core.reports import (
    CANCELLED,
    PENDING,
    cancelled_again,
    judged,
    outcome_of,
    state_after,
    state_of,
)
from belated.service.core.requests import Ask, Cancel, Change, Report, Request, Tell, Verdict
from belated.service.core.ticket_ids import new_ticket
from belated.service.store import (
    Appended,
    Decision,
    Note,
    Outcome,
    Store,
    TicketRecord,
)

Answer = Callable[[Appended], Any]
NOTHING = Appended([], [])
MOST_REMEMBERED = 10_000
MOST_DUE = 500  # tickets that expire in one sitting, for each problem


class Found(NamedTuple):
    """A ticket: its problem, the arm that was played, its round, and what came if that was read."""

    problem: Served
    played: str | None
    round: int
    record: TicketRecord | None
    arms: Collection[str] = ()  # those it may be told of, if none was played

    def outcome(self, arm: str) -> Outcome | None:
        """What came of an arm, as far as was read."""
        outcomes = () if self.record is None else self.record.outcomes
        return next((each for each in outcomes if each.arm == arm), None)


class LateReports:
    """Reports of plays that had expired, each to be noted once as far as is remembered."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], None] = {}
        self._waiting: list[Note] = []

    def heed(self, new: Outcome, stands: Outcome, problem: str, now: float) -> None:
        """Keep a report for the next notes if it is too late."""
        if stands.kind != "expired" or (new.ticket, new.arm) in self._seen:
            return
        told = {"ticket": new.ticket, "arm": new.arm, "loss": new.loss, "raw": new.raw}
        self._waiting.append(Note(problem, LATE, told, now))
        self._seen[new.ticket, new.arm] = None
        if len(self._seen) > MOST_REMEMBERED:
            del self._seen[next(iter(self._seen))]

    def taken(self) -> list[Note]:
        """All that are kept; they are the caller's now."""
        waiting, self._waiting = self._waiting, []
        return waiting


class Sitting:
    """The records that a group of requests becomes, and what is to be answered."""

    def __init__(
        self,
        store: Store,
        replicas: Replicas,
        stream: NDArray[np.uint64],
        now: float,
        late: "LateReports",
    ) -> None:
        self._store, self._replicas, self._stream, self._now = store, replicas, stream, now
        self._late = late
        self._eager = store.one_owner
        self.decisions: list[Decision] = []
        self.outcomes: list[Outcome] = []
        self.notes: list[Note] = []
        self._keyed: dict[tuple[str, str | None], Decision] = {}
        self._made: dict[str, int] = {}  # ticket -> its place among the decisions
        self._came: dict[tuple[str, str], int] = {}  # ticket and arm -> place among the outcomes
        self._found: dict[str, Found] = {}
        self._read_again: set[str] = set()
        self._after: Mapping[str, TicketRecord] = {}
        self._unserved: dict[str, str] = {}
        self.repeated: Counter[str] = Counter()  # reports of what was told before, by problem

    def through(self, requests: Sequence[Request]) -> list[Any]:
        """See to all requests; an answer or a Refusal for each, once all is committed."""
        self._look_up(requests)
        answers: list[Answer | Refusal] = [Unavailable("never seen to")] * len(requests)
        for kinds in ((Ask,), (Tell, Cancel), (Change,)):
            for place, request in enumerate(requests):
                if isinstance(request, kinds):
                    answers[place] = self._prepared(request)
        self._expire()
        self._note_all()
        appended = NOTHING
        if self.decisions or self.outcomes or self.notes:
            appended = self._store.append(self.decisions, self.outcomes, self.notes)
        if self._eager:
            check_all_new(appended)
        elif self._read_again:
            self._after = self._store.tickets(self._read_again)
        return [answered(answer, appended) for answer in answers]

    # -- what is known beforehand

    def _look_up(self, requests: Iterable[Request]) -> None:
        """Read at once what the replicas do not know: earlier keys, and closed tickets."""
        keys: set[tuple[str, str]] = set()
        unsure: set[str] = set()
        for request in requests:
            if isinstance(request, Ask):
                keys |= {(request.problem, key) for key in keys_of(request) if key is not None}
            elif isinstance(request, Tell):
                unsure |= {each.ticket for each in request.reports if not self._is_first(each)}
            elif isinstance(request, Cancel) and not self._held(request.ticket):
                unsure.add(request.ticket)
        if keys:
            self._keyed = self._store.decided_under(keys)
        if unsure:
            for ticket, record in self._store.tickets(unsure).items():
                decision = record.decision
                replica = self._replicas.found(decision.problem)
                if replica is None:
                    self._unserved[ticket] = decision.problem
                    continue
                self._found[ticket] = Found(
                    replica.problem, decision.arm, decision.round, record, decision.weights or ()
                )

    def _is_first(self, report: Report) -> bool:
        """Whether the replica shows that nothing was told before, so that all about it is known."""
        replica = self._held(report.ticket)
        if replica is None:
            return False
        arm = report.arm or self._found[report.ticket].played
        return (
            arm is None
            or arm not in replica.sight.places  # nor was it ever an arm
            or replica.waits_for(report.ticket, arm)
        )

    def _held(self, ticket: str) -> Replica | None:
        replica = self._replicas.holding(ticket)
        if replica is not None and ticket not in self._found:
            play, arms = replica.open[ticket], replica.arms_waiting(ticket)
            played = replica.played(ticket)
            self._found[ticket] = Found(replica.problem, played, play.round, None, arms)
        return replica

    def _ticket(self, ticket: str, allowed: Callable[[str], bool]) -> Found:
        found = self._found.get(ticket)
        if ticket in self._unserved and allowed(self._unserved[ticket]):
            raise Unavailable(f"problem {self._unserved[ticket]!r} cannot be served now")
        if found is None or not allowed(found.problem.name):
            raise Unknown(f"there is no ticket {ticket!r}")
        return found

    # -- requests

    def _prepared(self, request: Request) -> Answer | Refusal:
        try:
            if isinstance(request, Ask):
                return self._ask(request)
            if isinstance(request, Tell):
                return self._tell(request)
            if isinstance(request, Cancel):
                return self._cancel(request)
            assert isinstance(request, Change)
            return self._change(request)
        except Refusal as refusal:
            return refusal

    def _ask(self, ask: Ask) -> Answer:
        replica, keys = self._replicas.named(ask.problem), keys_of(ask)
        made = [self._keyed[ask.problem, key] for key in keys if (ask.problem, key) in self._keyed]
        if ask.key is None or not made:
            if replica.standing != ACTIVE:
                raise Conflict(
                    f"problem {ask.problem!r} is {replica.standing}; it hands out no decisions"
                )
            made = [self._decide(replica, key, ask.digest) for key in keys]
        elif len(made) < ask.number or any(each.digest != ask.digest for each in made):
            raise used_before(ask)

        def answer(appended: Appended) -> list[Decision]:
            stand = []
            for decision in made:
                if decision.ticket in self._made:
                    there = appended.decisions[self._made[decision.ticket]]
                    if not there.same_request:
                        raise used_before(ask)
                    decision = there.decision
                stand.append(decision)
            return stand

        return answer

    def _decide(self, replica: Replica, key: str | None, digest: str | None) -> Decision:
        """Predict, and draw an arm if only one is played."""
        problem, weights = replica.problem, replica.weights()
        round_ = replica.handed_out = max(replica.round, replica.handed_out) + 1
        arm = draw(self._stream, weights) if problem.is_bandit else None
        seconds, rounds = problem.expire_seconds, problem.expire_after
        decision = Decision(
            ticket=new_ticket(self._now),
            problem=problem.name,
            round=round_,
            arm=None if arm is None else problem.arms[arm],
            probability=None if arm is None else float(weights[arm]),
            weights=dict(zip(problem.arms, weights.tolist(), strict=True)) if arm is None else None,
            state_version=replica.version,
            at=self._now,
            key=key,
            digest=digest if key is not None else None,
            expires_at=None if seconds is None else self._now + seconds,
            expires_round=None if rounds is None else expiry_round(round_, rounds),
        )
        self._made[decision.ticket] = len(self.decisions)
        self.decisions.append(decision)
        if key is not None:
            self._keyed[problem.name, key] = decision
        if self._eager:
            replica.fold(decision)
        return decision

    def _tell(self, tell: Tell) -> Answer:
        answers: list[Answer | Refusal] = []
        for report in tell.reports:
            try:
                answers.append(self._report(report, self._ticket(report.ticket, tell.allowed)))
            except Refusal as refusal:
                answers.append(refusal)
        return lambda appended: [answered(answer, appended) for answer in answers]

    def _report(self, report: Report, found: Found) -> Answer:
        new = outcome_of(report, found.problem, found.played, found.arms, found.round, self._now)
        known = found.outcome(new.arm)
        if known is not None and found.record is not None:
            verdict = self._known_before(new, known, state_of(found.record), found)
            return lambda appended: verdict
        place = self._came.get((new.ticket, new.arm))
        if place is None:
            place = self._add(new, found)

        def answer(appended: Appended) -> Verdict:
            stands, counted = appended.outcomes[place]
            state = self._state(new.ticket, found)
            if counted and self.outcomes[place] is new:
                return Verdict(new.ticket, True, state)
            if stands is None:
                raise Unknown(f"there is no ticket {new.ticket!r}")
            return self._known_before(new, stands, state, found)

        return answer

    def _known_before(self, new: Outcome, stands: Outcome, state: str, found: Found) -> Verdict:
        self._late.heed(new, stands, found.problem.name, self._now)
        verdict = judged(new, stands, state)
        self.repeated[found.problem.name] += 1
        return verdict

    def _cancel(self, cancel: Cancel) -> Answer:
        ticket = cancel.ticket
        found = self._ticket(ticket, cancel.allowed)
        replica = self._replicas.by_name[found.problem.name]
        if ticket in replica.open:
            arms = replica.arms_waiting(ticket)
        else:
            record = found.record
            state = self._state_in_group(ticket, found) if record is None else state_of(record)
            if state != PENDING:
                verdict = cancelled_again(ticket, state)
                return lambda appended: verdict
            candidates = [found.played] if found.played else found.arms
            arms = [arm for arm in candidates if found.outcome(arm) is None]
        arms = [arm for arm in arms if (ticket, arm) not in self._came]
        places = [
            self._add(Outcome(ticket, arm, "cancelled", None, self._now), found) for arm in arms
        ]

        def answer(appended: Appended) -> Verdict:
            if any(appended.outcomes[place].counted for place in places):
                return Verdict(ticket, True, CANCELLED)
            return cancelled_again(ticket, self._state(ticket, found))

        return answer

    def _change(self, change: Change) -> Answer:
        replica = self._replicas.named(change.problem)
        status = replica.standing
        for note in self.notes:
            status = STATUS_AFTER[note.kind] if note.problem == change.problem else status
        if is_change(change.problem, status, change.kind):
            self.notes.append(Note(change.problem, change.kind, {}, self._now))
        return lambda appended: STATUS_AFTER[change.kind]

    # -- records

    def _add(self, outcome: Outcome, found: Found) -> int:
        place = self._came[outcome.ticket, outcome.arm] = len(self.outcomes)
        self.outcomes.append(outcome)
        if self._eager:
            self._replicas.by_name[found.problem.name].fold(outcome)
        elif found.played is None or outcome.kind == "cancelled":
            self._read_again.add(outcome.ticket)
        return place

    def _note_all(self) -> None:
        """Notes come last in the journal, and so they are folded last."""
        self.notes += self._late.taken()
        for note in self.notes if self._eager else ():
            self._replicas.named(note.problem).fold(note)

    def _expire(self) -> None:
        """What is due is given up, with its default loss."""
        for replica in self._replicas.by_name.values():
            problem = replica.problem
            for ticket in replica.due(self._now, MOST_DUE):
                play = replica.open[ticket]
                found = Found(problem, None, play.round, None)
                for arm in replica.arms_waiting(ticket):
                    if (ticket, arm) not in self._came:
                        loss = problem.default_loss
                        self._add(Outcome(ticket, arm, "expired", loss, self._now), found)

    def _state_in_group(self, ticket: str, found: Found) -> str:
        """The state of a ticket that this group has closed; what came before was told."""
        arms = [found.played] if found.played else found.problem.arms
        places = [self._came[ticket, arm] for arm in arms if (ticket, arm) in self._came]
        return state_after([self.outcomes[place].kind for place in places])

    def _state(self, ticket: str, found: Found) -> str:
        """The state of a ticket after the commit."""
        if ticket in self._after:
            return state_of(self._after[ticket])
        if self._eager and ticket in self._replicas.by_name[found.problem.name].open:
            return PENDING
        return self._state_in_group(ticket, found)


def keys_of(ask: Ask) -> list[str | None]:
    """A key for each decision that is asked for; a header's text has no line breaks."""
    return [None if ask.key is None else f"{ask.key}\n{place}" for place in range(ask.number)]


def used_before(ask: Ask) -> Invalid:
    """A key that stands for something else."""
    return Invalid(f"Idempotency-Key {ask.key!r} was used for another request")


def answered(answer: Answer | Refusal, appended: Appended) -> Any:
    """An answer once all is committed, or why there is none."""
    if isinstance(answer, Refusal):
        return answer
    try:
        return answer(appended)
    except Refusal as refusal:
        return refusal


def check_all_new(appended: Appended) -> None:
    """Make sure that the only writer was right about what is new."""
    wrong = [each for each in appended.decisions if not each.new]
    if wrong or not all(each.counted for each in appended.outcomes):
        raise RuntimeError("the store knew more than the replicas; they are folded again")
