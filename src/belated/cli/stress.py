"""belated stress: search for the games in which a learner does worst, and keep them."""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from belated.cli.console import one_line_errors, progress_of, show_table

if TYPE_CHECKING:
    from belated.stress.stress import Aim, StressResult


@click.command()
@click.argument("learner")
@click.option(
    "--against",
    metavar="LEARNER",
    help="Another learner: search for games in which it does better.",
)
@click.option("--arms", default=4, show_default=True, help="Number of arms.")
@click.option("--rounds", default=60, show_default=True, help="Number of rounds.")
@click.option(
    "--objective",
    type=click.Choice(["bound", "certificate", "regret"]),
    help="What to maximise: the regret divided by the theorem's bound, by the run's certificate, "
    "or, with regret, by the number of rounds.  [default: bound]",
)
@click.option(
    "--longest-delay",
    type=int,
    help="The largest delay, in rounds.  [default: any delay, or never]",
)
@click.option(
    "--restarts",
    type=int,
    help="Number of independent searches.  [default: 20, or no limit with --seconds]",
)
@click.option("--seconds", type=float, help="Time limit.  [default: none]")
@click.option("--steps", default=1000, show_default=True, help="Games tried in each restart.")
@click.option("--seed", default=1, show_default=True, help="The same seed finds the same games.")
@click.option("--workers", type=int, help="Processes to run on.  [default: one for each core]")
@click.option(
    "--best", default=5, show_default=True, help="How many of the games found to show and save."
)
@click.option(
    "--save",
    type=click.Path(path_type=Path),
    help="Write the games found into this folder, as cases.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the games found as one JSON list.")
def stress(
    learner: str,
    against: str | None,
    objective: "Aim | None",
    workers: int | None,
    best: int,
    save: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Search for the losses and delays in which LEARNER has the largest regret.

    By default the regret is compared with the learner's bound; with --against, with the regret of
    another learner. LEARNER is a name from `belated learners`, with options if you like
    (concealed:variant=repaired). If the learner draws arms at random, each game found is evaluated
    again with new draws. Ctrl-C ends the search and keeps what it has found.
    """
    from belated.checks import as_count
    from belated.stress.stress import stress

    with one_line_errors():
        if against is not None and objective is not None:
            raise ValueError("--objective is for one learner; with --against it is the difference")
        as_count(best, "best", 1)
        if save is not None:
            make_folder(save)
        try:
            with progress_of(f"Stressing {learner}") as progress:
                result = stress(
                    learner,
                    against,
                    objective=objective or "bound",
                    workers=(os.cpu_count() or 1) if workers is None else workers,
                    progress=progress,
                    **options,
                )
        except KeyboardInterrupt:
            click.echo("Interrupted before anything was found.", err=True)
            sys.exit(130)
        files = [] if save is None else result.save(save, best)
    if result.interrupted:
        click.echo("Interrupted; the best so far is kept.", err=True)
    if as_json:
        click.echo(json.dumps([found.content()["found"] for found in result.hard_games[:best]]))
    else:
        show_hard_games(result, best)
    for file in files:
        click.echo(f"Saved {file}", err=True)
    if result.interrupted:
        sys.exit(130)


def show_hard_games(result: "StressResult", best: int) -> None:
    """Print the hardest games as a table, and how to read it."""
    search = result.search
    title = " against ".join(each.label for each in search.objective.contenders)
    click.secho(title, bold=True, nl=False)
    size = f"{search.rounds} rounds and {search.arms} arms"
    if search.longest_delay is not None:
        size += f", no loss later than {search.longest_delay} rounds"
    click.echo(
        f": {search.objective.name} in games of {size}; "
        f"{len(result.hard_games)} restarts, {result.evaluations} games, seed {search.seed}"
    )
    table = result.table()
    drawn = any(found.half_width is not None for found in result.hard_games)
    hidden = set() if drawn else {"±", "in search"}
    if result.hard_games[0].score.bound is None:
        hidden.add("bound")
    columns = [k for k, name in enumerate(table.columns) if name not in hidden]
    rows = [[row[k] for k in columns] for row in table.shown()[:best]]
    show_table([table.columns[k] for k in columns], rows)
    if drawn:
        click.echo(
            "The value is from draws that the search has not used; ± is its 95 % interval.\n"
            "The value in search is optimistic: the game was selected on the same random draws."
        )


def make_folder(path: Path) -> None:
    """Make the folder for the games before the search begins."""
    if path.exists() and not path.is_dir():
        raise ValueError(f"{path} is a file; --save must name a folder")
    path.mkdir(parents=True, exist_ok=True)
