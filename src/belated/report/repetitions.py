"""What was repeated, in words: games of their own, or the one game that there is."""

from dataclasses import dataclass

from belated.comparison.result import Comparison
from belated.report.formatting import counted

DRAWS_ONLY = "the learners' own draws only"


@dataclass(frozen=True)
class Games:
    """The repetitions of a comparison.

    Without chance in the environment all of them are the same game, and only what the learners
    draw differs: they are runs of it. `asked` is how many were wanted, 0 if nobody knows.
    """

    count: int
    asked: int
    random: bool

    @property
    def unit(self) -> str:
        """What one repetition is."""
        return "game" if self.random else "run"

    @property
    def several(self) -> bool:
        """Whether there is more than one, and so an interval."""
        return self.count > 1

    @property
    def said(self) -> str:
        """How many there are, of how many."""
        number = counted(self.count, self.unit)
        if self.count < self.asked:
            number = f"{self.count:,} of {counted(self.asked, self.unit)}, interrupted"
        return number if self.random else f"one game, {number}"

    @property
    def averaged(self) -> str:
        """What a number is that stands for all of them."""
        if not self.several:
            return f"one {self.unit}"
        return f"the mean of {self.count:,} {self.unit}s" + ("" if self.random else " of one game")

    @property
    def over(self) -> str:
        """Where differences were found."""
        if self.random:
            return f"Over {self.count:,} games, the same for all learners,"
        return f"Over {self.count:,} runs of one game,"

    @property
    def interval(self) -> str:
        """The interval of a mean, and what it leaves out."""
        interval = "95 % confidence interval"
        return interval if self.random else f"{interval}, which covers {DRAWS_ONLY}"


def games_of(comparison: Comparison) -> Games:
    """The repetitions of a comparison."""
    return Games(len(comparison.repetitions), comparison.asked, comparison.environment.random)
