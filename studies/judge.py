"""The judgement: all bandits, and the practical one without each of its parts, on random worlds.

A part is left out by an option, or by a subclass that starts from a state in which it never acts.
The runs are kept in a table with a row for each game, from which everything else is computed.
"""

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from belated.analysis.statistics import estimate
from belated.arrays import Floats
from belated.comparison.contenders import Contender
from belated.comparison.table import Table
from belated.learners.delay_law import HERE
from belated.learners.practical.practical_bandit import PracticalBandit, PracticalBanditState
from belated.learners.registry import registered
from belated.types import Setting
from belated.worlds.named_worlds import MODULES, families, world
from belated.worlds.world_result import TAIL, WorldComparison, WorldRuns

REFERENCE, OWN = "thompson", "practical-bandit"
DIGITS = 2  # of a regret in the table of runs
ERRORS = 2.0  # a part pays if what is lost without it is more than so many standard errors


class WithoutSilence(PracticalBandit):
    """The practical bandit for which silence never has a meaning, declared or not."""

    def start(self) -> PracticalBanditState:
        state = PracticalBandit.start(replace(self, default_loss=None))
        state.silence.law.sums[HERE:, -1] = 1.0  # as if losses of both kinds had been told
        return state


class WithoutNarrowness(PracticalBandit):
    """The practical bandit for which all losses vary like coins."""

    def start(self) -> PracticalBanditState:
        state = super().start()
        state.variance.squares[0] = 1e300  # a variance that is brought to that of coins
        return state


PARTS = (
    Contender(OWN, {"forgets": False}),
    Contender("without silence", kind=WithoutSilence),
    Contender("without narrowness", kind=WithoutNarrowness),
    Contender(OWN, {"certified": False}),
    Contender(OWN, {"exploration": 0.0}),
    Contender(OWN, {"certified": False, "exploration": 0.0}),
    Contender(OWN, {"spread": 1.0}),
)


def judged() -> list[Contender]:
    """Return all registered bandits, Thompson sampling first, then ours without each part."""
    bandits = [
        name
        for name, kind in registered().items()
        if kind.setting is not Setting.FULL_INFORMATION and name not in (REFERENCE, OWN, "uniform")
    ]
    repaired = Contender("concealed", {"variant": "repaired"})
    return [*map(Contender, (REFERENCE, OWN, *bandits)), repaired, *PARTS]


def runs_table(result: WorldComparison) -> Table:
    """Make a row for each game: its world, uniform play's regret, and that of each learner."""
    return Table.of(
        [
            {
                "world": each.world.name,
                "game": game,
                "uniform": round(float(each.uniform[game]), DIGITS),
                **{
                    label: round(float(regret), DIGITS)
                    for label, regret in zip(result.labels, each.regrets[:, game], strict=True)
                },
            }
            for each in result.worlds
            for game in range(each.uniform.size)
        ]
    )


def read_runs(path: Path) -> WorldComparison:
    """Return the comparison of which the table of runs was kept in a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    labels = tuple(rows[0])[3:]
    worlds = []
    for name in dict.fromkeys(row["world"] for row in rows):
        games = [row for row in rows if row["world"] == name]
        uniform: Floats = np.array([float(row["uniform"]) for row in games])
        regrets: Floats = np.array([[float(row[label]) for row in games] for label in labels])
        worlds.append(WorldRuns(world(name), uniform, regrets))
    return WorldComparison(labels, tuple(worlds), len(worlds))


def rivals_of(result: WorldComparison) -> list[int]:
    """Return the places of all learners that are not ours."""
    ours = {OWN, *(part.label for part in PARTS)}
    return [k for k, label in enumerate(result.labels) if label not in ours]


def family_table(result: WorldComparison) -> Table:
    """Make a row for each family: our mean share and those of Thompson and of the best rival."""
    own, rivals = result.labels.index(OWN), rivals_of(result)
    rows = []
    for name in dict.fromkeys(each.world.family for each in result.worlds):
        inside = np.array([each.world.family == name for each in result.worlds])
        means = result.shares[inside].mean(axis=0)
        best = min(rivals, key=lambda k: float(means[k]))
        difference = estimate(result.shares[inside, own] - result.shares[inside, best])
        rows.append(
            {
                "family": name,
                "judge only": families()[name].judge_only,
                "worlds": int(inside.sum()),
                OWN: float(means[own]),
                REFERENCE: float(means[result.labels.index(REFERENCE)]),
                "best rival": result.labels[best],
                "its share": float(means[best]),
                "difference": float(difference.mean),
                "± of it": float(difference.half_width),
                "within twice": bool(means[own] - means[best] <= abs(means[best])),
            }
        )
    return Table.of(rows)


def kinds() -> dict[str, str]:
    """Return the kind of each family, steady to recorded, by its name."""
    return {
        family.name: module.__name__.rpartition(".")[2]
        for module in MODULES
        for family in families().values()
        if family in vars(module).values()
    }


def parts_table(result: WorldComparison) -> Table:
    """Make a row for each part: what is lost without it, in all worlds and in each kind of them.

    Losses are in points of the share, with two standard errors; a star marks those beyond them.
    """
    own, kind_of = result.labels.index(OWN), kinds()
    of_worlds = np.array([kind_of[each.world.family] for each in result.worlds])
    rows = []
    for part in (each.label for each in PARTS):
        lost = result.shares[:, result.labels.index(part)] - result.shares[:, own]
        by_kind = {kind: lost[of_worlds == kind] for kind in dict.fromkeys(of_worlds.tolist())}
        rows.append({"part": part, "all": said(lost)} | {k: said(v) for k, v in by_kind.items()})
    return Table.of(rows)


def said(lost: Floats) -> str:
    """Return a mean with two standard errors as text, with a star if it is farther from zero."""
    found = estimate(lost)
    mean, errors = float(found.mean), ERRORS * float(found.error)
    return f"{mean:.1f} ± {errors:.1f}{' *' if abs(mean) > errors else ''}"


class Target(NamedTuple):
    """A target of the judgement, whether it was met, and the numbers."""

    target: str
    met: bool
    found: str


def targets(result: WorldComparison) -> Sequence[Target]:
    """Return the targets that were set before the judge set was looked at."""
    own, reference = result.labels.index(OWN), result.labels.index(REFERENCE)
    means, rivals = result.shares.mean(axis=0), rivals_of(result)
    best = min(rivals, key=lambda k: float(means[k]))
    tails = [percentile(result, k) for k in (own, reference)]
    worse = [row["family"] for row in family_table(result) if not row["within twice"]]
    return (
        Target(
            "mean share at least a third below Thompson's",
            bool(means[own] <= 2.0 / 3.0 * means[reference]),
            f"{means[own]:.1f} and {means[reference]:.1f}",
        ),
        Target(
            "mean share below every other learner's",
            bool(means[own] < means[best]),
            f"{means[own]:.1f} and {means[best]:.1f} ({result.labels[best]})",
        ),
        Target(
            "95 % of runs below Thompson's",
            tails[0] < tails[1],
            f"{tails[0]:.1f} and {tails[1]:.1f}",
        ),
        Target(
            "in no family worse than twice the best rival",
            not worse,
            f"worse in {', '.join(worse) or 'none'}",
        ),
    )


def percentile(result: WorldComparison, learner: int) -> float:
    """Return the 95th percentile of all runs of a learner, in percent of uniform play's regret."""
    return float(np.percentile(np.concatenate([w.shares[learner] for w in result.worlds]), TAIL))
