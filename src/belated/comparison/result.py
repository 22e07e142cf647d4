"""A comparison: the runs of several learners on the same games, and tables of their results."""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from belated.analysis.bounds import Bound, bound_for, mean_bound, run_means
from belated.analysis.game_sums import GameSums
from belated.analysis.lower_bounds import bandit_with_delay, experts_with_delay
from belated.analysis.regret import Comparator, balanced_comparator, regret, regrets
from belated.analysis.run_certificates import TrustMeans, broken, certified, trust_means
from belated.analysis.statistics import MeanEstimate, estimate
from belated.arrays import Floats
from belated.checks import LossRange
from belated.comparison.contenders import Contender
from belated.comparison.drawing import drawing_part
from belated.comparison.feedback import groups_of
from belated.comparison.observed_runs import Observed, observe
from belated.comparison.run_environment import RunEnvironment
from belated.comparison.summary import summary_of
from belated.comparison.table import Table
from belated.environments.environment import Environment
from belated.play.trace import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Comparison:
    """The results of several learners on the same games: tables, regrets, bounds and figures.

    Methods and tables are in the units of the environment's loss_range. `traces[k][r]` and
    `game_sums[r]` have the details of learner k in the repetition numbered `repetitions[r]`. Their
    losses are in [0, 1], as learners see them.
    `command` is the command that reproduces the comparison; `asked` is the number of repetitions
    that were requested, which is larger than their number if the comparison was interrupted.
    `run_environment` says when and where it was made.
    """

    environment: Environment
    contenders: tuple[Contender, ...]
    seed: int
    repetitions: tuple[int, ...]
    game_sums: tuple[GameSums, ...]
    traces: tuple[tuple[Trace, ...], ...]
    command: str = ""
    asked: int = 0
    run_environment: RunEnvironment | None = None

    @property
    def complete(self) -> bool:
        """Whether the comparison has all repetitions that were requested."""
        return len(self.repetitions) >= self.asked

    @property
    def labels(self) -> list[str]:
        """The labels of the contenders."""
        return [each.label for each in self.contenders]

    @property
    def units(self) -> LossRange:
        """The range of the losses, in whose units regrets, bounds and tables are."""
        return self.environment.units

    @property
    def checkpoints(self) -> NDArray[np.int64]:
        """The rounds after which sums were recorded."""
        return self.game_sums[0].checkpoints

    def regret(self, contender: int, against: Comparator | None = None) -> Floats:
        """Return the regret of a learner, given by its number, in each repetition.

        It is the regret against the best arm of the repetition or, if `against` is given, against
        an arm (its number from 0) or a comparator u (a weight for each arm).
        """
        pairs = zip(self.traces[contender], self.game_sums, strict=True)
        return self.units.width * np.array(
            [
                regret(trace.loss, sums.losses, sums.best_arm if against is None else against)
                for trace, sums in pairs
            ]
        )

    def regrets(self, contender: int) -> Floats:
        """Return the regret of a learner in each repetition (row) against every arm (column)."""
        pairs = zip(self.traces[contender], self.game_sums, strict=True)
        found = np.array([regrets(trace.loss, sums.losses) for trace, sums in pairs])
        return self.units.width * found

    def regret_to(self, contender: int, goal: str) -> Floats:
        """Return a contender's regret in each repetition against a goal of games with contexts.

        The goals are "best linear policy" and, if the environment knows its means, "true means".
        """
        known = self.game_sums[0].goals
        if goal not in known:
            raise ValueError(f"goal is {goal!r}; {self.environment.name} has {list(known)}")
        pairs = zip(self.traces[contender], self.game_sums, strict=True)
        return self.units.width * np.array([run.loss - sums.goals[goal] for run, sums in pairs])

    def regret_over_time(self, contender: int) -> MeanEstimate:
        """Return the mean regret at each checkpoint against the arm that was best until then."""
        pairs = zip(self.traces[contender], self.game_sums, strict=True)
        found = np.array([trace.loss_at - sums.losses_at.min(axis=1) for trace, sums in pairs])
        return estimate(self.units.width * found)

    def weights_over_time(self, contender: int) -> Floats:
        """Return the mean weight of each arm (column) between two checkpoints (row)."""
        sums = np.mean([trace.weight_at for trace in self.traces[contender]], axis=0)
        rounds = np.diff(self.checkpoints, prepend=0)
        weights: Floats = np.diff(sums, axis=0, prepend=0.0) / rounds[:, None]
        return weights

    def mean_weights(self, contender: int) -> Floats:
        """Return the mean weight of each arm over all rounds and repetitions."""
        sums = np.mean([trace.weight_at[-1] for trace in self.traces[contender]], axis=0)
        weights: Floats = sums / self.environment.rounds
        return weights

    def rate_weights_over_time(self, contender: int) -> Floats:
        """Return the mean weight of each learning rate (column) at the checkpoints (rows).

        There are no columns if the learner has only one rate.
        """
        weights: Floats = np.mean([t.rate_weight_at for t in self.traces[contender]], axis=0)
        return weights

    def bound(self, contender: int) -> Bound:
        """Return the mean over all games of the bound of the learner's theorem.

        It bounds the regret against the best arm.
        """
        traces = self.traces[contender]
        means = run_means(traces)
        bounds = [
            bound_for(trace.learner, sums, sums.best_arm, means, trace)
            for trace, sums in zip(traces, self.game_sums, strict=True)
        ]
        return mean_bound(bounds).in_units(self.units.width)

    def certificate(self, contender: int) -> float | None:
        """Return the bound on the regret that is computed from the runs, a mean over all games.

        The regret is that against the best arm. Practical experts have such a bound. Full
        information has one if losses are delivered on arrival and the sums of no game are too
        large for it. The result is None for all other learners.
        """
        pairs = zip(self.traces[contender], self.game_sums, strict=True)
        values = [value for pair in pairs if (value := certified(*pair)) is not None]
        complete = len(values) == len(self.repetitions)
        return self.units.width * float(np.mean(values)) if complete else None

    def trust(self, contender: int) -> TrustMeans | None:
        """Return the trust of a certified learner (Theorem 4), a mean over all games; else None."""
        found = trust_means(self.traces[contender])
        if found is None:
            return None
        width = self.units.width
        return TrustMeans(found.share, width * found.account, width * found.budget)

    def faults(self) -> list[str]:
        """Return a sentence for each learner whose run contradicts a proof, which means a bug."""
        said = []
        for label, traces in zip(self.labels, self.traces, strict=True):
            pairs = zip(self.repetitions, traces, self.game_sums, strict=True)
            found = [str(number) for number, trace, game in pairs if broken(trace, game)]
            if found:
                said.append(
                    f"{label} exceeds its certificate on {self.environment.name} with seed "
                    f"{self.seed} in repetition {', '.join(found)}, which is proven to be "
                    "impossible: an error of belated, please report it"
                )
        return said

    def lower_bounds(self) -> Table:
        """Return lower bounds on the regret of any learner, as orders of growth.

        The mean missing count stands for the mean delay, since it includes losses that never come.
        """
        sums = self.game_sums[0]
        delay = round(float(np.mean([each.mean_missing.mean() for each in self.game_sums])))
        found = {
            "experts": experts_with_delay(sums.rounds, sums.arms, delay),
            "bandits": bandit_with_delay(sums.rounds, sums.arms, delay),
        }
        return Table.of(
            [
                {
                    "scenario": self.environment.name,
                    "for": name,
                    "delay": delay,
                    "order of regret": self.units.width * bound.value,
                    "when": bound.when,
                    "origin": bound.origin,
                }
                for name, bound in found.items()
            ]
        )

    @functools.cached_property
    def observed(self) -> Observed | None:
        """The first game round by round, played once more, if it has contexts; else None.

        `belated.comparison.segments` and `model_checks` say what can be read from it.
        """
        if self.environment.contexts is None:
            return None
        first = self.repetitions[0]
        return observe(self.environment, self.contenders, self.game_sums[0], self.seed, first)

    @functools.cached_property
    def balanced(self) -> list[Floats]:
        """The paper's balanced comparator of each game."""
        return [balanced_comparator(sums) for sums in self.game_sums]

    def table(self) -> Table:
        """Return a row for each learner: its regret with a 95 % confidence interval, its bound."""
        return Table.of([self._summary(k) for k in range(len(self.contenders))])

    def _summary(self, k: int) -> dict[str, Any]:
        own, bound = estimate(self.regret(k)), self.bound(k)
        rounds, losses = self.environment.rounds, np.array([t.loss for t in self.traces[k]])
        against = [
            loss - u @ sums.losses
            for loss, u, sums in zip(losses, self.balanced, self.game_sums, strict=True)
        ]
        mean, trust = float(own.mean), self.trust(k)
        return {
            "scenario": self.environment.name,
            "learner": self.labels[k],
            "is told": self.traces[k][0].learner.setting.value,
            "regret": mean,
            "±": float(own.half_width),
            "against balanced": self.units.width * float(np.mean(against)),
            **{
                f"against {goal}": float(self.regret_to(k, goal).mean())
                for goal in self.game_sums[0].goals
            },
            "bound": bound.value,
            "bound applies": bound.applies if bound.value is not None else None,
            "why": bound.why,
            "regret / bound": mean / bound.value if bound.value else None,
            "certificate": self.certificate(k),
            "trusted": None if trust is None else trust.share,
            "account": None if trust is None else trust.account,
            "budget": None if trust is None else trust.budget,
            "loss per round": self.units.total_of(float(losses.mean()), rounds) / rounds,
            "repetitions": len(self.repetitions),
            "us per round": 1e6
            * float(np.median([trace.seconds for trace in self.traces[k]]))
            / rounds,
        }

    def runs(self) -> Table:
        """Return a row for each run, with every digit, for further analysis."""
        return Table.of(
            [
                self._run(k, r)
                for r in range(len(self.repetitions))
                for k in range(len(self.contenders))
            ]
        )

    def _run(self, k: int, r: int) -> dict[str, Any]:
        trace, sums = self.traces[k][r], self.game_sums[r]
        best, rounds = sums.best_arm, sums.rounds
        lost, least = (self.units.total_of(x, rounds) for x in (trace.loss, sums.losses[best]))
        balanced = self.units.total_of(float(self.balanced[r] @ sums.losses), rounds)
        return {
            "scenario": self.environment.name,
            "rounds": rounds,
            "arms": sums.arms,
            "seed": self.seed,
            "repetition": self.repetitions[r],
            "learner": self.labels[k],
            "setting": trace.learner.setting.value,
            "loss": lost,
            "realised_loss": self.units.total_of(trace.realised, rounds),
            "best_arm": sums.labels[best],
            "best_loss": float(least),
            "regret": lost - float(least),
            "balanced_regret": lost - balanced,
            "expected_missing": trace.expected_missing,
            "max_missing": sums.max_missing,
            "skipped": trace.skipped,
            **self._trust_of(trace),
            "seconds": trace.seconds,
        }

    def _trust_of(self, trace: Trace) -> dict[str, Any]:
        """Return what a run's account of Theorem 4 says after its last round, in three columns."""
        trust, width = trace.trust, self.units.width
        return {
            "trusted_rounds": None if trust is None else trust.rounds - trust.by_fallback,
            "account": None if trust is None else width * trust.largest,
            "budget": None if trust is None else width * trust.last_budget,
        }

    def summary(self) -> Table:
        """Return the table as it is printed: texts, ranked among learners with the same feedback.

        A bound with a dagger is stated, but not proven to hold in these games.
        """
        return summary_of(self)

    def plot(self, kind: str = "regret-over-time", ax: "Axes | None" = None) -> "Figure | None":
        """Draw one of the figures of the report with matplotlib, and return its figure.

        `kind` is regret-over-time, final-regret, loss-delay-plane, delays, arm-weights or
        rate-weights. The first four can be drawn into axes of yours, given as `ax`. The last two
        are None if there is nothing to show: a single arm, or no learner with several rates. Games
        with contexts have regret-by-segment, calibration, learned-delays and silence, too.
        """
        figure: Figure | None = drawing_part("plot")(self, kind, ax)
        return figure

    def report(self, path: str | Path) -> Path:
        """Write one self-contained HTML page with every table and figure."""
        written: Path = drawing_part("report")([self], path)
        return written

    def to_markdown(self) -> str:
        """Return the summary as a Markdown table."""
        return self.summary().to_markdown()

    def to_latex(self) -> str:
        """Return the summary as a LaTeX table, which needs the package booktabs."""
        return self.summary().to_latex()

    def to_pandas(self) -> Any:
        """Return a row for each run, with every digit, as a DataFrame of pandas."""
        return self.runs().to_pandas()

    def to_polars(self) -> Any:
        """Return a row for each run, with every digit, as a DataFrame of polars."""
        return self.runs().to_polars()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the row of each run to any program that reads Arrow; this needs pyarrow."""
        return self.runs().__arrow_c_stream__(requested_schema)

    def __str__(self) -> str:
        return str(self.summary())

    def __repr__(self) -> str:
        best = ", ".join(
            f"{self.labels[group.members[0]]} of {len(group.members)} {group.feedback.plural}"
            for group in groups_of(self)
        )
        return (
            f"<Comparison on {self.environment.name}: {self.environment.rounds} rounds, "
            f"{self.environment.arms} arms, {len(self.repetitions)} repetitions, seed {self.seed}; "
            f"lowest regret: {best}>"
        )

    def _repr_html_(self) -> str:
        return str(drawing_part("notebook")(self))
