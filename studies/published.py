"""Published experiments played again: the results of their authors, beside ours.

Regret is pseudo-regret, the sum over arms of weight times gap, which does not depend on the random
losses of the arms.
"""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from belated.analysis.statistics import student_quantile
from belated.arrays import Counts, Floats
from belated.checks import as_count
from belated.comparison.compare import Progress, compare
from belated.comparison.result import Comparison
from belated.comparison.table import Table
from belated.types import BelatedWarning
from studies.experiments import Experiment


@dataclass(frozen=True)
class ExperimentResult:
    """The result of an experiment; regrets has the axes trial, learner, repetition, checkpoint."""

    experiment: Experiment
    checkpoints: Counts
    regrets: Floats

    def found(self, learner: int, trial: int = -1) -> tuple[float, float]:
        """Return the number to compare, and half the width of its 95 % confidence interval."""
        last = self.regrets[trial, learner, :, -1]
        if self.experiment.measure == "ratio":
            return from_means(np.divide, last, self.regrets[0, learner, :, -1])
        start = int(np.searchsorted(self.checkpoints, self.checkpoints[-1] / 10.0))
        span = math.log(self.checkpoints[-1] / self.checkpoints[start])
        return from_means(
            lambda late, early: np.log(late / early) / span,
            last,
            self.regrets[trial, learner, :, start],
        )

    @property
    def measured(self) -> str:
        """A phrase that says what the compared number is."""
        if self.experiment.measure == "ratio":
            first, last = self.experiment.trials[0], self.experiment.trials[-1]
            return f"regret at mean delay {last.mean_delay:g} / at {first.mean_delay:g}"
        return "e, if the regret grows as T^e from T/10 to T"

    def rows(self) -> list[dict[str, object]]:
        """Return a row for each learner in each trial; published numbers belong to the last."""
        experiment, last = self.experiment, len(self.experiment.trials) - 1
        return [
            {
                "experiment": experiment.name,
                "learner": claim.learner,
                "mean delay": trial.mean_delay,
                "measure": experiment.measure,
                "published": claim.published if n == last else "",
                "found": self.found(k, n)[0],
                "±": self.found(k, n)[1],
                "regret": float(self.regrets[n, k, :, -1].mean()),
                "rounds": trial.environment.rounds,
                "repetitions": self.regrets.shape[2],
                "source": experiment.source,
            }
            for n, trial in enumerate(experiment.trials)
            for k, claim in enumerate(experiment.claims)
        ]


def from_means(
    statistic: Callable[[Floats, Floats], Floats], late: Floats, early: Floats
) -> tuple[float, float]:
    """Return a function of two means, and half the width of its 95 % confidence interval.

    The interval is found by the jackknife, which leaves out one repetition at a time.
    """
    count = late.size
    value = float(statistic(late.mean(), early.mean()))
    if count < 2:
        return value, math.nan
    without = statistic((late.sum() - late) / (count - 1), (early.sum() - early) / (count - 1))
    error = math.sqrt((count - 1) * float(np.var(without)))
    return value, student_quantile(count - 1) * error


def played(
    experiment: Experiment,
    repetitions: int,
    seed: int,
    workers: int | None,
    progress: Progress = lambda done, total: None,
) -> ExperimentResult:
    """Play all trials of an experiment; an interrupt ends it, and none of its results are kept.

    All trials have the same losses, so that ratios between them are due to the delays.
    """
    trials = experiment.trials
    games = experiment.games * as_count(repetitions, "repetitions", 1)
    comparisons = []
    for n, trial in enumerate(trials):

        def report(done: int, total: int, before: int = n) -> None:
            progress(before * total + done, len(trials) * total)

        with warnings.catch_warnings():
            # an interrupted experiment is not kept
            warnings.filterwarnings("ignore", "interrupted", BelatedWarning)
            comparison = compare(trial.contenders, trial.environment, games, seed, workers, report)
        if len(comparison.repetitions) < games:
            raise KeyboardInterrupt
        comparisons.append(comparison)
    regrets = np.array([pseudo_regrets(each, experiment.gaps) for each in comparisons])
    return ExperimentResult(experiment, comparisons[0].checkpoints, regrets)


def pseudo_regrets(comparison: Comparison, gaps: Sequence[float]) -> Floats:
    """Return the sum over arms of gap times weight for each learner, repetition and checkpoint."""
    weights = [[trace.weight_at for trace in traces] for traces in comparison.traces]
    regrets: Floats = np.array(weights) @ np.array(gaps)
    return regrets


def published_table(outcomes: Sequence[ExperimentResult]) -> Table:
    """Make a table with a row for each learner of each trial of each experiment."""
    return Table.of([row for outcome in outcomes for row in outcome.rows()])
