"""The result of learners on many worlds: shares of uniform play's regret, means and tails.

A learner's share in a world is its mean regret over the games of the world in percent of uniform
play's mean regret over the same games. 0 is as good as always the best arm, 100 as bad as chance.
Shares are clipped to [-100, 150], so that no single world decides a mean. Uniform play's regret is
never negative; where it is nearly 0, as when all arms are equally good in total, a share says
little, and the clip limits the harm.
"""

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from belated.analysis.statistics import MeanEstimate, estimate
from belated.arrays import Floats
from belated.comparison.table import Table
from belated.worlds.named_worlds import World

CLIP = (-100.0, 150.0)  # percent of uniform play's regret
NEARLY_BEST = 1.05  # a learner is among the best with a regret of up to so many times the smallest
TAIL = 95  # percent of the runs of a world
LITTLE = 1e-3  # uniform play's regret by round below which a share says little


class WorldRuns(NamedTuple):
    """The regrets of all learners (rows) and of uniform play in the games of a world."""

    world: World
    uniform: Floats
    regrets: Floats

    @property
    def shares(self) -> Floats:
        """The share of uniform play's regret in percent for each learner and game, not clipped."""
        return percent(self.regrets, float(self.uniform.mean()))

    @property
    def says_little(self) -> bool:
        """Whether uniform play's regret is nearly 0."""
        return bool(self.uniform.mean() < LITTLE * self.world.environment.rounds)


@dataclass(frozen=True)
class WorldComparison:
    """The regrets of some learners in the games of many worlds, and tables of them.

    `asked` is the number of worlds that were requested, which is larger than their number if the
    comparison was interrupted.
    """

    labels: tuple[str, ...]
    worlds: tuple[WorldRuns, ...]
    asked: int

    @property
    def complete(self) -> bool:
        """Whether all worlds that were requested have been played."""
        return len(self.worlds) >= self.asked

    @functools.cached_property
    def shares(self) -> Floats:
        """The clipped share of each learner (column) in each world (row), in percent."""
        found = np.array([each.shares.mean(axis=1) for each in self.worlds])
        return found.clip(*CLIP)

    @functools.cached_property
    def tails(self) -> Floats:
        """The clipped 95th percentile of the runs of each learner in each world."""
        found = np.array([np.percentile(each.shares, TAIL, axis=1) for each in self.worlds])
        return found.clip(*CLIP)

    def table(self) -> Table:
        """Return a row for each learner: its mean share with a 95 % interval over worlds, tails.

        `tail` is the mean over worlds of the 95th percentile of runs, `95 % of runs` that of all
        runs together; `best` counts the worlds in which no learner's regret is much smaller. Wins,
        losses and the difference are against the first learner.
        """
        return Table.of([self._row(k) for k in range(len(self.labels))])

    def _row(self, k: int) -> dict[str, Any]:
        share, against = estimate(self.shares[:, k]), self.duel(k, 0)
        runs = np.concatenate([each.shares[k] for each in self.worlds])
        worst = max(self.worlds, key=lambda each: float(each.shares[k].max()))
        return {
            "learner": self.labels[k],
            "share": float(share.mean),
            "±": float(share.half_width),
            "median": float(np.median(self.shares[:, k])),
            "tail": float(self.tails[:, k].mean()),
            "95 % of runs": float(np.percentile(runs, TAIL)),
            "worst run": float(runs.max()),
            "worst in": worst.world.name,
            "best": int(self.best[:, k].sum()),
            "wins": against.wins,
            "losses": against.losses,
            "difference": float(against.difference.mean),
            "± of it": float(against.difference.half_width),
            "worlds": len(self.worlds),
        }

    @functools.cached_property
    def best(self) -> Floats:
        """Whether a learner's regret in a world is within 5 % of the smallest, as 0 or 1."""
        regrets = np.array([each.regrets.mean(axis=1) for each in self.worlds])
        least = regrets.min(axis=1, keepdims=True)
        found: Floats = regrets <= np.where(least > 0.0, NEARLY_BEST * least, least)
        return found.astype(np.float64)

    def duel(self, learner: int, other: int) -> "Duel":
        """Compare two learners world by world, on the same games."""
        difference = self.shares[:, learner] - self.shares[:, other]
        wins, losses = int((difference < 0.0).sum()), int((difference > 0.0).sum())
        return Duel(wins, losses, estimate(difference))

    def by_family(self) -> Table:
        """Return a row for each family: the number of its worlds, and the mean share of each."""
        names = [each.world.family for each in self.worlds]
        rows = []
        for family in dict.fromkeys(names):
            inside = np.array([name == family for name in names])
            means = self.shares[inside].mean(axis=0)
            found = dict(zip(self.labels, map(float, means), strict=True))
            rows.append({"family": family, "worlds": int(inside.sum()), **found})
        return Table.of(rows)

    def by_world(self) -> Table:
        """Return a row for each world: what it is, uniform play's regret, and the shares."""
        return Table.of(list(self._world_rows()))

    def _world_rows(self) -> Iterable[dict[str, Any]]:
        for each, shares, tails in zip(self.worlds, self.shares, self.tails, strict=True):
            yield {
                "world": each.world.name,
                "uniform": float(each.uniform.mean()),
                **_columns(self.labels, "share", shares),
                **_columns(self.labels, "tail", tails),
                "says little": each.says_little,
                "line": each.world.line,
            }

    def runs(self) -> Table:
        """Return a row for each run, with every digit."""
        return Table.of(
            [
                {
                    "world": each.world.name,
                    "family": each.world.family,
                    "game": game,
                    "learner": label,
                    "regret": float(each.regrets[k, game]),
                    "uniform": float(each.uniform[game]),
                }
                for each in self.worlds
                for game in range(each.uniform.size)
                for k, label in enumerate(self.labels)
            ]
        )

    def __str__(self) -> str:
        return str(self.table())


class Duel(NamedTuple):
    """A learner against another: worlds won and lost, and the mean difference of their shares."""

    wins: int
    losses: int
    difference: MeanEstimate


def percent(regrets: Floats, uniform: float) -> Floats:
    """Return regrets in percent of uniform play's; if that is 0, they are 0 or beyond the clip."""
    if uniform > 0.0:
        return 100.0 * regrets / uniform
    return np.where(regrets == 0.0, 0.0, np.copysign(1e6, regrets))


def _columns(labels: Sequence[str], name: str, values: Floats) -> dict[str, float]:
    return {f"{name} of {label}": float(x) for label, x in zip(labels, values, strict=True)}
