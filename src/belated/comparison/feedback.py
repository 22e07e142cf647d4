"""Learners by what they observe: they are ranked among those with the same feedback, never across.

Experts observe the losses of all arms and bandits only that of the arm played, so a bandit's regret
says nothing about an expert's.
"""

from typing import TYPE_CHECKING, NamedTuple

from belated.types import Setting

if TYPE_CHECKING:
    from belated.comparison.result import Comparison


class FeedbackKind(NamedTuple):
    """What the learners of a setting are called, and what they observe."""

    plural: str
    observed: str

    @property
    def title(self) -> str:
        """The heading of the group, as "Experts: observe the losses of all arms"."""
        return f"{self.plural[0].upper()}{self.plural[1:]}: observe {self.observed}"


FEEDBACK = {  # most feedback first
    Setting.FULL_INFORMATION: FeedbackKind("experts", "the losses of all arms"),
    Setting.PARTIALLY_CONCEALED: FeedbackKind(
        "bandits with missing counts", "the loss of the arm played, and its missing count"
    ),
    Setting.CONCEALED: FeedbackKind("bandits", "only the loss of the arm played"),
}


class SettingGroup(NamedTuple):
    """The contenders of one setting, by their indices, the lowest mean regret first."""

    setting: Setting
    members: tuple[int, ...]

    @property
    def feedback(self) -> FeedbackKind:
        """What these learners are called, and what they observe."""
        return FEEDBACK[self.setting]


def groups_of(comparison: "Comparison") -> list[SettingGroup]:
    """Return the contenders in groups of equal feedback, the group with the most feedback first."""
    count = len(comparison.contenders)
    order = sorted(range(count), key=lambda k: float(comparison.regret(k).mean()))
    settings = [traces[0].learner.setting for traces in comparison.traces]
    found = [
        SettingGroup(setting, tuple(k for k in order if settings[k] is setting))
        for setting in FEEDBACK
    ]
    return [group for group in found if group.members]


def ranked(comparison: "Comparison") -> list[int]:
    """Return the indices of all contenders: group after group, the lowest regret first in each."""
    return [k for group in groups_of(comparison) for k in group.members]
