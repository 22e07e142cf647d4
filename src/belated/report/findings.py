"""What a comparison found, in sentences: who regretted least, by how much, and how surely."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from belated.analysis.statistics import MeanEstimate, estimate
from belated.comparison.result import Comparison
from belated.report.formatting import NOISE, clean, listed, percent, plus_minus
from belated.report.repetitions import games_of
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

    `brief` is the headline where the scenario has been named. `best` names the learner of the
    lowest mean regret, or several if they have the same; `rivals` those that cannot be told apart
    from it. It is clear if one learner is surely better than all others.
    """

    headline: str
    brief: str
    details: tuple[str, ...]
    best: tuple[str, ...]
    rivals: tuple[str, ...]
    clear: bool


class Standing:
    """The contenders by mean regret, and the differences to the first, game by game.

    `level` are the first and those of the same regret, `rivals` others that cannot be told apart
    from it: not always the next ones, since a pair that moves together differs more surely.
    """

    def __init__(self, comparison: Comparison) -> None:
        count = len(comparison.contenders)
        self.values = [comparison.regret(k) for k in range(count)]
        self.regrets = [estimate(values) for values in self.values]
        self.labels = [clean(label) for label in comparison.labels]
        self.settings = [traces[0].learner.setting for traces in comparison.traces]
        self.order = sorted(range(count), key=lambda k: float(self.regrets[k].mean))
        self.first = self.order[0]
        self.games = games_of(comparison)
        self.level = [k for k in self.order if self.equal(k)]
        self.rivals = [k for k in self.order if not self.equal(k) and not self.surely(k)]

    def behind(self, k: int) -> MeanEstimate:
        """How much more contender k regretted than the first, in the same games."""
        return estimate(self.values[k] - self.values[self.first])

    def equal(self, k: int) -> bool:
        """Whether k and the first have the same regret but for rounding."""
        scale = np.abs([self.values[k], self.values[self.first]]).max(initial=1.0)
        return bool(np.abs(self.values[k] - self.values[self.first]).max() <= NOISE * scale)

    def surely(self, k: int) -> bool:
        """Whether zero is outside the 95 % interval of the difference; one game has no interval."""
        behind = self.behind(k)
        return bool(behind.mean > np.nan_to_num(behind.half_width))

    @property
    def runner_up(self) -> int:
        """The first contender of another regret, if not all have the same."""
        return next(k for k in self.order if k not in self.level)

    def named(self, contenders: Sequence[int]) -> str:
        """Their names, if they are few."""
        return some([self.labels[k] for k in contenders])


def finding(comparison: Comparison) -> Finding:
    """The finding of a comparison."""
    standing = Standing(comparison)
    details = [_certainty(standing), _below_zero(standing), *_told(standing, comparison)]
    return Finding(
        headline=_headline(standing, f" on {clean(comparison.environment.name)}"),
        brief=_headline(standing, ""),
        details=tuple(text for text in details if text),
        best=tuple(standing.labels[k] for k in standing.level),
        rivals=tuple(standing.labels[k] for k in standing.rivals),
        clear=standing.games.several and len(standing.level) == 1 and not standing.rivals,
    )


def overall(findings: Sequence[Finding]) -> str:
    """The finding of several comparisons: who was first most often, and how often clearly."""
    if len(findings) == 1:
        return findings[0].headline
    wins = Counter(label for each in findings for label in each.best)
    clear = Counter(label for each in findings if each.clear for label in each.best)
    most = max(wins, key=lambda label: (wins[label], clear[label]))
    first = [k for k in wins if (wins[k], clear[k]) == (wins[most], clear[most])]
    among = f"{wins[most]} of {len(findings)}"
    if wins[most] == len(findings):
        among = "both" if len(findings) == 2 else f"all {len(findings)}"
    each = " each" if len(first) > 1 else ""
    said = f"{some(first)} had the lowest regret in {among} scenarios{each}"
    if clear[most] == wins[most]:
        return said
    return f"{said}, clearly in {clear[most]}" if clear[most] else f"{said}, but not clearly"


def some(names: Sequence[str], most: int = 3) -> str:
    """The first few names, and how many more there are."""
    if len(names) <= most:
        return listed(names)
    return listed([*names[: most - 1], f"{len(names) - most + 1} others"])


def _headline(standing: Standing, where: str) -> str:
    regret = plus_minus(standing.regrets[standing.first])
    if len(standing.order) == 1:
        return f"{standing.labels[0]} had a regret of {regret}{where}"
    if len(standing.level) == len(standing.order):
        return f"All learners had the same regret{where}: {regret}"
    said = f"{standing.named(standing.level)} had the lowest regret{where}: {regret}"
    if standing.rivals:
        it = "it" if len(standing.level) == 1 else "them"
        return f"{said}; {standing.named(standing.rivals)} cannot be told apart from {it}"
    less = plus_minus(standing.behind(standing.runner_up))
    return f"{said}, {less} less than {standing.labels[standing.runner_up]}"


def _certainty(standing: Standing) -> str:
    games = standing.games
    if not games.several:
        return f"Only one {games.unit} was played, so nothing can be said about chance."
    if len(standing.level) == len(standing.order):
        return ""
    if standing.rivals:
        rival = standing.rivals[0]
        pair = f"{standing.labels[standing.first]} and {standing.labels[rival]}"
        return (
            f"{games.over} {pair} differ by {plus_minus(standing.behind(rival))}: "
            f"zero lies within this {games.interval}."
        )
    second = standing.runner_up
    share = float(standing.behind(second).mean / np.abs(standing.regrets[second].mean))
    relative = f" ({percent(share)})" if standing.regrets[standing.first].mean > 0.0 else ""
    return (
        f"{games.over} the difference{relative} is clear: zero lies outside its {games.interval}."
    )


def _below_zero(standing: Standing) -> str:
    lowest = standing.regrets[standing.first]
    if not float(lowest.mean) < -NOISE:
        return ""
    return "A regret below zero is possible: it did better than any single arm."


def _told(standing: Standing, comparison: Comparison) -> list[str]:
    """Who knew more than the first, and who was best of those that knew less."""
    mine = LEARNED.index(standing.settings[standing.first])
    alone = len(standing.level) == 1 and not standing.rivals
    subject = "It" if alone else standing.labels[standing.first]
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
