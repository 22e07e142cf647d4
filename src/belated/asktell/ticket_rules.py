"""The rules of tickets, which the library and the service share.

A ticket is pending until its last loss is told, until it expires, or until it is cancelled.

- A report gives a loss or a reward, never both. The first report of a play stands. A second one
  that says the same changes nothing; one that says something else is a conflict.
- A play that is told nothing for `expire_after` rounds expires and counts as told with the default
  loss. A later report teaches nothing.
- A cancelled play is withdrawn: the learner learns nothing from it, and no report counts.
- The missing count of a loss is told in the partially concealed setting, and nowhere else. For a
  play that expires no one tells it; the learner's own unanswered plays then take its place.

All functions are pure and need no compiler. How a refusal reaches a user (an exception, an HTTP
status) is the caller's business.
"""

from collections.abc import Collection, Sequence
from typing import Any, Protocol, SupportsFloat

from belated.arrays import Floats
from belated.checks import LossRange, as_count
from belated.types import ClosedTicketError, ConflictError, TicketState

ROUNDING = 1e-12  # how far a reward that was converted to a loss may be off that loss
NO_MISSING = -1  # in the place of a missing count, where none is told
CLOSED = (TicketState.CANCELLED, TicketState.EXPIRED, TicketState.TOLD)


# -- what a report must say


def unit_loss(
    loss_range: LossRange, loss: SupportsFloat | None, reward: SupportsFloat | None
) -> float:
    """Convert a loss or a reward, of which exactly one must be given, to a loss in [0, 1]."""
    if loss is not None and reward is None:
        return loss_range.loss(loss)
    if reward is not None and loss is None:
        return loss_range.reward(reward)
    found = "neither" if loss is None else "both"
    raise ValueError(f"{found} of loss and reward are given; tell takes exactly one of them")


def checked_missing(missing: Any, round_: int) -> int:
    """The missing count that a report gives for a play of `round_` in the partial setting.

    No more losses of an arm can be missing than rounds were played before.
    """
    if missing is None:
        raise ValueError("missing is None; in this setting it must be told with every loss")
    return as_count(missing, "missing", 0, round_ - 1)


def refuse_missing(missing: object) -> None:
    """Raise an error if a missing count is told outside the partially concealed setting."""
    if missing is not None:
        raise ValueError(f"missing is {missing!r}; only a partially concealed bandit is told it")


# -- what stands


def losses_differ(first: Any, second: Any) -> Any:
    """Whether two losses, or the losses in two arrays, differ by more than rounding."""
    return abs(first - second) > ROUNDING


def in_words(told: str, missing: int | None) -> str:
    """What a report says, such as "loss 3.0", with its missing count unless that is None or -1."""
    return told if missing is None or missing < 0 else f"{told} with missing {missing}"


def conflict(ticket: str, arm: object, first: str, second: str) -> ConflictError:
    """The error of a second report that says something else; both reports are given in words."""
    return ConflictError(
        f"ticket {ticket!r} was told {first} for {arm!r} and now {second}; the first report stands"
    )


def closed_to_reports(ticket: str, state: TicketState) -> ClosedTicketError:
    """The error of a report for a ticket that was cancelled or has expired."""
    became = "has expired" if state is TicketState.EXPIRED else f"was {state.value}"
    return ClosedTicketError(f"ticket {ticket!r} {became}; no report counts")


def closed_to_cancelling(ticket: str, state: TicketState) -> ClosedTicketError:
    """The error of cancelling a ticket that is closed."""
    return ClosedTicketError(
        f"ticket {ticket!r} is {state.value}; only a pending ticket can be cancelled"
    )


def state_from(outcomes: Collection[TicketState], losses: int) -> TicketState:
    """The state of a ticket of so many losses, given what became of each loss that is settled.

    A ticket of experts may be told in part and then expire or be cancelled.
    """
    if len(outcomes) < losses:
        return TicketState.PENDING
    return next(state for state in CLOSED if state in outcomes)


# -- expiry


def expiry_round(round_: int, expire_after: int) -> int:
    """The round with which a play of `round_` expires if it was not told by then."""
    return round_ + expire_after


def expiring_with(round_: int, expire_after: int) -> int:
    """The round whose untold plays expire with `round_`: the inverse of `expiry_round`."""
    return round_ - expire_after


# -- missing counts that no one tells


class CountsOwnPlays(Protocol):
    """A learner, as far as these rules must know it."""

    def own_missing(self, play: Sequence[float] | Floats) -> int:
        """The unanswered plays of the arm when it was played; -1 outside the partial setting."""


def learned_missing(
    learner: CountsOwnPlays, told: int | None, play: Sequence[float] | Floats
) -> int:
    """The missing count with which a loss is learned; `play` is the row frozen for its arm.

    In the partially concealed setting the learner's own unanswered plays stand in for a count that
    no one told. Elsewhere there is no such count, and it is -1.
    """
    return learner.own_missing(play) if told is None else told
