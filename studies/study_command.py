"""python -m studies scenarios: every learner on every scenario."""

import csv
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from belated.cli.console import check_folder, one_line_errors, show_table
from belated.cli.play_all import compare_all
from studies.figure_files import write_figures
from studies.study_options import study_options

if TYPE_CHECKING:
    from belated.comparison.table import Table
    from belated.report.figure_parts import Drawing

SHOWN = ("learner", "knows", "mean", "worst", "rank", "within 5 %")


@click.command("scenarios")
@click.argument("group", required=False)
@click.option(
    "--kept",
    type=click.Path(path_type=Path),
    help="Play nothing: show and draw the table that --table has written.",
)
@study_options("each scenario")
def scenarios_study(
    group: str | None,
    kept: Path | None,
    repetitions: int,
    seed: int,
    workers: int | None,
    figures: Path | None,
    table: Path | None,
    as_json: bool,
) -> None:
    """Play every learner on every scenario, once told what it must know and once guessing it.

    GROUP limits the study to the scenarios on which the practical learners are judged: tuned-on,
    held-out or hostile. Ctrl-C ends the study and keeps the scenarios that are complete. `--kept
    docs/study.csv --figures docs/images` draws the figures of the docs from their table.
    """
    from belated.comparison.table import check_format
    from studies.scenario_groups import games_of, judged
    from studies.study import games_of_the_study, study_learners, study_table

    if kept is not None:
        with one_line_errors(kept):
            found = read_table(kept)
        show(found, as_json)
        if figures is not None:
            write_figures(figures_of(found, group), figures)
        return
    with one_line_errors():
        if table is not None:
            check_format(table)
        games = games_of_the_study() if group is None else games_of(group)
        if figures is not None:
            check_folder(figures)
            import studies.study_figures  # noqa: F401
    chosen = study_learners() if group is None else judged()
    contenders = [each.contender for each in chosen]
    comparisons = compare_all(games, contenders, repetitions, seed, workers)
    if not comparisons:
        sys.exit(130)
    found = study_table(chosen, comparisons)
    show(found, as_json)
    if table is not None:
        found.save(table)
        click.echo(f"Every learner in every scenario: {table}", err=True)
    if figures is not None:
        write_figures(figures_of(found, group), figures)
    if len(comparisons) < len(games):
        sys.exit(130)


def read_table(path: Path) -> "Table":
    """Return the table of a study that was written as CSV, with its numbers as numbers."""
    from belated.comparison.table import Table

    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return Table.of([{name: number_in(cell) for name, cell in row.items()} for row in rows])


def number_in(cell: str) -> float | str | None:
    """Return a cell of CSV: a number, a text, or None if it is empty."""
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell or None


def show(table: "Table", as_json: bool) -> None:
    """Print the standings as a table, or every row as JSON."""
    from studies.study import BEST_OF_EACH, standings

    if as_json:
        click.echo(json.dumps(json.loads(table.to_json())))
        return
    changing = {row["scenario"] for row in table if row["against"] == BEST_OF_EACH}
    for experts, name in ((True, "experts"), (False, "bandits")):
        click.secho(name, bold=True, nl=False)
        click.echo(": regret as a part of uniform play's, over all scenarios")
        standing = standings(table, experts)
        columns = [standing.columns.index(column) for column in SHOWN]
        show_table(SHOWN, [[row[column] for column in columns] for row in standing.shown()])
    if changing:
        names = ", ".join(sorted(changing))
        click.echo(f"Against the {BEST_OF_EACH}, as chance is as good as any arm: {names}.")


def figures_of(table: "Table", group: str | None) -> "dict[str, Drawing]":
    """Draw a figure of experts, one of bandits, and one for each learner played without parts."""
    from studies.ablation_figures import parts_figure, parts_of
    from studies.study_figures import NAMES, study_figure

    title = "The study" if group is None else f"The study of {group} scenarios"
    drawn = {name: study_figure(table, experts, title) for experts, name in NAMES.items()}
    for learner, parts in parts_of(table).items():
        drawn[f"parts-of-{learner}"] = parts_figure(learner, parts)
    return {f"{group or 'study'}-{name}": figure for name, figure in drawn.items()}
