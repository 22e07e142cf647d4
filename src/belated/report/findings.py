"""The result of a comparison in sentences: the lowest regret, by how much, and how certain.

Learners are ranked among those of equal feedback only: experts and bandits never in one ranking.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from belated.analysis.statistics import MeanEstimate, estimate
from belated.comparison.digits import ROUNDING
from belated.comparison.feedback import FEEDBACK, SettingGroup, groups_of
from belated.comparison.result import Comparison
from belated.report.formatting import clean, listed, percent, plus_minus
from belated.report.repetitions import Repetitions, repetitions_of
from belated.types import Setting

RANKED_APART = (
    "Learners are ranked only among those with the same feedback: experts observe the losses of "
    "all arms, bandits only that of the arm played."
)


@dataclass(frozen=True)
class GroupFinding:
    """The result among the learners of one setting.

    `brief` is a sentence without the name of the scenario. `best` are the learners with the lowest
    mean regret, `rivals` those whose difference to it may be due to chance. `clear` says whether
    one learner is better than all others at the 95 % level, and `size` is the number of learners.
    """

    setting: Setting
    brief: str
    details: tuple[str, ...]
    best: tuple[str, ...]
    rivals: tuple[str, ...]
    clear: bool
    size: int


@dataclass(frozen=True)
class Finding:
    """The result of one comparison: a headline, further sentences, and the result of each setting.

    `brief` is the headline without the name of the scenario.
    """

    headline: str
    brief: str
    details: tuple[str, ...]
    groups: tuple[GroupFinding, ...]

    @property
    def leaders(self) -> set[str]:
        """The best learners of each setting, and those that cannot be told apart from them."""
        return {name for group in self.groups for name in (*group.best, *group.rivals)}


class Ranking:
    """The contenders of one setting in the order of their mean regret, compared game by game.

    `tied` are the first contender and those with equal regret. `rivals` are those whose difference
    to the first may be due to chance. These need not follow the first in the order: the interval
    of a difference is narrow if two regrets vary together, and wide if they do not.
    """

    def __init__(self, comparison: Comparison, group: SettingGroup) -> None:
        self.values = {k: comparison.regret(k) for k in group.members}
        self.regrets = {k: estimate(values) for k, values in self.values.items()}
        self.labels = [clean(label) for label in comparison.labels]
        self.setting = group.setting
        self.order = list(group.members)
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


def rankings_of(comparison: Comparison) -> list[Ranking]:
    """Return a ranking for each setting that the comparison has learners of."""
    return [Ranking(comparison, group) for group in groups_of(comparison)]


def finding(comparison: Comparison) -> Finding:
    """Describe the result of one comparison."""
    rankings = rankings_of(comparison)
    alone = len(rankings) == 1
    groups = tuple(_group_finding(ranking, alone) for ranking in rankings)
    where = clean(comparison.environment.name)
    chance = [] if rankings[0].repetitions.several else [_one_only(rankings[0].repetitions)]
    if alone:
        headline, brief = _sentence(rankings[0], f" on {where}"), groups[0].brief
        return Finding(headline, brief, (*chance, *groups[0].details), groups)
    contested = [ranking for ranking in rankings if len(ranking.order) > 1] or rankings
    brief = "; ".join(map(_part, contested))
    details = [f"{group.brief}. {' '.join(group.details)}".strip() for group in groups]
    return Finding(f"{where}: {brief}", brief, (*chance, *details, RANKED_APART), groups)


def _group_finding(ranking: Ranking, alone: bool) -> GroupFinding:
    among = "" if alone else f" of the {FEEDBACK[ranking.setting].plural}"
    details = [_negative_regret_sentence(ranking)]
    if len(ranking.order) > 1 and ranking.repetitions.several:
        details = [_certainty_sentence(ranking), *details]
    return GroupFinding(
        setting=ranking.setting,
        brief=_sentence(ranking, "", among),
        details=tuple(text for text in details if text),
        best=tuple(ranking.labels[k] for k in ranking.tied),
        rivals=tuple(ranking.labels[k] for k in ranking.rivals),
        clear=ranking.repetitions.several and len(ranking.tied) == 1 and not ranking.rivals,
        size=len(ranking.order),
    )


def overall_headline(findings: Sequence[Finding]) -> str:
    """Say which learner of each setting had the lowest regret most often, and how often clearly.

    For a single finding this is its own headline.
    """
    if len(findings) == 1:
        return findings[0].headline
    groups = [group for each in findings for group in each.groups]
    settings = [setting for setting in FEEDBACK if any(g.setting is setting for g in groups)]
    contested = [
        setting for setting in settings if any(g.size > 1 for g in groups if g.setting is setting)
    ]
    parts = [
        _most_often([group for group in groups if group.setting is setting], len(settings) > 1)
        for setting in contested or settings
    ]
    return "; ".join(parts)


def _most_often(groups: Sequence[GroupFinding], named: bool) -> str:
    """Say which learner was best in most scenarios, for the findings of one setting."""
    wins = Counter(label for each in groups for label in each.best)
    clear = Counter(label for each in groups if each.clear for label in each.best)
    most = max(wins, key=lambda label: (wins[label], clear[label]))
    first = [k for k in wins if (wins[k], clear[k]) == (wins[most], clear[most])]
    among = f"{wins[most]} of {len(groups)}"
    if wins[most] == len(groups):
        among = "both" if len(groups) == 2 else f"all {len(groups)}"
    each = " each" if len(first) > 1 else ""
    of_whom = f" of the {FEEDBACK[groups[0].setting].plural}" if named else ""
    said = f"{first_names(first)} had the lowest regret{of_whom} in {among} scenarios{each}"
    if clear[most] == wins[most]:
        return said
    return f"{said}, clearly in {clear[most]}" if clear[most] else f"{said}, but not clearly"


def first_names(names: Sequence[str], most: int = 3) -> str:
    """Join up to `most` names; of more, join the first and count the others."""
    if len(names) <= most:
        return listed(names)
    return listed([*names[: most - 1], f"{len(names) - most + 1} others"])


def _part(ranking: Ranking) -> str:
    """Say in a few words who is best in a setting, for a headline with several settings."""
    regret = plus_minus(ranking.regrets[ranking.first])
    plural = FEEDBACK[ranking.setting].plural
    if len(ranking.order) == 1:
        return f"{ranking.labels[ranking.first]} had a regret of {regret}"
    if len(ranking.tied) == len(ranking.order):
        return f"all {plural} had the same regret of {regret}"
    doubt = ", but not clearly" if ranking.rivals else ""
    return f"{ranking.names(ranking.tied)} had the lowest regret of the {plural}, {regret}{doubt}"


def _sentence(ranking: Ranking, where: str, among: str = "") -> str:
    regret = plus_minus(ranking.regrets[ranking.first])
    if len(ranking.order) == 1:
        only = f", alone among the {FEEDBACK[ranking.setting].plural}," if among else ""
        return f"{ranking.labels[ranking.first]}{only} had a regret of {regret}{where}"
    if len(ranking.tied) == len(ranking.order):
        learners = f"the {FEEDBACK[ranking.setting].plural}" if among else "learners"
        return f"All {learners} had the same regret{where}: {regret}"
    said = f"{ranking.names(ranking.tied)} had the lowest regret{among}{where}: {regret}"
    if ranking.rivals:
        it = "it" if len(ranking.tied) == 1 else "them"
        return f"{said}; {ranking.names(ranking.rivals)} cannot be told apart from {it}"
    less = plus_minus(ranking.behind(ranking.runner_up))
    return f"{said}, {less} less than {ranking.labels[ranking.runner_up]}"


def _one_only(repetitions: Repetitions) -> str:
    return f"Only one {repetitions.unit} was played, so nothing can be said about chance."


def _certainty_sentence(ranking: Ranking) -> str:
    repetitions = ranking.repetitions
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
