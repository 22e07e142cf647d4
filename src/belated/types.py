"""The types that all parts of the library share: settings, tickets, feedback and errors."""

from enum import Enum
from typing import Any, Literal, NamedTuple

Arm = str | int
Variant = Literal["paper", "repaired"]
VARIANTS: tuple[Variant, ...] = ("paper", "repaired")

Delivery = Literal["own", "padded", "in order"]
DELIVERIES: tuple[Delivery, ...] = ("own", "padded", "in order")


class Setting(Enum):
    """The feedback that a learner observes: all losses, or only those of its own plays."""

    FULL_INFORMATION = "full information"
    PARTIALLY_CONCEALED = "partially concealed"
    CONCEALED = "concealed"


class Need(Enum):
    """What a learner must know before it starts, by the name of the option that gives it."""

    HORIZON = "horizon"  # the number of rounds
    MAX_MISSING = "max_missing"  # rho*, the largest missing count of an arm
    TOTAL_DELAY = "total_delay"  # the sum over rounds of the largest missing count
    MAX_DELAY = "max_delay"  # the longest delay that ends within the game
    MEAN_DELAY = "mean_delay"  # the mean delay of the slowest arm
    DELAY_LAW = "delay_law"  # the shares of losses that arrive within 0, 1, 2, ... rounds
    TAIL_INDEX = "tail_index"  # alpha, if at most m^-alpha of an arm's losses take more than m
    DELAY_AT_DECISION = "delay_at_decision"  # d_t(i_t), known as soon as i_t is drawn
    ADVICE = "advice"  # xi_t, what each policy advises, known before each round
    CONTEXT = "context"  # x_t, what is known of the coming round, before it is played


class Covers(Enum):
    """The delays for which a learner's guarantee is proven."""

    NOTHING = "nothing"
    NO_DELAY = "no delay"
    SHARED = "one delay for all arms"
    ANY = "any delays"


class Origin(Enum):
    """Where the constants of a learner's guarantee come from."""

    READ = "read"  # in the authors' own text or code, or where others quote it
    DERIVED = "derived"  # proven here, from a lemma that was read
    OURS = "ours"
    MEMORY = "from memory"  # not compared with the authors' text, which could not be had


class TicketState(Enum):
    """The state of a ticket: pending, and then one of the other three, which is final."""

    PENDING = "pending"
    TOLD = "told"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


class Ticket(NamedTuple):
    """A decision: `ask` returns it, and `tell` takes it back with the outcome.

    A bandit's ticket has the `arm` and the `probability` with which it was drawn. A ticket of
    experts has the `weights` of all experts instead. With contexts, the ticket has the `context`.
    With contexts, a choice of arms or a minimum share, it also has the `probabilities` of all arms
    that could be drawn.
    """

    id: str
    round: int
    arm: Any = None
    probability: float | None = None
    weights: dict[Any, float] | None = None
    context: Any = None
    probabilities: dict[Any, float] | None = None

    def __hash__(self) -> int:
        return hash(self[:4])  # weights have no hash

    def copy(self) -> "Ticket":
        """Return a copy whose weights can be changed without changing the original."""
        return self if self.weights is None else self._replace(weights=dict(self.weights))


class Feedback(NamedTuple):
    """The result of a report: `counted` says whether the learner learned something from it."""

    ticket: str
    counted: bool
    state: TicketState


class BelatedError(Exception):
    """The base class of all errors that belated defines."""


class TicketError(BelatedError):
    """A ticket cannot be used in this way."""


class UnknownTicketError(TicketError):
    """The ticket is not one of this learner."""


class ClosedTicketError(TicketError):
    """The ticket was cancelled, has expired, or was closed too long ago to be remembered."""


class ConflictError(TicketError):
    """A second report of a ticket differs from the first."""


class MissingExceededError(BelatedError):
    """More losses are missing than `max_missing` allows, and the learner is strict."""


class HorizonExceededError(BelatedError):
    """More rounds are played than `horizon` allows, and the learner is strict."""


class StateFormatError(BelatedError, ValueError):
    """A saved learner is damaged, of another program, or of an unknown format version."""


class BelatedWarning(UserWarning):
    """The learner continues without its guarantee, or the meaning of silence should be declared."""
