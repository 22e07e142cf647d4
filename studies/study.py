"""The study: every learner on every scenario, once told what it must know and once guessing it.

Learners that must know something, such as the total delay, are told it by the simulator, although
it is not known in practice. So they play once more with a guess that is equal in all scenarios.
Learners made for one delay for all arms also play with padded losses, as their theorems require.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from belated.analysis.statistics import estimate
from belated.comparison.contenders import Contender
from belated.comparison.result import Comparison
from belated.comparison.table import Table
from belated.environments.environment import Environment
from belated.environments.scenarios import scenario, scenarios
from belated.learners.contract import Learner
from belated.learners.needs import needed_options, needs_at_start
from belated.learners.registry import registered
from belated.types import Covers, Need, Setting

REFERENCE = "uniform"
LEFT_OUT = ("many-arms",)  # a game has 40 million losses, which take too long
LONGER = {"heavy-tails": {"rounds": 20_000}, "block-constant": {"rounds": 20_000}}
WINDOW = 30  # the window, in rounds, of the learners that wait for a whole window
WORTH = 0.01  # the best arm is no goal if it saves less than this part of what switching arms saves
ROUNDING = 1e-9  # a smaller regret per round may be a rounding error
BEST_ARM, BEST_OF_EACH = "best arm", "best arm of each stretch"
CLOSE = 1.05  # a regret up to here times the smallest counts as the smallest

GUESSES: dict[Need, Any] = {
    Need.HORIZON: 100_000,
    Need.MAX_MISSING: 100,
    Need.TOTAL_DELAY: 1_000_000,
    Need.MAX_DELAY: 100,
    Need.MEAN_DELAY: 10.0,
    Need.DELAY_LAW: tuple(1.0 - 0.9 ** (x + 1.0) for x in range(100)),
    Need.TAIL_INDEX: 0.5,
}
TOLD, GUESSED, NOTHING = "told", "guessed", "nothing"


PARTS = {
    "practical-experts": ("imputes", "bold", "tracks"),
}


@dataclass(frozen=True)
class StudyLearner:
    """A learner in the study, and whether it is told what it must know or guesses it."""

    contender: Contender
    kind: type[Learner]
    knows: str

    @property
    def parts(self) -> tuple[str, ...]:
        """The options of the learner each of which changes or switches off one of its parts."""
        return PARTS.get(self.kind.name, ())

    @property
    def parts_changed(self) -> list[str]:
        """The options given here that change or switch off one of the learner's parts."""
        options = self.contender.options
        return [f"{name}={value}" for name, value in options.items() if name in self.parts]

    @property
    def label(self) -> str:
        """The name of the learner, with the options that matter, and whether it guesses."""
        options = self.contender.options
        parts = [self.contender.name]
        parts += [str(options[name]) for name in ("variant", "delivery") if name in options]
        if "window" in options:
            parts.append(f"after {options['window']} rounds")
        parts += self.parts_changed
        if self.knows == GUESSED:
            parts.append("guessing")
        return ", ".join(parts)


def study_learners() -> list[StudyLearner]:
    """All learners of the study."""
    return [each for kind in registered().values() for each in ways_of(kind)]


def ways_of(kind: type[Learner]) -> Iterator[StudyLearner]:
    """Yield a learner with default options, guessing, padded, repaired, and with a window."""
    asks = needs_at_start(kind, {})
    knows = TOLD if asks else NOTHING
    yield StudyLearner(Contender(kind.name), kind, knows)
    if asks:
        guessed = needed_options(kind, GUESSES.__getitem__, given={})
        yield StudyLearner(Contender(kind.name, guessed), kind, GUESSED)
    if kind.covers is Covers.SHARED and kind.deliveries[0] == "own":
        yield StudyLearner(Contender(kind.name, {"delivery": "padded"}), kind, knows)
    if "variant" in {each.name for each in fields(kind)}:
        repaired = {"variant": "repaired"}
        knows_then = TOLD if needs_at_start(kind, repaired) else NOTHING
        yield StudyLearner(Contender(kind.name, repaired), kind, knows_then)
    if kind.name in ("delayed-ucb1", "exp3"):
        yield StudyLearner(Contender(kind.name, {"window": WINDOW}), kind, knows)


def games_of_the_study() -> list[Environment]:
    """Return all scenarios at their usual size or longer, except those that take too long.

    Scenarios with contexts have a study of their own.
    """
    return [
        scenario(each.name, **LONGER.get(each.name, {}))
        for each in scenarios()
        if each.available and not each.features and each.name not in LEFT_OUT
    ]


class RegretUnit(NamedTuple):
    """The unit of regret: the regret `whole` of uniform play against a goal.

    The goal is the best arm or a comparator that loses less than it by `further`.
    """

    against: str
    further: float
    whole: float

    def share(self, regret: float) -> float | None:
        """Convert a regret against the best arm to this unit; None if all arms lose the same."""
        return (regret + self.further) / self.whole if self.whole > 0.0 else None


