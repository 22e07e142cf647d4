"""Follow the leader: all weight on the expert of the smallest mean loss so far.

The oldest way to choose among experts, and optimal where losses are independent draws; an adversary
who makes the leader change in every round costs it one loss in each. Means are compared, not sums:
of two experts the later one has the smaller sum, however bad it is.
"""

from dataclasses import dataclass
from typing import ClassVar

from belated.learners.stochastic.leading_arm import Leading
from belated.types import Setting


@dataclass(frozen=True)
class LeadingExpert(Leading):
    """Follow the leader of the means of what has arrived; evenly, until anything has."""

    name: ClassVar[str] = "leading-expert"
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
