"""The records of the store: what was decided, what came of it, what happened to a problem."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

Position = str
"""A place in the canonical order: opaque text that compares as the places do."""

START: Position = ""
"""Before the first event."""

OutcomeKind = Literal["told", "expired", "cancelled"]
OUTCOME_KINDS: tuple[OutcomeKind, ...] = ("told", "expired", "cancelled")
DECIDED, CREATED = "decided", "created"


class Decision(NamedTuple):
    """What was decided, with what was in force at that time.

    A bandit's decision names its arm and waits for one outcome. An experts' decision names no
    arm and waits for an outcome of every arm in `weights`. `key` is the request's idempotency
    key, unique in its problem, and `digest` stands for what was requested with it. Tickets are
    unique, too; those that rise with time cost a store much less than random ones.
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


class Outcome(NamedTuple):
    """What came of one arm of a ticket; `raw` is what was reported before conversion to a loss."""

    ticket: str
    arm: str
    kind: OutcomeKind
    loss: float | None
    at: float
    missing: int | None = None
    raw: float | None = None


class Note(NamedTuple):
    """Something that happened to a problem: created, paused, an arm added, a report too late."""

    problem: str
    kind: str
    payload: Mapping[str, Any]
    at: float


class Event(NamedTuple):
    """An event of the journal; the type of its body says what it is."""

    position: Position
    problem: str
    body: Decision | Outcome | Note


class DecisionAnswer(NamedTuple):
    """The decision that stands for a request: the new one, or the earlier one of the same key."""

    decision: Decision
    new: bool
    same_request: bool = True


class OutcomeAnswer(NamedTuple):
    """The outcome that stands, and whether it is the new one; None without such ticket and arm."""

    outcome: Outcome | None
    counted: bool


class Appended(NamedTuple):
    """What became of each decision and outcome, in the order they were given."""

    decisions: list[DecisionAnswer]
    outcomes: list[OutcomeAnswer]


class TicketRecord(NamedTuple):
    """What was decided and all that came of it so far."""

    decision: Decision
    outcomes: tuple[Outcome, ...]


class OpenTicket(NamedTuple):
    """A ticket that still waits, for `awaiting` outcomes."""

    ticket: str
    problem: str
    arm: str | None
    at: float
    expires_at: float | None
    expires_round: int | None
    awaiting: int


class Problem(NamedTuple):
    """A named problem as it was created; what happened to it since is in its notes."""

    name: str
    spec: Mapping[str, Any]
    at: float


class Counts(NamedTuple):
    """How many decisions and outcomes there are, by arm (None: all arms at once) and kind."""

    by_arm: dict[str | None, dict[str, int]]

    def of(self, kind: str) -> int:
        """How many of a kind there are over all arms."""
        return sum(kinds.get(kind, 0) for kinds in self.by_arm.values())


class Snapshot(NamedTuple):
    """The fold of a problem's journal up to a position, as written by a version of the code."""

    problem: str
    position: Position
    code_version: str
    blob: bytes


class Key(NamedTuple):
    """An API key: never the key itself, only its hash."""

    hash: str
    label: str
    scopes: tuple[str, ...]
    at: float
    revoked_at: float | None = None
