"""The result of a comparison in sentences: the lowest regret, by how much, and how certain."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from belated.analysis.statistics import MeanEstimate, estimate
from belated.comparison.result import Comparison
from belated.report.formatting import ROUNDING, clean, listed, percent, plus_minus
from belated.report.repetitions import repetitions_of
from belated.types import Setting

FEEDBACK_SENTENCES = {
    Setting.CONCEALED: "nothing but the losses of their choices",
    Setting.PARTIALLY_CONCEALED: "the losses of their choices and how many were missing",
    Setting.FULL_INFORMATION: "all losses",
}
SETTINGS_BY_FEEDBACK = tuple(FEEDBACK_SENTENCES)  # from the least feedback to the most


@dataclass(frozen=True)
class Finding:
    """The result of one comparison: a headline sentence, and further sentences as details.

    `brief` is the headline without the name of the scenario. `best` are the learners with the
    lowest mean regret, `rivals` those whose difference to it may be due to chance. `clear` says
    whether one learner is better than all others at the 95 % level.
    """

    headline: str
    brief: str
    details: tuple[str, ...]
    best: tuple[str, ...]
    rivals: tuple[str, ...]
    clear: bool


class Ranking:
    """The contenders in the order of their mean regret, compared with the first game by game.

    `tied` are the first contender and those with equal regret. `rivals` are those whose difference
    to the first may be due to chance. These need not follow the first in the order: the interval
    of a difference is narrow if two regrets vary together, and wide if they do not.
    """

    def __init__(self, comparison: Comparison) -> None:
        count = len(comparison.contenders)
        self.values = [comparison.regret(k) for k in range(count)]
        self.regrets = [estimate(values) for values in self.values]
        self.labels = [clean(label) for label in comparison.labels]
        self.settings = [traces[0].learner.setting for traces in comparison.traces]
        self.order = sorted(range(count), key=lambda k: float(self.regrets[k].mean))
        self.first = self.order[0]
        self.repetitions = repetitions_of(comparison)
        self.tied = [k for k in self.order if self.equals_first(k)]
        self.rivals = [
            k for k in self.order if not self.equals_first(k) and not self.surely_behind(k)
        ]

    def behind(self, k: int) -> MeanEstimate:
        """Estimate how much larger the regret of contender k is than that of the first."""
        return estimate(self.values[k] - self.values[self.first])

    def equals_first(self, k: int) -> bool:
        """Return whether contender k and the first have equal regrets, up to rounding."""
        scale = np.abs([self.values[k], self.values[self.first]]).max(initial=1.0)
        return bool(np.abs(self.values[k] - self.values[self.first]).max() <= ROUNDING * scale)

    def surely_behind(self, k: int) -> bool:
        """Return whether the 95 % interval of the difference to the first excludes zero.

        A single game has no interval; then any positive difference counts.
        """
        behind = self.behind(k)
        return bool(behind.mean > np.nan_to_num(behind.half_width))

    @property
    def runner_up(self) -> int:
        """The first contender in the order that is not tied; there must be one."""
        return next(k for k in self.order if k not in self.tied)

    def names(self, contenders: Sequence[int]) -> str:
        """Join the labels of contenders, or the first few of them."""
        return first_names([self.labels[k] for k in contenders])


def finding(comparison: Comparison) -> Finding:
    """Describe the result of one comparison."""
    ranking = Ranking(comparison)
    details = [
        _certainty_sentence(ranking),
        _negative_regret_sentence(ranking),
        *_feedback_sentences(ranking, comparison),
    ]
    return Finding(
        headline=_headline(ranking, f" on {clean(comparison.environment.name)}"),
        brief=_headline(ranking, ""),
        details=tuple(text for text in details if text),
        best=tuple(ranking.labels[k] for k in ranking.tied),
        rivals=tuple(ranking.labels[k] for k in ranking.rivals),
        clear=ranking.repetitions.several and len(ranking.tied) == 1 and not ranking.rivals,
    )


def overall_headline(findings: Sequence[Finding]) -> str:
    """Say which learner had the lowest regret most often, and how often that was clear.

    For a single finding this is its own headline.
    """
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
    said = f"{first_names(first)} had the lowest regret in {among} scenarios{each}"
    if clear[most] == wins[most]:
        return said
    return f"{said}, clearly in {clear[most]}" if clear[most] else f"{said}, but not clearly"


def first_names(names: Sequence[str], most: int = 3) -> str:
    """Join up to `most` names; of more, join the first and count the others."""
    if len(names) <= most:
        return listed(names)
    return listed([*names[: most - 1], f"{len(names) - most + 1} others"])


def _headline(ranking: Ranking, where: str) -> str:
    regret = plus_minus(ranking.regrets[ranking.first])
    if len(ranking.order) == 1:
        return f"{ranking.labels[0]} had a regret of {regret}{where}"
    if len(ranking.tied) == len(ranking.order):
        return f"All learners had the same regret{where}: {regret}"
    said = f"{ranking.names(ranking.tied)} had the lowest regret{where}: {regret}"
    if ranking.rivals:
        it = "it" if len(ranking.tied) == 1 else "them"
        return f"{said}; {ranking.names(ranking.rivals)} cannot be told apart from {it}"
    less = plus_minus(ranking.behind(ranking.runner_up))
    return f"{said}, {less} less than {ranking.labels[ranking.runner_up]}"


def _certainty_sentence(ranking: Ranking) -> str:
    repetitions = ranking.repetitions
    if not repetitions.several:
        return f"Only one {repetitions.unit} was played, so nothing can be said about chance."
    if len(ranking.tied) == len(ranking.order):
        return ""
    if ranking.rivals:
        rival = ranking.rivals[0]
        pair = f"{ranking.labels[ranking.first]} and {ranking.labels[rival]}"
        return (
            f"{repetitions.over_text} {pair} differ by {plus_minus(ranking.behind(rival))}: "
            f"zero lies within this {repetitions.interval_text}."
        )
    second = ranking.runner_up
    share = float(ranking.behind(second).mean / np.abs(ranking.regrets[second].mean))
    relative = f" ({percent(share)})" if ranking.regrets[ranking.first].mean > 0.0 else ""
    return (
        f"{repetitions.over_text} the difference{relative} is clear: zero lies outside its "
        f"{repetitions.interval_text}."
    )


def _negative_regret_sentence(ranking: Ranking) -> str:
    lowest = ranking.regrets[ranking.first]
    if not float(lowest.mean) < -ROUNDING:
        return ""
    return "A regret below zero is possible: it did better than any single arm."


def _feedback_sentences(ranking: Ranking, comparison: Comparison) -> list[str]:
    """Name the learners with more feedback than the first, and the best of those with less."""
    mine = SETTINGS_BY_FEEDBACK.index(ranking.settings[ranking.first])
    alone = len(ranking.tied) == 1 and not ranking.rivals
    subject = "It" if alone else ranking.labels[ranking.first]
    more = [k for k in ranking.order if SETTINGS_BY_FEEDBACK.index(ranking.settings[k]) > mine]
    sentences = []
    if more:
        knew = first_names([ranking.labels[k] for k in more])
        sentences.append(f"{subject} was told less than {knew}.")
    for setting in reversed(SETTINGS_BY_FEEDBACK[:mine]):
        group = [k for k in ranking.order if ranking.settings[k] is setting]
        group = [k for k in group if comparison.contenders[k].name != "uniform"]
        if group:
            regret = plus_minus(ranking.regrets[group[0]])
            best = ranking.labels[group[0]]
            sentences.append(
                f"Of those told {FEEDBACK_SENTENCES[setting]}, {best} had the lowest: {regret}."
            )
    return sentences
