"""belated compare --published: the experiments of others, and what is found in them here."""

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from belated.cli.console import one_line_errors, progress_of, say_if_compiling, show_table

if TYPE_CHECKING:
    from belated.simulation.experiments import Experiment
    from belated.simulation.published import Outcome

SHOWN = ("learner", "published", "found", "±", "regret")


def carry_out_published(
    names: Sequence[str],
    repetitions: int,
    seed: int,
    workers: int | None,
    figures: Path | None,
    table: Path | None,
    as_json: bool,
) -> None:
    """Play the experiments, all if none is named; what is complete is kept on an interrupt."""
    from belated.simulation.experiments import EXPERIMENTS, experiment_named
    from belated.simulation.published import published_table
    from belated.simulation.table import check_format

    with one_line_errors():
        experiments = [experiment_named(name) for name in names or EXPERIMENTS]
        if table is not None:
            check_format(table)
        if figures is not None:
            if figures.exists() and not figures.is_dir():
                raise ValueError(f"{figures} is a file; figures need a folder")
            import belated.report.published  # noqa: F401
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
) -> "list[Outcome]":
    """The outcomes of all experiments, or of those that are complete."""
    from belated.simulation.published import played

    outcomes: list[Outcome] = []
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


def show_outcome(outcome: "Outcome") -> None:
    """What was published beside what is found, for the last trial."""
    from belated.simulation.published import published_table

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


def save_figures(outcomes: "Sequence[Outcome]", folder: Path) -> None:
    """One figure for each experiment."""
    from belated.report.figures import save_figure
    from belated.report.published import published_figure

    folder.mkdir(parents=True, exist_ok=True)
    command = "belated " + shlex.join(sys.argv[1:])
    for outcome in outcomes:
        path = folder / f"published-{outcome.experiment.name}.svg"
        click.echo(f"Figure: {save_figure(published_figure(outcome), path, command)}", err=True)
