"""The options of ask and tell that do not depend on the learner, checked and in its units."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import SupportsFloat

from belated.checks import MOST_ROUNDS, LossRange, as_count, as_range
from belated.types import VARIANTS

DOUBLING = "doubling"
ROUNDS_AT_ONCE = 32  # a state that grows is given room for so many rounds at a time


@dataclass(frozen=True)
class FeedbackOptions:
    """How losses are told: their range, when an untold one expires, and how strict to be.

    `default_loss` is the loss in [0, 1] of a play that expires, or of one that never reports.
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
        may_be_silent: bool = False,
    ) -> "FeedbackOptions":
        """Check the options that a user gave; `default_loss` is in the units of `loss_range`.

        It may be given without `expire_after` only if the learner is told what silence means.
        """
        bounds, rounds, loss = as_range(loss_range), None, None
        given = f"expire_after is {expire_after!r} and default_loss is {default_loss!r}"
        if expire_after is not None:
            if default_loss is None:
                raise ValueError(f"{given}; a play that expires needs a default_loss")
            rounds = as_count(expire_after, "expire_after", 0)
        elif default_loss is not None and not may_be_silent:
            raise ValueError(
                f"{given}; this learner does not ask what silence means (practical-bandit does), "
                "so give both or neither"
            )
        if default_loss is not None:
            loss = bounds.loss(default_loss, "default_loss")
        return cls(bounds, rounds, loss, bool(strict))


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


def as_variant(variant: str, practical: str) -> str:
    """A variant of the paper's learner; `practical` says what to use instead of our own learner."""
    if variant not in VARIANTS:
        use = f"; for the practical learner use {practical}" if variant == "practical" else ""
        raise ValueError(
            f"variant is {variant!r}; it must be {' or '.join(map(repr, VARIANTS))}{use}"
        )
    return variant


def epoch_of(round_: int, horizon: object) -> int:
    """The epoch of a round: with horizon="doubling" epoch k has the rounds 2^k to 2^(k+1) - 1."""
    return round_.bit_length() - 1 if horizon == DOUBLING else 0


def first_round_of(epoch: int, horizon: object) -> int:
    """The first round of an epoch."""
    return 2**epoch if horizon == DOUBLING else 1
