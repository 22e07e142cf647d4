"""python -m studies judge: all bandits on the random worlds that were kept away from the design."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from belated.cli.console import one_line_errors, progress_of
from belated.cli.worlds import SETS

if TYPE_CHECKING:
    from belated.worlds.named_worlds import WorldSet
    from belated.worlds.world_result import WorldComparison

SHOWN = ("learner", "share", "±", "median", "95 % of runs", "worst run", "best", "wins", "losses")


@click.command("judge")
@click.option("--set", "world_set", type=click.Choice(SETS), default="judge", show_default=True)
@click.option("--worlds", "number", default=228, show_default=True, help="Six for each family.")
@click.option("--repetitions", "-r", default=10, show_default=True, help="Games for each world.")
@click.option("--seed", default=1, show_default=True, help="The same seed gives the same worlds.")
@click.option("--workers", type=int, help="Threads to run on.  [default: one for each core]")
@click.option("--table", type=click.Path(path_type=Path), help="Write a row for each game: .csv.")
@click.option(
    "--kept",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Play nothing; show what this table has.",
)
def judge_study(
    world_set: "WorldSet",
    number: int,
    repetitions: int,
    seed: int,
    workers: int | None,
    table: Path | None,
    kept: Path | None,
) -> None:
    """Play all bandits, and the practical one without each part, on random worlds.

    Each look at the judge set makes it worth less: docs/worlds.md has the ledger of ours, and
    `--kept docs/judge.csv` shows what was found. Ctrl-C keeps the worlds that are complete.
    """
    from belated.comparison.table import check_format
    from belated.worlds.world_compare import compare
    from studies.judge import judged, read_runs, runs_table

    with one_line_errors():
        if kept is not None:
            show(read_runs(kept))
            return
        if table is not None:
            check_format(table)
        try:
            with progress_of(f"{number} worlds") as progress:
                result = compare(
                    judged(), number, seed, world_set, (), repetitions, workers, progress
                )
        except KeyboardInterrupt:
            click.echo("Interrupted before any world was complete.", err=True)
            sys.exit(130)
    if table is not None:
        runs_table(result).save(table)
        click.echo(f"Every game: {table}", err=True)
    show(result)
    if not result.complete:
        sys.exit(130)


def show(result: "WorldComparison") -> None:
    """Print the targets, all learners, all families, and what each part is worth."""
    from belated.comparison.table import Table
    from studies.judge import family_table, parts_table, targets

    click.echo(f"Regret in percent of uniform play's on {len(result.worlds)} worlds.")
    for each in targets(result):
        click.echo(f"{'met' if each.met else 'NOT MET'}: {each.target}: {each.found}")
    rows = sorted(result.table(), key=lambda row: row["share"])
    learners = Table.of([{name: row[name] for name in SHOWN} for row in rows])
    for found in (learners, family_table(result), parts_table(result)):
        click.echo(f"\n{found}")
