"""Follow the leader: all weight is on the expert of the smallest mean loss so far.

This is the oldest way to choose among experts. It is optimal for losses that are drawn
independently, but an adversary that makes the leader change in every round can make it lose in
every round. The learner compares means and not sums, because an expert whose losses arrive later
has the smaller sum, however bad it is.
"""

from dataclasses import dataclass
from typing import ClassVar

from belated.learners.stochastic.leading_arm import Leading
from belated.types import Setting


@dataclass(frozen=True)
class LeadingExpert(Leading):
    """Follow the leader of the mean arrived losses; the weights are equal until a loss arrives."""

    name: ClassVar[str] = "leading-expert"
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
