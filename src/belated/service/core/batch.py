"""A batch of requests on its way through one commit: here an ask becomes a decision in the journal.

    requests
       |  1. look up   earlier idempotency keys and closed tickets: two queries for all requests
       |  2. prepare   asks first, then tells and cancels, then changes of status;
       |              each becomes records and a function that will answer it, or a RequestError
       |  3. expire    tickets past their deadline become outcomes, too (`expiry`)
       |  4. append    all records in one transaction: decisions, then outcomes, then notes
       v  5. answer    each function is called with what the store wrote
    answers

When the learners learn. With several workers (PostgreSQL) a replica learns nothing here: it folds
the records later, when it reads them in the journal, in the order that all workers share.

With one owner (SQLite) a replica folds each record in steps 2 and 3, BEFORE the commit of step 4,
so that the next decision of the batch already knows of it. If the commit then fails, the replicas
know of records that do not exist. `CommitThread` therefore folds their journals again; no answer
that rests on them was ever given.
"""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from belated.arrays import Floats
from belated.asktell.contexts import Circumstances
from belated.numerics.single_draws import Draws
from belated.service.contexts import circumstances
from belated.service.core.arms import check_among, drawn_shares, written_weights
from belated.service.core.errors import (
    FaultError,
    InvalidRequestError,
    NotFoundError,
    RequestError,
    StateConflictError,
    UnavailableError,
)
from belated.service.core.expiry import MOST_AT_ONCE, deadlines, expired_outcomes
from belated.service.core.late_reports import (
    LateReports,
    TicketArm,
    late_named,
    late_note,
    named_pair,
)
from belated.service.core.replica import Replica
from belated.service.core.replicas import Replicas, in_words
from belated.service.core.reports import (
    CANCELLED,
    EXPIRED,
    PENDING,
    TOLD,
    cancelled_again,
    judged,
    judged_named,
    named_of,
    outcome_of,
    same_named,
    state_after,
    state_of,
)
from belated.service.core.requests import (
    Ask,
    Cancel,
    ReportResult,
    Request,
    SetStatus,
    Tell,
    TicketReport,
)
from belated.service.core.snapshots import shared_version
from belated.service.core.status import ACTIVE, STATUS_AFTER, is_status_change
from belated.service.core.ticket_lookup import KnownTicket, TicketLookup
from belated.service.store import (
    Appended,
    Decision,
    NamedOutcome,
    NamedOutcomes,
    Note,
    Outcome,
    OutcomeResult,
    Store,
    TicketRecord,
)
from belated.service.store.records import request_key
from belated.service.tickets.open_plays import OpenPlay
from belated.service.tickets.ticket_ids import new_ticket_id

log = logging.getLogger(__name__)

Finish = Callable[[Appended], Any]  # makes the answer of a request from what was committed
NOTHING = Appended([], [])
ROUNDING = 1e-6  # by which a sum of weights may differ from 1
MOST_WEIGHTS = 100_000  # of all decisions of a request together
MOST_ACTIONS = 4_000_000  # letters of their actions
MOST_LETTERS = 50_000  # of a context: the latest ones are kept


class ProblemFault(Exception):
    """A problem's own work failed in a batch: it must be given up, and the batch tried again."""

    def __init__(self, problem: str, reason: str) -> None:
        super().__init__(f"{problem!r}: {reason}")
        self.problem, self.reason = problem, reason


