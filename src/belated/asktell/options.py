"""The terms on which a learner is used, beside what it is: checked, in the learner's own units."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, SupportsFloat

from belated.checks import MOST_ROUNDS, LossRange, as_count, as_range
from belated.types import PRACTICAL

DOUBLING = "doubling"


@dataclass(frozen=True)
class Terms:
    """How a learner is used, beside what it is: the options that all learners share."""

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
    ) -> "Terms":
        """The terms a user gave, in the learner's own units."""
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

    def in_unit_range(self, loss: SupportsFloat | None, reward: SupportsFloat | None) -> float:
        """A loss or a reward of the user's, exactly one of them given, as a loss in [0, 1]."""
        if loss is not None and reward is None:
            return self.loss_range.loss(loss)
        if reward is not None and loss is None:
            return self.loss_range.reward(reward)
        found = "neither" if loss is None else "both"
        raise ValueError(f"{found} of loss and reward are given; tell takes exactly one of them")


def as_horizon(horizon: int | str) -> int | str:
    """A number of rounds, or "doubling"."""
    if horizon == DOUBLING:
        return DOUBLING
    if horizon is None or isinstance(horizon, str):
        raise ValueError(f"horizon is {horizon!r}; it must be a number of rounds or 'doubling'")
    return as_count(horizon, "horizon", 1, MOST_ROUNDS)


def as_bound(max_missing: int | None) -> int | None:
    """A bound on the missing losses, or None to find it out."""
    return None if max_missing is None else as_count(max_missing, "max_missing", 0, MOST_ROUNDS)


def as_practical(**promises: object) -> dict[str, Any]:
    """The options of the practical variant, which needs no promise; any but these is refused."""
    for name, value in promises.items():
        if value is not None and value != DOUBLING:
            raise ValueError(f"{name} is {value!r}; variant='practical' does without, leave it out")
    return {"variant": PRACTICAL}


def refuse_missing(missing: object) -> None:
    """Missing counts belong to the partially concealed setting only."""
    if missing is not None:
        raise ValueError(f"missing is {missing!r}; only a partially concealed bandit is told it")