def unit_of(comparison: Comparison, uniform: float) -> RegretUnit:
    """Return the unit of a scenario in which uniform play has this regret against the best arm.

    If it is almost zero, the goal is the best arm of each stretch between two checkpoints.
    """
    apart = [np.diff(each.losses_at, axis=0, prepend=0.0) for each in comparison.game_sums]
    best = np.array([each.losses.min() for each in comparison.game_sums])
    closer = float((best - [each.min(axis=1).sum() for each in apart]).mean())
    further = comparison.environment.units.width * closer
    whole = uniform + further
    if whole <= ROUNDING * comparison.environment.rounds:
        return RegretUnit(BEST_ARM, 0.0, 0.0)
    if uniform > WORTH * whole:
        return RegretUnit(BEST_ARM, 0.0, uniform)
    return RegretUnit(BEST_OF_EACH, further, whole)


def study_table(chosen: Sequence[StudyLearner], comparisons: Sequence[Comparison]) -> Table:
    """Make a row for each learner in each scenario, sorted by scenario, feedback and regret.

    `of uniform` is the regret as a part of that of uniform play: below 0 the learner did better
    than any arm, above 1 worse than chance. Where chance is as good as any single arm, both regrets
    are against the best arm of each stretch between two checkpoints, as `against` says. `95 %` is
    the quantile and `worst run` the largest of the regrets of single games; `over time` is the mean
    of the regret at all checkpoints. `changed` names the parts that a learner plays without. `rank`
    counts from the smallest regret among complete learners with the same feedback.
    """
    return Table.of([row for each in comparisons for row in _rows(chosen, each)])


def _rows(chosen: Sequence[StudyLearner], comparison: Comparison) -> Iterator[dict[str, Any]]:
    labels = [each.contender.label for each in chosen]
    reference = float(comparison.regret(labels.index(REFERENCE)).mean())
    unit = unit_of(comparison, reference)
    means = np.array([comparison.regret(k).mean() for k in range(len(chosen))])
    experts = np.array([each.kind.setting is Setting.FULL_INFORMATION for each in chosen])
    whole = np.array([not each.parts_changed for each in chosen])
    for k in sorted(range(len(chosen)), key=lambda k: (not experts[k], means[k])):
        own = estimate(comparison.regret(k))
        seconds = np.median([trace.seconds for trace in comparison.traces[k]])
        yield {
            "scenario": comparison.environment.name,
            "rounds": comparison.environment.rounds,
            "arms": comparison.environment.arms,
            "learner": chosen[k].label,
            "changed": ", ".join(chosen[k].parts_changed),
            "is told": chosen[k].kind.setting.value,
            "knows": chosen[k].knows,
            "regret": float(own.mean),
            "±": float(own.half_width),
            "95 %": float(np.quantile(comparison.regret(k), 0.95)),
            "worst run": float(comparison.regret(k).max()),
            "over time": float(np.mean(comparison.regret_over_time(k).mean)),
            "against": unit.against,
            "of uniform": unit.share(float(own.mean)),
            "rank": 1 + int(((means < means[k]) & (experts == experts[k]) & whole).sum()),
            "repetitions": len(comparison.repetitions),
            "us per round": 1e6 * float(seconds) / comparison.environment.rounds,
        }


def standings(table: Table, experts: bool) -> Table:
    """Make a row for each learner over all scenarios, the smallest mean share of uniform first.

    `mean` and `worst` are of the shares, `rank` is the mean rank; `within 5 %` counts the scenarios
    in which no complete learner with the same feedback had a regret smaller by more than 5 %.
    """
    told = Setting.FULL_INFORMATION.value
    rows = [row for row in table if (row["is told"] == told) == experts]
    best: dict[str, float] = {}
    for row in rows:
        if not row["changed"]:
            best[row["scenario"]] = min(best.get(row["scenario"], np.inf), row["regret"])
    found = []
    for learner in dict.fromkeys(row["learner"] for row in rows):
        own = [row for row in rows if row["learner"] == learner]
        shares = [row["of uniform"] for row in own if row["of uniform"] is not None]
        found.append(
            {
                "learner": learner,
                "knows": own[0]["knows"],
                "mean": float(np.mean(shares)),
                "worst": float(np.max(shares)),
                "rank": float(np.mean([row["rank"] for row in own])),
                "within 5 %": sum(_is_close(row["regret"], best[row["scenario"]]) for row in own),
                "scenarios": len(own),
            }
        )
    return Table.of(sorted(found, key=lambda row: row["mean"]))


def _is_close(regret: float, best: float) -> bool:
    """Whether a regret exceeds the smallest by at most 5 % of its absolute value."""
    return regret <= best + (CLOSE - 1.0) * abs(best)