class CommitBatch:
    """One batch: `commit` turns requests into records, writes them, and returns the answers."""

    def __init__(
        self,
        store: Store,
        replicas: Replicas,
        draws: Draws,
        now: float,
        expiry_time: float,
        late: LateReports,
    ) -> None:
        self._store, self._replicas, self._draws, self._now = store, replicas, draws, now
        self._expiry_time, self._late = expiry_time, late
        self._overdue: Collection[str] = ()
        self.is_lagging = False  # whether the replicas do not know of all tickets that are due
        self._folds_before_commit = store.one_owner
        self._tickets = TicketLookup(store, replicas)
        # the records of this batch, and where in the lists they are
        self.decisions: list[Decision] = []
        self.outcomes: list[Outcome] = []
        self.notes: list[Note] = []
        self.named: list[NamedOutcome] = []
        self._generations: dict[str, int] = {}  # of the problems that these are about
        self._problems: list[str] = []  # of the outcomes
        self._named_problems: list[str] = []
        self.in_doubt: set[str] = set()  # problems of which the store knew more than the replicas
        self._decision_places: dict[str, int] = {}  # by ticket
        self._outcome_places: dict[tuple[str, str], int] = {}  # by ticket and arm
        self._named_places: dict[tuple[Any, ...], int] = {}  # by ticket, name and revision
        self._rests_on: dict[str, int] = {}  # see `NamedOutcomes`
        # the decisions under each (problem, idempotency key): read, or made in this batch
        self._keyed: dict[tuple[str, str | None], Decision] = {}
        # tickets whose state is read from the store after the commit, and what was read
        self._to_read_again: set[str] = set()
        # reports that may prove to be late, with their places, and notes about late ones
        self._reports: list[tuple[Outcome, int, str]] = []
        self._late_notes: dict[TicketArm, Note] = {}
        self._overtaken: dict[TicketArm, Note] = {}
        self._read_again: Mapping[str, TicketRecord] = {}
        self.repeated: Counter[str] = Counter()  # by problem: reports of outcomes that stood

    def commit(self, requests: Sequence[Request]) -> list[Any]:
        """Carry out all requests in one commit; returns an answer or a RequestError for each."""
        try:
            return self._commit(requests)
        except Exception:
            self._replicas.put_back(self._overdue)  # they have not expired after all
            raise

    def _commit(self, requests: Sequence[Request]) -> list[Any]:
        self._tickets.read(requests)
        self._read_keys(requests)
        prepared: list[Finish | RequestError] = [UnavailableError("not prepared")] * len(requests)
        for kinds in ((Ask,), (Tell, Cancel), (SetStatus,)):  # the order of the journal
            for place, request in enumerate(requests):
                if isinstance(request, kinds):
                    prepared[place] = self._prepared(request)
        self._expire_overdue_tickets()
        self.notes += self._late_notes.values()
        self._fold_named_and_notes()
        appended = NOTHING
        if self.records:
            appended = self._store.append(
                self.decisions,
                self.outcomes,
                self.notes,
                self._overtaken_notes,
                self._generations,
                NamedOutcomes(self.named, self._rests_on),
            )
        self._late.remember([*self._late_notes, *self._overtaken])
        if self._folds_before_commit:
            self.in_doubt = self._not_written(appended)
        else:
            self._replicas.put_back(self._left_open(appended))
            self._replicas.remember(each.decision for each in appended.decisions if each.new)
            if self._to_read_again:
                self._read_again = self._store.tickets(self._to_read_again)
        return [finished(each, appended) for each in prepared]

    def _not_written(self, appended: Appended) -> set[str]:
        """The problems of records that were folded before the commit, and then not written."""
        decisions = zip(self.decisions, appended.decisions, strict=True)
        outcomes = zip(self._problems, appended.outcomes, strict=True)
        named = zip(self._named_problems, appended.named, strict=True)
        found = {decision.problem for decision, result in decisions if not result.new}
        found |= {problem for problem, result in outcomes if not result.counted}
        return found | {problem for problem, result in named if not result.counted}

    def _left_open(self, appended: Appended) -> list[str]:
        """The tickets that stay open, since there are named outcomes that a replica lacks yet."""
        results = zip(self.outcomes, appended.outcomes, strict=True) if self._rests_on else ()
        return [
            outcome.ticket
            for outcome, result in results
            if result.outcome is None and outcome.ticket in self._rests_on
        ]

    @property
    def records(self) -> int:
        """The number of records in this batch."""
        return len(self.decisions) + len(self.outcomes) + len(self.notes) + len(self.named)

    def _read_keys(self, requests: Sequence[Request]) -> None:
        keys = {
            (request.problem, key)
            for request in requests
            if isinstance(request, Ask) and request.key is not None
            for key in keys_of(request)
            if key is not None
        }
        if keys:
            self._keyed = self._store.decided_under(keys)

    # -- one request: records, and a function that finishes its answer

    def _prepared(self, request: Request) -> Finish | RequestError:
        try:
            if isinstance(request, Ask):
                return self._ask(request)
            if isinstance(request, Tell):
                return self._tell(request)
            if isinstance(request, Cancel):
                return self._cancel(request)
            assert isinstance(request, SetStatus)
            return self._set_status(request)
        except RequestError as error:
            return error

    def _ask(self, ask: Ask) -> Finish:
        replica, keys = self._replicas.named(ask.problem), keys_of(ask)
        made = [self._keyed[ask.problem, key] for key in keys if (ask.problem, key) in self._keyed]
        if ask.key is None or not made:
            status = replica.status_in_force
            if status != ACTIVE:
                raise StateConflictError(
                    f"problem {ask.problem!r} is {status}; it issues no decisions"
                )
            check_size(ask, replica)
            given = given_with(ask, replica)  # all of them are checked before one is decided
            pairs = zip(keys, given, strict=True)
            made = [self._decide(replica, key, ask, each) for key, each in pairs]
        elif len(made) < ask.number or any(each.digest != ask.digest for each in made):
            raise key_used_before(ask)

        def finish(appended: Appended) -> list[Decision]:
            stand = []
            for decision in made:
                if decision.ticket in self._decision_places:
                    result = appended.decisions[self._decision_places[decision.ticket]]
                    if not result.same_request:  # another worker was faster with this key
                        raise key_used_before(ask)
                    decision = result.decision
                stand.append(decision)
            return stand

        return finish

    def _decide(
        self, replica: Replica, key: str | None, ask: Ask, given: Circumstances
    ) -> Decision:
        """Make a decision: predict, and draw an arm if only one is played."""
        problem, eligible = replica.problem, given.eligible
        weights = drawn_shares(problem, sound_weights(replica, given), eligible)
        round_ = replica.last_round_decided = max(replica.round, replica.last_round_decided) + 1
        arm, cohort = None, None
        if problem.holdout is not None:
            control = problem.holdout.control(problem.arms, ask.among)
            arm, cohort = problem.holdout.drawn(self._draws, weights, control)
            weights = problem.holdout.mixed(weights, control)
        elif problem.is_bandit:
            arm = self._draws.arm(weights.tolist())
        expires_at, expires_round = deadlines(problem, round_, self._now)
        decision = Decision(
            ticket=new_ticket_id(self._now),
            problem=problem.name,
            round=round_,
            arm=None if arm is None else problem.arms[arm],
            probability=None if arm is None else float(weights[arm]),
            weights=written_weights(problem, weights, eligible, ask.keeps_all),
            state_version=self._version_of(replica),
            at=self._now,
            key=key,
            digest=ask.digest if key is not None else None,
            expires_at=expires_at,
            expires_round=expires_round,
            branch=replica.driver.branch(),
            cohort=cohort,
            context=given.context,
            actions=ask.actions,
        )
        self._generations[problem.name] = problem.generation
        self._decision_places[decision.ticket] = len(self.decisions)
        self.decisions.append(decision)
        if key is not None:
            self._keyed[problem.name, key] = decision
        if self._folds_before_commit:
            self._replicas.fold(problem.name, decision)
        return decision

    def _version_of(self, replica: Replica) -> str:
        return replica.version if self._store.one_owner else shared_version(replica)

    def _tell(self, tell: Tell) -> Finish:
        prepared: list[Finish | RequestError] = []
        for report in tell.reports:
            try:
                known = self._tickets.ticket(report.ticket, tell.allowed)
                prepared.append(self._report(report, known))
            except RequestError as error:
                prepared.append(error)
        return lambda appended: [finished(each, appended) for each in prepared]

    def _report(self, report: TicketReport, known: KnownTicket) -> Finish:
        if known.problem.outcomes is not None:
            return self._named(report, known)
        new = outcome_of(report, known.problem, known.played, known.arms, known.round, self._now)
        earlier = known.outcome(new.arm)
        if earlier is not None and known.record is not None:
            pair = new.ticket, new.arm
            if earlier.kind == EXPIRED and pair not in self._late:
                self._late_notes.setdefault(pair, late_note(new, known.problem.name))
                self._generations[known.problem.name] = known.problem.generation
            result = self._told_before(new, earlier, state_of(known.record), known)
            return lambda appended: result
        place = self._outcome_places.get((new.ticket, new.arm))
        if place is None:
            place = self._record_outcome(new, known)
        self._reports.append((new, place, known.problem.name))

        def finish(appended: Appended) -> ReportResult:
            stands, counted = appended.outcomes[place]
            if counted and known.played is not None and self.outcomes[place] is new:
                return ReportResult(new.ticket, True, TOLD)  # it waited for nothing else
            state = self._state_after(new.ticket, known)
            if counted and self.outcomes[place] is new:
                return ReportResult(new.ticket, True, state)
            if stands is None:
                raise NotFoundError(f"there is no ticket {new.ticket!r}")
            return self._told_before(new, stands, state, known)

        return finish

    def _named(self, report: TicketReport, known: KnownTicket) -> Finish:
        """A report of one of several outcomes; its ticket is closed when its time is over."""
        assert known.played is not None
        problem, arm, record = known.problem, known.played, known.record
        new, held = named_of(report, problem, arm, self._now), self._replicas.holding(report.ticket)
        told = record.named if record else held[0].named.of(report.ticket) if held else ()
        closing = known.outcome(arm)
        if closing is None and self._folds_before_commit and held is None:
            closing = self.outcomes[self._outcome_places[new.ticket, arm]]  # of this very batch
        if closing is not None or same_named(new, told) is not None:
            pair, is_new = named_pair(new), same_named(new, told) is None
            if closing and closing.kind != CANCELLED and is_new and pair not in self._late:
                self._late_notes.setdefault(pair, late_named(new, arm, problem.name))
                self._generations[problem.name] = problem.generation
            state = PENDING if closing is None else closing.kind
            result = self._named_before(new, told, closing, state, problem.name)
            return lambda appended: result
        place = self._named_places.setdefault(new[:3], len(self.named))
        if place == len(self.named):
            self.named.append(new)
            self._named_problems.append(problem.name)
            self._generations[problem.name] = problem.generation

        def finish(appended: Appended) -> ReportResult:
            first, (counted, found) = self.named[place], appended.named[place]
            if counted and first is new:
                return ReportResult(new.ticket, True, PENDING)
            if counted:
                return self._named_before(new, [first], None, PENDING, problem.name)
            if found is None:
                raise NotFoundError(f"there is no ticket {new.ticket!r}")
            stands = next(iter(found.outcomes), None)
            if stands is not None and same_named(new, found.named) is None:
                raise UnavailableError("the ticket was closed at this moment; send it again")
            return self._named_before(new, found.named, stands, state_of(found), problem.name)

        return finish

    def _named_before(
        self,
        new: NamedOutcome,
        told: Iterable[NamedOutcome],
        closing: Outcome | None,
        state: str,
        problem: str,
    ) -> ReportResult:
        """The result of a named outcome that was told before, or whose ticket is closed."""
        result = judged_named(new, told, closing, state)
        self.repeated[problem] += 1
        return result

    def _told_before(
        self, new: Outcome, stands: Outcome, state: str, known: KnownTicket
    ) -> ReportResult:
        """The result of a report on an arm that has an outcome, which stands."""
        result = judged(new, stands, state, known.problem.loss_range)
        self.repeated[known.problem.name] += 1
        return result

    def _cancel(self, cancel: Cancel) -> Finish:
        ticket = cancel.ticket
        known = self._tickets.ticket(ticket, cancel.allowed)
        held = self._replicas.holding(ticket)
        if held is not None:
            replica, play = held
            arms = replica.arms_waiting(play)
        else:
            record = known.record
            state = self._state_in_batch(ticket, known) if record is None else state_of(record)
            if state != PENDING:
                result = cancelled_again(ticket, state)
                return lambda appended: result
            candidates = [known.played] if known.played else known.arms
            arms = [arm for arm in candidates if known.outcome(arm) is None]
        arms = [arm for arm in arms if (ticket, arm) not in self._outcome_places]
        places = [
            self._record_outcome(Outcome(ticket, arm, CANCELLED, None, self._now), known)
            for arm in arms
        ]

        def finish(appended: Appended) -> ReportResult:
            if any(appended.outcomes[place].counted for place in places):
                return ReportResult(ticket, True, CANCELLED)
            return cancelled_again(ticket, self._state_after(ticket, known))

        return finish

    def _set_status(self, request: SetStatus) -> Finish:
        replica = self._replicas.named(request.problem)
        self._generations[request.problem] = replica.problem.generation
        status = replica.status_in_force
        for note in self.notes:  # earlier changes in this batch
            status = STATUS_AFTER[note.kind] if note.problem == request.problem else status
        if is_status_change(request.problem, status, request.kind):
            self.notes.append(Note(request.problem, request.kind, {}, self._now))
        return lambda appended: STATUS_AFTER[request.kind]

    # -- records

    def _record_outcome(self, outcome: Outcome, known: KnownTicket) -> int:
        """Add an outcome to the batch; returns its place."""
        self._generations[known.problem.name] = known.problem.generation
        place = self._outcome_places[outcome.ticket, outcome.arm] = len(self.outcomes)
        self.outcomes.append(outcome)
        self._problems.append(known.problem.name)
        if self._folds_before_commit:
            self._replicas.fold(known.problem.name, outcome)
        elif known.played is None or outcome.kind == CANCELLED:
            self._to_read_again.add(outcome.ticket)  # other workers may tell its other arms
        return place

    def _expire_overdue_tickets(self) -> None:
        """Give tickets past their deadline an outcome with the default loss.

        Those of experts have one for each expert, so that not all may fit into this batch.
        """
        most = len(self.outcomes) + MOST_AT_ONCE
        if self.is_lagging:
            self._expire_from_store(most)
        self._overdue = self._replicas.tickets.take_due(self._expiry_time, MOST_AT_ONCE)
        for place, ticket in enumerate(self._overdue):
            if len(self.outcomes) >= most:
                self._replicas.put_back(list(self._overdue)[place:])
                return
            held = self._replicas.holding(ticket)
            if held is None:  # told or cancelled in this very batch
                continue
            if any(each.ticket == ticket for each in self.named):
                self._replicas.put_back([ticket])  # with the next batch, of which this is a part
                continue
            replica, play = held
            try:
                self._expire(replica, ticket, play)
            except Exception as error:  # which no request is to blame for
                reason = f"its tickets cannot expire: {in_words(error)}"
                raise ProblemFault(replica.problem.name, reason) from error

    def _expire_from_store(self, most: int) -> None:
        """Expire also what the replicas do not know of, since they lag behind the journal."""
        waiting = {  # what their tickets amount to, only the replica knows
            name
            for name, replica in self._replicas.by_name.items()
            if replica.problem.outcomes is not None
        }
        passed = {*self._replicas.broken, *waiting}
        for record in self._store.overdue(self._expiry_time, MOST_AT_ONCE, passed):
            decision = record.decision
            replica = self._replicas.found(decision.problem)
            if replica is None or len(self.outcomes) >= most:
                continue
            arms = [decision.arm] if decision.arm else [*(decision.weights or ())]
            known = KnownTicket(replica.problem, decision.arm, decision.round, record, arms)
            loss = replica.problem.default_loss
            for arm in arms:
                told = (decision.ticket, arm) in self._outcome_places
                if not told and known.outcome(arm) is None:
                    outcome = Outcome(decision.ticket, arm, EXPIRED, loss, self._now)
                    self._record_outcome(outcome, known)

    def _expire(self, replica: Replica, ticket: str, play: OpenPlay) -> None:
        known = KnownTicket(replica.problem, None, play.round, None)
        told = len(replica.named.of(ticket))
        for outcome in list(expired_outcomes(replica, ticket, play, self._now)):
            if (ticket, outcome.arm) not in self._outcome_places:
                self._record_outcome(outcome, known)
        if replica.problem.outcomes is not None:
            self._rests_on[ticket] = told

    def _overtaken_notes(self, results: Sequence[OutcomeResult]) -> Sequence[Note]:
        """Notes about reports of this batch whose tickets another worker has just expired."""
        self._overtaken = {}
        for report, place, problem in self._reports:
            stands, pair = results[place].outcome, (report.ticket, report.arm)
            if stands is not None and stands.kind == EXPIRED and pair not in self._late:
                self._overtaken.setdefault(pair, late_note(report, problem))
        return list(self._overtaken.values())

    def _fold_named_and_notes(self) -> None:
        """Fold these after all other records: they also come last in the journal."""
        named = zip(self._named_problems, self.named, strict=True)
        for problem, outcome in named if self._folds_before_commit else ():
            self._replicas.fold(problem, outcome)
        for note in self.notes if self._folds_before_commit else ():
            self._replicas.fold(note.problem, note)

    # -- the state of a ticket

    def _state_after(self, ticket: str, known: KnownTicket) -> str:
        """The state of a ticket after the commit."""
        if ticket in self._read_again:
            return state_of(self._read_again[ticket])
        replica = self._replicas.by_name[known.problem.name]
        if self._folds_before_commit and ticket in replica.open:
            return PENDING
        return self._state_in_batch(ticket, known)

    def _state_in_batch(self, ticket: str, known: KnownTicket) -> str:
        """The state of a ticket that this batch has closed; earlier outcomes were told."""
        arms = [known.played] if known.played else known.problem.arms
        pairs = [(ticket, arm) for arm in arms if (ticket, arm) in self._outcome_places]
        return state_after([self.outcomes[self._outcome_places[pair]].kind for pair in pairs])


