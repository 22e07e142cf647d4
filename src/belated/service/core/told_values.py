"""What was reported of a play, in the units of the one who told it: a loss, or a reward.

The journal keeps the number that was told (`raw`) and the loss in [0, 1] that it stands for. With
the range of the problem they say which of the two was told: the reading that gives that loss. In
the middle of the range both do, and then loss and reward are the same number. A number out of a
soft range stands for the loss at the nearest end.
"""

from typing import NamedTuple

from belated.checks import LossRange
from belated.service.store import Note, Outcome


class ToldValue(NamedTuple):
    """A loss in the problem's units, the reward if a reward was told, and the loss in [0, 1].

    All are None where there is no loss, as in a play that was cancelled.
    """

    loss: float | None = None
    reward: float | None = None
    unit_loss: float | None = None

    @property
    def words(self) -> str:
        """What was reported, for a message."""
        return f"loss {self.loss!r}" if self.reward is None else f"reward {self.reward!r}"

    @property
    def was_loss(self) -> bool:
        """Whether a loss was told, and this is certain."""
        return self.loss is not None and self.reward is None

    @property
    def was_reward(self) -> bool:
        """Whether a reward was told, and this is certain."""
        return self.reward is not None and self.reward != self.loss


NOTHING_TOLD = ToldValue()


def told_value(bounds: LossRange, unit: float | None, raw: float | None) -> ToldValue:
    """What was reported by a report with this loss in [0, 1] and this number.

    A play that expired has no number; its loss is the one that it counts with.
    """
    if unit is None:
        return NOTHING_TOLD
    if raw is None:
        return ToldValue(bounds.loss_of(unit), None, unit)
    span, within = bounds.high - bounds.low, bounds.clipped(raw)
    is_loss, is_reward = (within - bounds.low) / span == unit, (bounds.high - within) / span == unit
    return ToldValue(raw if is_loss else bounds.loss_of(unit), raw if is_reward else None, unit)


def value_of(outcome: Outcome, bounds: LossRange) -> ToldValue:
    """What an outcome says."""
    return told_value(bounds, outcome.loss, outcome.raw)


def late_value(note: Note, bounds: LossRange) -> ToldValue:
    """What a report said that came after its ticket had expired, or was closed."""
    if "outcome" in note.payload:  # no loss by itself: what it adds is for a rule to say
        return ToldValue(None, note.payload["raw"], None)
    return told_value(bounds, note.payload["loss"], note.payload["raw"])
