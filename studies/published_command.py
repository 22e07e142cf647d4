"""python -m studies published: experiments that others have published, played again."""

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from belated.cli.console import one_line_errors, progress_of, say_if_compiling, show_table

if TYPE_CHECKING:
    from studies.experiments import Experiment
    from studies.published import ExperimentResult

SHOWN = ("learner", "published", "found", "±", "regret")


@click.command("published")
@click.argument("names", metavar="[EXPERIMENT]...", nargs=-1)
@click.option("--repetitions", "-r", default=10, show_default=True, help="Games for each trial.")
@click.option("--seed", default=1, show_default=True, help="The same seed gives the same games.")
@click.option("--workers", type=int, help="Threads to run on.  [default: one for each core]")
@click.option(
    "--figures", type=click.Path(path_type=Path), help="Write every figure into this folder."
)
@click.option(
    "--table",
    type=click.Path(path_type=Path),
    help="Write all rows here: .csv, .json or .parquet.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the table as one JSON list.")
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
    from studies.experiments import EXPERIMENTS, experiment_named
    from studies.published import published_table

    with one_line_errors():
        experiments = [experiment_named(name) for name in names or EXPERIMENTS]
        if table is not None:
            check_format(table)
        if figures is not None:
            if figures.exists() and not figures.is_dir():
                raise ValueError(f"{figures} is a file; figures need a folder")
            import studies.published_figures  # noqa: F401
    say_if_compiling()
    outcomes = played_experiments(experiments, repetitions, seed, workers)
    if as_json:
        click.echo(json.dumps(json.loads(published_table(outcomes).to_json())))
    else:
        for outcome in outcomes:
            show_outcome(outcome)
    with one_line_errors():
        if table is not None and outcomes:
            published_table(outcomes).save(table)
            click.echo(f"Every learner in every trial: {table}", err=True)
        if figures is not None:
            save_figures(outcomes, figures)
    if len(outcomes) < len(experiments):
        sys.exit(130)


def played_experiments(
    experiments: "Sequence[Experiment]", repetitions: int, seed: int, workers: int | None
) -> "list[ExperimentResult]":
    """The outcomes of all experiments, or of those that are complete."""
    from studies.published import played

    outcomes: list[ExperimentResult] = []
    for number, experiment in enumerate(experiments, 1):
        title = f"{experiment.name} ({number} of {len(experiments)})"
        try:
            with one_line_errors(), progress_of(title) as progress:
                outcomes.append(played(experiment, repetitions, seed, workers, progress))
        except KeyboardInterrupt:
            done = f"{len(outcomes)} of {len(experiments)} experiments are complete"
            click.echo(f"Interrupted; {done}.", err=True)
            break
    return outcomes


def show_outcome(outcome: "ExperimentResult") -> None:
    """What was published beside what is found, for the last trial."""
    from studies.published import published_table

    experiment, trial = outcome.experiment, outcome.experiment.trials[-1]
    click.secho(experiment.name, bold=True, nl=False)
    click.echo(f": {experiment.title} ({experiment.source})")
    click.echo(
        f"{trial.environment.rounds} rounds, {outcome.regrets.shape[2]} repetitions; "
        f"found: {outcome.measured}"
    )
    table = published_table([outcome])
    columns = [table.columns.index(name) for name in SHOWN]
    rows = table.shown()[-len(experiment.claims) :]
    show_table(SHOWN, [[row[column] for column in columns] for row in rows])


def save_figures(outcomes: "Sequence[ExperimentResult]", folder: Path) -> None:
    """One figure for each experiment."""
    from belated.report.figures import save_figure
    from studies.published_figures import published_figure

    folder.mkdir(parents=True, exist_ok=True)
    command = "python -m studies " + shlex.join(sys.argv[1:])
    for outcome in outcomes:
        path = folder / f"published-{outcome.experiment.name}.svg"
        click.echo(f"Figure: {save_figure(published_figure(outcome), path, command)}", err=True)
