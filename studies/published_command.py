"""python -m studies published: experiments that others have published, played again."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from belated.cli.console import check_folder, one_line_errors, show_table
from belated.cli.play_all import Progress, play_all
from studies.figure_files import write_figures
from studies.study_options import study_options

if TYPE_CHECKING:
    from studies.experiments import Experiment
    from studies.published import ExperimentResult

SHOWN = ("learner", "published", "found", "±", "regret")


@click.command("published")
@click.argument("names", metavar="[EXPERIMENT]...", nargs=-1)
@study_options("each trial")
def published_study(
    names: Sequence[str],
    repetitions: int,
    seed: int,
    workers: int | None,
    figures: Path | None,
    table: Path | None,
    as_json: bool,
) -> None:
    """Play experiments that others have published, beside what their authors found.

    EXPERIMENT is mean-delay, heavy-tails or constrained-adversary; all are played by default.
    Ctrl-C ends the study and keeps the experiments that are complete.
    """
    from belated.comparison.table import check_format
    from studies import published
    from studies.experiments import EXPERIMENTS, experiment_named

    with one_line_errors():
        experiments = [experiment_named(name) for name in names or EXPERIMENTS]
        if table is not None:
            check_format(table)
        if figures is not None:
            check_folder(figures)
            import studies.published_figures  # noqa: F401

    def play(experiment: "Experiment", progress: Progress) -> "ExperimentResult":
        return published.played(experiment, repetitions, seed, workers, progress)

    results = play_all(experiments, play, "experiments")
    if as_json:
        click.echo(json.dumps(json.loads(published.published_table(results).to_json())))
    else:
        for result in results:
            show_result(result)
    with one_line_errors():
        if table is not None and results:
            published.published_table(results).save(table)
            click.echo(f"Every learner in every trial: {table}", err=True)
        if figures is not None:
            from studies.published_figures import published_figure

            drawn = {
                f"published-{each.experiment.name}": published_figure(each) for each in results
            }
            write_figures(drawn, figures)
    if len(results) < len(experiments):
        sys.exit(130)


def show_result(result: "ExperimentResult") -> None:
    """Print the published numbers beside ours, for the last trial."""
    from studies import published

    experiment, trial = result.experiment, result.experiment.trials[-1]
    click.secho(experiment.name, bold=True, nl=False)
    click.echo(f": {experiment.title} ({experiment.source})")
    click.echo(
        f"{trial.environment.rounds} rounds, {result.regrets.shape[2]} repetitions; "
        f"found: {result.measured}"
    )
    table = published.published_table([result])
    columns = [table.columns.index(name) for name in SHOWN]
    rows = table.shown()[-len(experiment.claims) :]
    show_table(SHOWN, [[row[column] for column in columns] for row in rows])
