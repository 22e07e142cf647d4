"""belated worlds lists the families of random worlds; `belated compare --worlds` plays them."""

import json
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from belated.cli.console import one_line_errors, progress_of, show_table

if TYPE_CHECKING:
    from belated.worlds.named_worlds import WorldSet
    from belated.worlds.world_result import WorldComparison

RIVALS = ("practical-bandit", "thompson", "leading-arm")
SETS: "tuple[WorldSet, ...]" = ("design", "judge")
SHOWN = ("learner", "share", "±", "tail", "worst run", "best", "wins", "losses")


class WorldChoice(NamedTuple):
    """Which worlds are drawn: how many, of which set, and of which families (all if none)."""

    number: int
    world_set: "WorldSet"
    families: Sequence[str]


@click.command()
@click.argument("names", metavar="NAME...", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list instead of text.")
def worlds(names: Sequence[str], as_json: bool) -> None:
    """List the families of random worlds, or say what the worlds of these names are.

    NAME is a family and a number, as seasons/17: always the same world. `belated compare --worlds`
    plays learners on many of them.
    """
    from belated.worlds.named_worlds import families, world

    with one_line_errors():
        if names:
            found = [world(name) for name in names]
            rows = [{"name": each.name, "set": each.set, "line": each.line} for each in found]
        else:
            rows = [
                {
                    "name": each.name,
                    "set": "judge" if each.judge_only else "design and judge",
                    "line": each.shows,
                }
                for each in families().values()
            ]
    if as_json:
        click.echo(json.dumps(rows))
        return
    for row in rows:
        click.echo(click.style(row["name"], bold=True) + f"  ({row['set']})")
        click.echo(click.wrap_text(row["line"], 88, "  ", "  "))


def compare_worlds(
    chosen: WorldChoice,
    learners: Sequence[str],
    games: int,
    seed: int,
    workers: int | None,
    table: Path | None,
    as_json: bool,
) -> None:
    """Play learners on random worlds and print their shares of uniform play's regret."""
    from belated.comparison.table import check_format
    from belated.worlds.world_compare import compare

    with one_line_errors(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an interrupt is said below
        if table is not None:
            check_format(table)
        if chosen.world_set == "judge":
            click.echo("The judge set: each look makes it worth less; keep a ledger.", err=True)
        try:
            with progress_of(f"{chosen.number} worlds") as progress:
                result = compare(
                    learners or RIVALS,
                    chosen.number,
                    seed,
                    chosen.world_set,
                    chosen.families,
                    games,
                    workers,
                    progress,
                )
        except KeyboardInterrupt:
            click.echo("Interrupted before any world was complete.", err=True)
            sys.exit(130)
        show_worlds(result, as_json)
        if table is not None:
            result.runs().save(table)
            click.echo(f"Every run: {table}", err=True)
    if not result.complete:
        done = f"{len(result.worlds)} of {result.asked} worlds are complete"
        click.echo(f"Interrupted; {done}, and what is complete is kept.", err=True)
        sys.exit(130)


def show_worlds(result: "WorldComparison", as_json: bool) -> None:
    """Print what came of it, best learner first: over all worlds, and by family."""
    tables = {
        "learners": result.table(),
        "families": result.by_family(),
        "worlds": result.by_world(),
    }
    if as_json:
        click.echo(json.dumps({name: json.loads(each.to_json()) for name, each in tables.items()}))
        return
    click.echo(
        f"Regret in percent of uniform play's on {len(result.worlds)} worlds, clipped to "
        "[-100, 150]. ± is half the 95 % interval over worlds, tail the mean over worlds of the "
        f"95th percentile of runs. Wins and losses are against {result.labels[0]}."
    )
    rows = sorted(tables["learners"], key=lambda row: row["share"])
    show_table(SHOWN, [[said(row[name]) for name in SHOWN] for row in rows])
    columns = tables["families"].columns
    show_table(columns, [[said(row[name]) for name in columns] for row in tables["families"]])
    little = sum(each.says_little for each in result.worlds)
    if little:
        click.echo(f"In {little} of these worlds uniform play's regret is nearly 0.")


def said(value: str | float) -> str:
    """Return a value of a table as text, a share with one decimal."""
    return f"{value:.1f}" if isinstance(value, float) else str(value)
