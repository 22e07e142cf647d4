"""What a comparison found, in sentences: who regretted least, by how much, and how surely."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from belated.report.words import NOISE, clean, listed, percent, plus_minus
from belated.simulation.comparison import Comparison
from belated.simulation.statistics import Estimate, estimate
from belated.types import Setting

TOLD = {
    Setting.CONCEALED: "nothing but the losses of their choices",
    Setting.PARTIALLY_CONCEALED: "the losses of their choices and how many were missing",
    Setting.FULL_INFORMATION: "all losses",
}
LEARNED = tuple(TOLD)  # from the least told to the most


@dataclass(frozen=True)
class Finding:
    """The result of one comparison in a sentence, and what should be said besides.

    `brief` is the headline where the scenario has been named. `best` names the learners of the
    lowest regret, several if they cannot be told apart.
    """

    headline: str
    brief: str
    details: tuple[str, ...]
    best: tuple[str, ...]


class Standing:
    """The contenders by mean regret, and the differences to the first, game by game."""

    def __init__(self, comparison: Comparison) -> None:
        count = len(comparison.contenders)
        self.values = [comparison.regret(k) for k in range(count)]
        self.regrets = [estimate(values) for values in self.values]
        self.labels = [clean(label) for label in comparison.labels]
        self.settings = [traces[0].learner.setting for traces in comparison.traces]
        self.order = sorted(range(count), key=lambda k: float(self.regrets[k].mean))
        self.first = self.order[0]
        self.games = len(comparison.repetitions)
        self.together = [k for k in self.order if not self.surely(k)]

    def behind(self, k: int) -> Estimate:
        """How much more contender k regretted than the first, in the same games."""
        return estimate(self.values[k] - self.values[self.first])

    def equal(self, k: int) -> bool:
        """Whether k and the first have the same regret but for rounding."""
        scale = np.abs([self.values[k], self.values[self.first]]).max(initial=1.0)
        return bool(np.abs(self.values[k] - self.values[self.first]).max() <= NOISE * scale)

    def surely(self, k: int) -> bool:
        """Whether zero is outside the 95 % interval of the difference; one game has no interval."""
        behind = self.behind(k)
        return not self.equal(k) and bool(behind.mean > np.nan_to_num(behind.half_width))


def finding(comparison: Comparison) -> Finding:
    """The finding of a comparison."""
    standing = Standing(comparison)
    details = [_certainty(standing), _below_zero(standing), *_told(standing, comparison)]
    return Finding(
        headline=_headline(standing, f" on {clean(comparison.environment.name)}"),
        brief=_headline(standing, ""),
        details=tuple(text for text in details if text),
        best=tuple(standing.labels[k] for k in standing.together),
    )


def overall(findings: Sequence[Finding]) -> str:
    """The finding of several comparisons."""
    if len(findings) == 1:
        return findings[0].headline
    wins = Counter(label for each in findings for label in each.best)
    most = max(wins.values())
    leaders = [label for label, count in wins.items() if count == most]
    among = f"{most} of {len(findings)}"
    if most == len(findings):
        among = "both" if most == 2 else f"all {most}"
    return f"{some(leaders)} had the lowest regret in {among} scenarios" + (
        " each" if len(leaders) > 1 else ""
    )


def some(names: Sequence[str], most: int = 3) -> str:
    """The first few names, and how many more there are."""
    if len(names) <= most:
        return listed(names)
    return listed([*names[: most - 1], f"{len(names) - most + 1} others"])


def _headline(standing: Standing, where: str) -> str:
    regret, names = plus_minus(standing.regrets[standing.first]), standing.labels
    if len(standing.order) == 1:
        return f"{names[0]} had a regret of {regret}{where}"
    if all(map(standing.equal, standing.order)):
        return f"All learners had the same regret{where}: {regret}"
    if len(standing.together) > 1:
        tied = some([names[k] for k in standing.together])
        return f"{tied} had the lowest regret{where}, and cannot be told apart"
    second = standing.order[1]
    less = plus_minus(standing.behind(second))
    return (
        f"{names[standing.first]} had the lowest regret{where}: {regret}, "
        f"{less} less than {names[second]}"
    )


def _certainty(standing: Standing) -> str:
    if standing.games == 1:
        return "Only one game was played, so nothing can be said about chance."
    if len(standing.order) == 1 or all(map(standing.equal, standing.order)):
        return ""
    second = standing.order[1]
    games = f"Over {standing.games} games, the same for all learners,"
    if len(standing.together) > 1:
        pair = f"{standing.labels[standing.first]} and {standing.labels[second]}"
        return (
            f"{games} {pair} differ by {plus_minus(standing.behind(second))}: "
            "zero lies within this 95 % confidence interval."
        )
    share = float(standing.behind(second).mean / np.abs(standing.regrets[second].mean))
    relative = f" ({percent(share)})" if standing.regrets[standing.first].mean > 0.0 else ""
    return (
        f"{games} the difference{relative} is clear: "
        "zero lies outside its 95 % confidence interval."
    )


def _below_zero(standing: Standing) -> str:
    lowest = standing.regrets[standing.first]
    if not float(lowest.mean) < -NOISE:
        return ""
    return "A regret below zero is possible: it did better than any single arm."


def _told(standing: Standing, comparison: Comparison) -> list[str]:
    """Who knew more than the first, and who was best of those that knew less."""
    mine = LEARNED.index(standing.settings[standing.first])
    subject = "It" if len(standing.together) == 1 else standing.labels[standing.first]
    more = [k for k in standing.order if LEARNED.index(standing.settings[k]) > mine]
    sentences = []
    if more:
        knew = some([standing.labels[k] for k in more])
        sentences.append(f"{subject} was told less than {knew}.")
    for setting in reversed(LEARNED[:mine]):
        group = [k for k in standing.order if standing.settings[k] is setting]
        group = [k for k in group if comparison.contenders[k].name != "uniform"]
        if group:
            regret = plus_minus(standing.regrets[group[0]])
            best = standing.labels[group[0]]
            sentences.append(f"Of those told {TOLD[setting]}, {best} had the lowest: {regret}.")
    return sentences