def keys_of(ask: Ask) -> list[str | None]:
    """A key for each decision of an ask, if it has one."""
    if ask.key is None:
        return [None] * ask.number
    return [request_key(ask.key, place) for place in range(ask.number)]


def check_size(ask: Ask, replica: Replica) -> None:
    """Refuse more than should be written at once; a bandit's decision may have only one weight."""
    problem = replica.problem
    keeps_all = problem.takes_context or ask.keeps_all or ask.among is not None
    keeps_one = problem.is_bandit and not keeps_all
    arms = 1 if keeps_one else len(problem.arms)
    if arms * ask.number > MOST_WEIGHTS:
        raise InvalidRequestError(
            f"count is {ask.number}, and each decision of {ask.problem!r} has {arms} weights; it "
            f"must be from 1 to {MOST_WEIGHTS // arms}"
        )
    letters = len(ask.actions or "")
    if letters * ask.number > max(letters, MOST_ACTIONS):
        raise InvalidRequestError(
            f"count is {ask.number}, and each decision keeps {letters} letters of actions; it must "
            f"be from 1 to {max(1, MOST_ACTIONS // letters)}"
        )


def given_with(ask: Ask, replica: Replica) -> list[Circumstances]:
    """What is given for each decision of an ask; InvalidRequestError if anything is wrong."""
    problem, learner = replica.problem, replica.learner
    if ask.among is not None:
        check_among(problem, ask.among)
    contexts = ask.contexts or [None] * ask.number
    most = max((len(context) for context in contexts if context is not None), default=0)
    if most > MOST_LETTERS:
        raise InvalidRequestError(f"context has {most} letters as JSON; it may have {MOST_LETTERS}")
    try:
        return [
            circumstances(learner, problem.arms, each, ask.among, ask.actions) for each in contexts
        ]
    except ValueError as error:
        raise InvalidRequestError(str(error)) from None


def sound_weights(replica: Replica, given: Circumstances) -> Floats:
    """The weights of the coming round; a ProblemFault if the learner cannot compute them."""
    try:
        weights = replica.weights_in(given)
        total = sum(weights.tolist())
    except Exception as error:
        reason = f"its weights cannot be computed: {in_words(error)}"
        raise ProblemFault(replica.problem.name, reason) from error
    if not abs(total - 1.0) < ROUNDING:
        reason = f"its weights cannot be computed: their sum is {total!r}"
        raise ProblemFault(replica.problem.name, reason)
    return weights


def key_used_before(ask: Ask) -> InvalidRequestError:
    """The error for an idempotency key that was used for another request."""
    return InvalidRequestError(f"Idempotency-Key {ask.key!r} was used for another request")


def finished(prepared: Finish | RequestError, appended: Appended) -> Any:
    """The answer of a prepared request after the commit, or the error that refused it."""
    if isinstance(prepared, RequestError):
        return prepared
    try:
        return prepared(appended)
    except RequestError as error:
        return error
    except Exception:  # others of the batch, which is committed, must get their answers
        log.exception("a committed request could not be answered")
        return FaultError("the request was carried out, but its answer failed; the log says why")
