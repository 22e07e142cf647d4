"""The words of the library: settings, tickets, feedback, and what can go wrong."""

from enum import Enum
from typing import Any, Literal, NamedTuple

Arm = str | int
Variant = Literal["paper", "repaired"]
VARIANTS: tuple[Variant, ...] = ("paper", "repaired")
AnyVariant = Literal["paper", "repaired", "practical"]
PRACTICAL: AnyVariant = "practical"  # another learner, in the place of the paper's
ANY_VARIANTS: tuple[AnyVariant, ...] = (*VARIANTS, PRACTICAL)

Delivery = Literal["own", "padded", "in order"]
DELIVERIES: tuple[Delivery, ...] = ("own", "padded", "in order")


class Setting(Enum):
    """What the learner gets to see, in the paper's words."""

    FULL_INFORMATION = "full information"
    PARTIALLY_CONCEALED = "partially concealed"
    CONCEALED = "concealed"


class Need(Enum):
    """What a learner must be told before it starts, by the name of the option that says it."""

    HORIZON = "horizon"  # how many rounds there will be
    MAX_MISSING = "max_missing"  # rho*, the largest missing count of an arm
    TOTAL_DELAY = "total_delay"  # the sum over rounds of the largest missing count
    MAX_DELAY = "max_delay"  # the longest delay that ends within the game
    MEAN_DELAY = "mean_delay"  # of the slowest arm
    DELAY_LAW = "delay_law"  # the share of losses that come within 0, 1, 2, ... rounds
    TAIL_INDEX = "tail_index"  # alpha, if at most m^-alpha of an arm's losses take more than m
    DELAY_AT_DECISION = "delay_at_decision"  # d_t(i_t), as soon as i_t is drawn


class Covers(Enum):
    """The delays for which a learner's guarantee is proven."""

    NOTHING = "nothing"
    NO_DELAY = "no delay"
    SHARED = "one delay for all arms"
    ANY = "any delays"


class TicketState(Enum):
    """The life of a ticket: pending, then exactly one of the other three for ever."""

    PENDING = "pending"
    TOLD = "told"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


class Ticket(NamedTuple):
    """What `ask` returns, and what `tell` wants back.

    A bandit's ticket names the arm to play and the probability with which it was drawn. An
    experts' ticket carries the weights of all experts instead.
    """

    id: str
    round: int
    arm: Any = None
    probability: float | None = None
    weights: dict[Any, float] | None = None

    def __hash__(self) -> int:
        return hash(self[:4])  # weights have no hash

    def copy(self) -> "Ticket":
        """The same ticket with weights of its own."""
        return self if self.weights is None else self._replace(weights=dict(self.weights))


class Feedback(NamedTuple):
    """What became of a report: `counted` says whether the learner learned something from it."""

    ticket: str
    counted: bool
    state: TicketState


class BelatedError(Exception):
    """The parent of every error that is belated's own."""


class TicketError(BelatedError):
    """A ticket that cannot be used in this way."""


class UnknownTicketError(TicketError):
    """A ticket that this learner never handed out."""


class ClosedTicketError(TicketError):
    """A ticket that was cancelled, has expired, or was told too long ago to be remembered."""


class ConflictError(TicketError):
    """A second report that differs from the first."""


class MissingExceededError(BelatedError):
    """More losses are missing than `max_missing` promised, and `strict` was asked for."""


class HorizonExceededError(BelatedError):
    """More rounds than `horizon` promised, and `strict` was asked for."""


class StateFormatError(BelatedError, ValueError):
    """A saved state that is damaged, foreign, or of another format version."""


class BelatedWarning(UserWarning):
    """A promise made at construction does not hold: the learner goes on, its guarantee does not."""
