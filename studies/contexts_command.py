"""python -m studies contexts: learners with contexts and without, and Vowpal Wabbit."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from belated.cli.console import one_line_errors, show_table
from belated.cli.play_all import Progress, play_all

if TYPE_CHECKING:
    from studies.contexts import ContextualWorld, WorldOutcome


@click.command("contexts")
@click.argument("names", metavar="[WORLD]...", nargs=-1)
@click.option(
    "--games", default=20, show_default=True, help="Games of each world for our learners."
)
@click.option(
    "--vowpal-games", default=0, show_default=True, help="Games of each world for Vowpal Wabbit."
)
@click.option("--seed", default=1, show_default=True, help="The same seed gives the same games.")
@click.option("--workers", type=int, help="Threads to run on.  [default: one for each core]")
@click.option(
    "--table", type=click.Path(path_type=Path), help="Write all rows here: .csv, .json or .parquet."
)
@click.option("--json", "as_json", is_flag=True, help="Print the table as one JSON list.")
def contexts_study(
    names: Sequence[str],
    games: int,
    vowpal_games: int,
    seed: int,
    workers: int | None,
    table: Path | None,
    as_json: bool,
) -> None:
    """Play learners that see contexts beside learners that do not, on eighteen worlds.

    WORLD is a name such as linear, conversions or digits; all are played by default. Regrets are
    against the arm of smallest mean loss in each round, in shares of uniform play's. Vowpal Wabbit
    takes half a millisecond a round for each of its 3 to 9 forms: give it few games. Ctrl-C ends
    the study and keeps the worlds that are complete.
    """
    from belated.comparison.table import check_format
    from studies import contexts

    with one_line_errors():
        chosen = contexts.worlds(names)
        if games < 0 or vowpal_games < 0 or games + vowpal_games == 0:
            raise ValueError(
                f"there are {games} games and {vowpal_games} for Vowpal Wabbit; neither may be "
                "below 0, nor both 0"
            )
        if table is not None:
            check_format(table)

    def play(world: "ContextualWorld", progress: Progress) -> "WorldOutcome":
        return contexts.played(world, (games, vowpal_games), seed, workers, progress)

    outcomes = play_all(chosen, play, "worlds")
    if not outcomes:
        sys.exit(130)
    found = contexts.contexts_table(outcomes)
    if as_json:
        click.echo(json.dumps(json.loads(found.to_json())))
    else:
        shown = contexts.by_world(found)
        click.echo("Regret against true means, in shares of uniform play's")
        show_table(shown.columns, shown.shown())
    if table is not None:
        found.save(table)
        click.echo(f"Every learner in every world: {table}", err=True)
    if len(outcomes) < len(chosen):
        sys.exit(130)
