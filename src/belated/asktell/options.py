"""The options of ask and tell that do not depend on the learner, checked and in its units."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import SupportsFloat

from belated.checks import MOST_ROUNDS, LossRange, as_count, as_range
from belated.types import ANY_VARIANTS, PRACTICAL, AnyVariant

DOUBLING = "doubling"
ROUNDS_AT_ONCE = 32  # a state that grows is given room for so many rounds at a time


@dataclass(frozen=True)
class FeedbackOptions:
    """How losses are told: their range, when an untold one expires, and how strict to be.

    `default_loss` is the loss in [0, 1] of a play that expires.
    """

    loss_range: LossRange
    expire_after: int | None
    default_loss: float | None
    strict: bool

    @classmethod
    def checked(
        cls,
        loss_range: Sequence[float],
        expire_after: int | None,
        default_loss: SupportsFloat | None,
        strict: bool,
    ) -> "FeedbackOptions":
        """Check the options that a user gave; `default_loss` is in the units of `loss_range`."""
        bounds = as_range(loss_range)
        if expire_after is None and default_loss is None:
            return cls(bounds, None, None, bool(strict))
        if expire_after is None or default_loss is None:
            raise ValueError(
                f"expire_after is {expire_after!r} and default_loss is {default_loss!r}; "
                "give both or neither"
            )
        rounds = as_count(expire_after, "expire_after", 0)
        return cls(bounds, rounds, bounds.loss(default_loss, "default_loss"), bool(strict))


def as_horizon(horizon: int | str) -> int | str:
    """A number of rounds, or "doubling"."""
    if horizon == DOUBLING:
        return DOUBLING
    if horizon is None or isinstance(horizon, str):
        raise ValueError(f"horizon is {horizon!r}; it must be a number of rounds or 'doubling'")
    return as_count(horizon, "horizon", 1, MOST_ROUNDS)


def as_bound(max_missing: int | None) -> int | None:
    """A bound on the missing losses of an arm; None if the session is to find it out."""
    return None if max_missing is None else as_count(max_missing, "max_missing", 0, MOST_ROUNDS)


def is_practical(variant: AnyVariant, **promises: object) -> bool:
    """Whether the practical learner takes the place of the paper's; it needs none of the promises.

    A promise that was given all the same is refused, as is an unknown variant.
    """
    if variant not in ANY_VARIANTS:
        *others, last = map(repr, ANY_VARIANTS)
        raise ValueError(f"variant is {variant!r}; it must be {', '.join(others)} or {last}")
    if variant != PRACTICAL:
        return False
    for name, value in promises.items():
        if value is not None and value != DOUBLING:
            raise ValueError(f"{name} is {value!r}; variant='practical' does without, leave it out")
    return True


def epoch_of(round_: int, horizon: object) -> int:
    """The epoch of a round: with horizon="doubling" epoch k has the rounds 2^k to 2^(k+1) - 1."""
    return round_.bit_length() - 1 if horizon == DOUBLING else 0


def first_round_of(epoch: int, horizon: object) -> int:
    """The first round of an epoch."""
    return 2**epoch if horizon == DOUBLING else 1
