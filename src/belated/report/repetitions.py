"""How a report words the repetitions of a comparison: different games, or runs of one game."""

from dataclasses import dataclass

from belated.comparison.result import Comparison
from belated.report.formatting import counted

DRAWS_ONLY = "the learners' own draws only"


@dataclass(frozen=True)
class Repetitions:
    """The number and kind of the repetitions of a comparison.

    In a random environment each repetition is a game of its own. In one without randomness all
    repetitions are runs of the same game and differ only by the learners' random choices. `asked`
    is the number of repetitions requested, 0 if it is unknown.
    """

    count: int
    asked: int
    random: bool

    @property
    def unit(self) -> str:
        """The noun for one repetition: "game" or "run"."""
        return "game" if self.random else "run"

    @property
    def several(self) -> bool:
        """Whether there are at least two repetitions, which a confidence interval needs."""
        return self.count > 1

    @property
    def count_text(self) -> str:
        """The number of repetitions in words, and the number requested if some are lacking."""
        number = counted(self.count, self.unit)
        if self.count < self.asked:
            number = f"{self.count:,} of {counted(self.asked, self.unit)}, interrupted"
        return number if self.random else f"one game, {number}"

    @property
    def mean_text(self) -> str:
        """What a number for all repetitions is: a mean, or the value of the only one."""
        if not self.several:
            return f"one {self.unit}"
        return f"the mean of {self.count:,} {self.unit}s" + ("" if self.random else " of one game")

    @property
    def over_text(self) -> str:
        """The beginning of a sentence about differences between learners."""
        if self.random:
            return f"Over {self.count:,} games, the same for all learners,"
        return f"Over {self.count:,} runs of one game,"

    @property
    def interval_text(self) -> str:
        """The name of the confidence interval, and which randomness it covers."""
        interval = "95 % confidence interval"
        return interval if self.random else f"{interval}, which covers {DRAWS_ONLY}"


def repetitions_of(comparison: Comparison) -> Repetitions:
    """Return the number and kind of the repetitions of a comparison."""
    return Repetitions(len(comparison.repetitions), comparison.asked, comparison.environment.random)
