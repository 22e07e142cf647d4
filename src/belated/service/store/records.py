"""The records of the store: decisions, outcomes, notes about problems, and what is read of them."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

Position = str
"""A place in the canonical order of the journal: opaque text that sorts as the places do."""

START: Position = ""
"""The position before the first event."""

OutcomeKind = Literal["told", "expired", "cancelled"]
OUTCOME_KINDS: tuple[OutcomeKind, ...] = ("told", "expired", "cancelled")
DECIDED, CREATED = "decided", "created"
NAMED = "named"  # the kind of row of a named outcome
DELETED = "deleted"  # the kind of note about a problem that was deleted; the last of it to stay
LATE = "late"  # the kind of note about a report that came after its ticket had expired


class Decision(NamedTuple):
    """A decision, with the probabilities that were in force when it was made.

    A bandit's decision names its arm and waits for one outcome. An experts' decision names no
    arm and waits for an outcome of every arm in `weights`. `key` is the idempotency key of the
    request, unique within its problem, and `digest` identifies what was requested under it. A
    request for several decisions has a key for each (see `request_key`): all of them are written,
    or none. Tickets are unique; ids that rise with time make the indexes much cheaper than random
    ones. `branch` says in which way the learner played the round, if it has several,
    and `cohort` who drew the arm, if a share of decisions is held out.

    `context` is what was known of the round, and `actions` what was known of its arms, both as JSON
    text. A bandit's decision has `weights` if
    not all arms could be drawn, or if its learner takes a context: the probabilities of all arms
    that could.
    """

    ticket: str
    problem: str
    round: int
    arm: str | None
    probability: float | None
    weights: Mapping[str, float] | None
    state_version: str
    at: float
    key: str | None = None
    digest: str | None = None
    expires_at: float | None = None
    expires_round: int | None = None
    branch: int | None = None
    cohort: str | None = None
    context: str | None = None
    actions: str | None = None


def request_key(key: str, place: int = 0) -> str:
    """The key of a decision: that of its request, and its place among the request's decisions.

    The decision at place 0 stands for the request: where it is, all others are, and no other
    request of this key is. A key has no line break, so these keys are unique.
    """
    return f"{key}\n{place}"


def first_key(key: str) -> str:
    """The key of the first decision of the same request."""
    request, separator, _ = key.partition("\n")
    return request_key(request) if separator else key


class Outcome(NamedTuple):
    """The outcome of one arm of a ticket; `raw` is the reported number before its conversion."""

    ticket: str
    arm: str
    kind: OutcomeKind
    loss: float | None
    at: float
    missing: int | None = None
    raw: float | None = None


class NamedOutcome(NamedTuple):
    """One of several outcomes of a ticket as it was told, such as a sale; later ones revise it.

    Ticket, name and revision are unique. The learner is told an `Outcome`, which closes the ticket.
    """

    ticket: str
    name: str
    revision: int
    reward: float
    at: float


class Note(NamedTuple):
    """An event of a problem itself: created, paused, arms changed, a report that came too late."""

    problem: str
    kind: str
    payload: Mapping[str, Any]
    at: float


class Unreadable(NamedTuple):
    """A row of the journal that is not an event, and why; it cannot be folded."""

    reason: str


Body = Decision | Outcome | NamedOutcome | Note


class Event(NamedTuple):
    """An event of the journal; the type of its body says what it is.

    `checksum` is that with which it was written; rows from before there were any have None.
    """

    position: Position
    problem: str
    body: "Body | Unreadable"
    checksum: int | None = None


class DecisionResult(NamedTuple):
    """The decision that stands: the new one, or the earlier one under the same key."""

    decision: Decision
    new: bool
    same_request: bool = True


class OutcomeResult(NamedTuple):
    """The outcome that stands, and whether it is the new one; None if ticket or arm is unknown."""

    outcome: Outcome | None
    counted: bool


class TicketRecord(NamedTuple):
    """A decision with all its outcomes so far, and the named ones in the order of the journal."""

    decision: Decision
    outcomes: tuple[Outcome, ...]
    named: tuple[NamedOutcome, ...] = ()


class NamedResult(NamedTuple):
    """Whether a named outcome was written; if not, what is known of its ticket."""

    counted: bool
    record: TicketRecord | None = None


class NamedOutcomes(NamedTuple):
    """Named outcomes to be written; those of tickets that are closed by then are not.

    `rests_on` has tickets that outcomes close because their time is over, and how many named
    outcomes these rest on. Where there are more by then, the ticket stays open.
    """

    records: Sequence[NamedOutcome] = ()
    rests_on: Mapping[str, int] = {}


class Appended(NamedTuple):
    """The results of an append: one for each decision and outcome, in the order given."""

    decisions: list[DecisionResult]
    outcomes: list[OutcomeResult]
    named: Sequence[NamedResult] = ()


class DamagedTicket(NamedTuple):
    """A ticket whose decision cannot be read: its problem, and the reason."""

    problem: str
    reason: str


class ProblemRecord(NamedTuple):
    """A problem as it was created; later changes are in its notes.

    `fault` says why its specification cannot be read; it is then empty. `generation` counts the
    problems that have had this name: 1 for the first.
    """

    name: str
    spec: Mapping[str, Any]
    at: float
    fault: str | None = None
    generation: int = 1


GENERATION = "generation"  # in the payload of notes about problems that are created or deleted


def created_note(problem: ProblemRecord) -> Note:
    """The note with which the journal of a problem begins."""
    again = {} if problem.generation == 1 else {GENERATION: problem.generation}
    return Note(problem.name, CREATED, {**problem.spec, **again}, problem.at)


def created_by(note: Note) -> ProblemRecord:
    """The problem that a note says was created."""
    spec = {name: value for name, value in note.payload.items() if name != GENERATION}
    return ProblemRecord(note.problem, spec, note.at, None, note.payload.get(GENERATION, 1))


class Tallies(NamedTuple):
    """The numbers of decisions and outcomes by arm (None: all arms at once) and kind."""

    by_arm: dict[str | None, dict[str, int]]

    def of(self, kind: str) -> int:
        """The number of records of a kind over all arms."""
        return sum(kinds.get(kind, 0) for kinds in self.by_arm.values())


class Lag(NamedTuple):
    """How far a reader is behind the journal: rows that it has not read, and the age of the oldest.

    `blocked_by` names the transaction that keeps rows from being read, where one does: other
    events might still come before them.
    """

    rows: int = 0
    seconds: float = 0.0
    blocked_by: str | None = None


class Snapshot(NamedTuple):
    """The fold of a problem's journal up to a position, written by one version of the code."""

    problem: str
    position: Position
    code_version: str
    blob: bytes


class Checkpoint(NamedTuple):
    """The fold of a problem's journal up to a position, which takes the place of that journal.

    Unlike a snapshot it cannot be made again, so every later version must read its `format`.
    `sums` counts what was folded: all events, and decisions and outcomes by arm and kind.
    """

    problem: str
    position: Position
    format: int
    code_version: str
    sums: "CheckpointSums"
    blob: bytes


class CheckpointSums(NamedTuple):
    """What was folded into a checkpoint: its events, and how many of each (arm, kind)."""

    events: int = 0
    tallies: Sequence[tuple[str | None, str, int]] = ()


class Retention(NamedTuple):
    """How far the journal was folded into checkpoints.

    Up to `position`, where all events are from `until` or before, rows of closed tickets are
    superfluous; once they are deleted, `swept` is true. The checkpoints were written at `at`.
    """

    position: Position = START
    until: float = 0.0
    at: float = 0.0
    swept: bool = True


class ApiKey(NamedTuple):
    """An API key as it is stored: its hash, never the key itself."""

    hash: str
    label: str
    scopes: tuple[str, ...]
    at: float
    revoked_at: float | None = None
