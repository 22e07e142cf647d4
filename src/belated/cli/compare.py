"""belated compare, belated scenarios: play learners on the same games and report what happened."""

import json
import shlex
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from belated.cli.console import one_line_errors, progress_of, say_if_compiling, show_table

if TYPE_CHECKING:
    from belated.environments.environment import Environment
    from belated.simulation.comparison import Comparison
    from belated.simulation.contenders import Contender

DEFAULTS = ("full-information", "partially-concealed", "concealed", "uniform")
SHOWN = ("learner", "regret", "±", "against balanced", "bound", "loss per round")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list instead of text.")
def scenarios(as_json: bool) -> None:
    """List the scenarios: what each shows, its size and its options."""
    from belated.environments.scenarios import scenarios

    if as_json:
        keys = ("name", "shows", "real", "rounds", "arms", "options", "available", "why_not")
        rows = [{key: getattr(each, key) for key in keys} for each in scenarios()]
        click.echo(json.dumps([{**row, "options": dict(row["options"])} for row in rows]))
        return
    for each in scenarios():
        size = f"{each.rounds} rounds, {each.arms} arms" if each.available else "not available"
        data = ", real data" if each.real else ""
        click.echo(click.style(each.name, bold=True) + f"  ({size}{data})")
        click.echo(click.wrap_text(each.shows, 88, "  ", "  "))
        options = (
            name if value is None else f"{name}={value}" for name, value in each.options.items()
        )
        click.echo(click.wrap_text("options: " + ", ".join(options), 88, "  ", "           "))
        if each.why_not:
            click.echo(click.wrap_text(each.why_not, 88, "  ", "  "))


@click.command()
@click.argument("environments", metavar="SCENARIO...", nargs=-1, required=True)
@click.option(
    "--learner",
    "-l",
    "learners",
    multiple=True,
    metavar="LEARNER",
    help="A learner, as concealed or concealed:variant=repaired; repeat it for more.  "
    "[default: every learner of the paper, and uniform]",
)
@click.option("--repetitions", "-r", default=10, show_default=True, help="Games for each scenario.")
@click.option("--seed", default=1, show_default=True, help="The same seed gives the same games.")
@click.option("--workers", type=int, help="Threads to run on.  [default: one for each core]")
@click.option("--report", type=click.Path(path_type=Path), help="Write one HTML page here.")
@click.option(
    "--figures", type=click.Path(path_type=Path), help="Write every figure into this folder."
)
@click.option(
    "--table",
    type=click.Path(path_type=Path),
    help="Write a row for each run: .csv, .json or .parquet.",
)
@click.option(
    "--lower-bounds", is_flag=True, help="Show what no learner can promise to beat, by order."
)
@click.option("--json", "as_json", is_flag=True, help="Print the table as one JSON list.")
def compare(
    environments: Sequence[str],
    learners: Sequence[str],
    repetitions: int,
    seed: int,
    workers: int | None,
    report: Path | None,
    figures: Path | None,
    table: Path | None,
    lower_bounds: bool,
    as_json: bool,
) -> None:
    """Play learners on the same losses and delays, many times, and show who wins by how much.

    SCENARIO is a name from `belated scenarios`, with options if you like (late-best:delay=500), or
    a .csv or .parquet file with the columns round, arm, loss and delay. In one repetition all
    learners meet the same game. Ctrl-C ends the comparison and keeps what is complete.
    """
    from belated.environments.named import environment_named
    from belated.simulation.contenders import contenders

    with one_line_errors():
        chosen = contenders(learners or DEFAULTS)
        games = [environment_named(text) for text in environments]
        check_outputs(report, figures, table)
    say_if_compiling()
    comparisons = played(games, chosen, repetitions, seed, workers)
    if as_json:
        rows = [row for each in comparisons for row in json.loads(each.table().to_json())]
        click.echo(json.dumps(rows))
    else:
        for each in comparisons:
            show_comparison(each, lower_bounds)
    with one_line_errors():
        write_outputs(comparisons, report, figures, table)
    if len(comparisons) < len(games) or len(comparisons[-1].repetitions) < repetitions:
        sys.exit(130)


def check_outputs(report: Path | None, figures: Path | None, table: Path | None) -> None:
    """Refuse what cannot be written before anything is played."""
    from belated.simulation.table import check_format

    if table is not None:
        check_format(table)
    if report is not None:
        from belated.report.page import check_report

        check_report(report)
    if report is not None or figures is not None:
        import belated.report.figures  # noqa: F401


def played(
    games: "Sequence[Environment]",
    chosen: "Sequence[Contender]",
    repetitions: int,
    seed: int,
    workers: int | None,
) -> "list[Comparison]":
    """The comparisons, one for each environment; an interrupt keeps those that have begun."""
    from belated.simulation.compare import compare

    command = "belated " + shlex.join(sys.argv[1:])
    comparisons: list[Comparison] = []
    for game in games:
        try:
            with one_line_errors(), progress_of(game.name) as progress, warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a comparison cut short is said below
                result = compare(chosen, game, repetitions, seed, workers, progress)
        except KeyboardInterrupt:
            break
        comparisons.append(replace(result, command=command))
        if len(result.repetitions) < repetitions:
            break
    done = comparisons and len(comparisons[-1].repetitions) == repetitions
    if not done or len(comparisons) < len(games):
        click.echo("Interrupted; what is complete is kept.", err=True)
        if not comparisons:
            sys.exit(130)
    return comparisons


def show_comparison(comparison: "Comparison", lower_bounds: bool) -> None:
    """The table of one comparison, best learner first."""
    table = comparison.table()
    environment = comparison.environment
    click.secho(environment.name, bold=True, nl=False)
    click.echo(
        f": {environment.rounds} rounds, {environment.arms} arms, "
        f"{len(comparison.repetitions)} repetitions, seed {comparison.seed}"
    )
    if environment.shows:
        click.echo(environment.shows)
    columns = [table.columns.index(name) for name in SHOWN]
    order = sorted(range(len(table)), key=lambda k: table.column("regret")[k])
    rows = [[table.shown()[k][column] for column in columns] for k in order]
    show_table(SHOWN, rows)
    if lower_bounds:
        for bound in comparison.lower_bounds():
            click.echo(
                f"No learner can promise {bound['for']} a regret below the order of "
                f"{bound['order of regret']:,.0f} if every delay is {bound['delay']} "
                f"({bound['origin']}); the constant is unknown."
            )


def write_outputs(
    comparisons: "Sequence[Comparison]",
    report: Path | None,
    figures: Path | None,
    table: Path | None,
) -> None:
    """The files that were asked for."""
    if table is not None:
        from belated.simulation.table import Table

        rows = [row for each in comparisons for row in each.runs()]
        Table.of(rows).save(table)
        click.echo(f"Every run: {table}", err=True)
    if report is not None:
        from belated.report.page import write_report

        click.echo(f"Report: {write_report(comparisons, report)}", err=True)
    if figures is not None:
        from belated.report.figures import save_figures

        count = len(save_figures(comparisons, figures))
        click.echo(f"{count} figures in {figures}", err=True)
