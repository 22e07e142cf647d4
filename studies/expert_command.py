"""python -m studies experts: the practical experts where they were found weak."""

import json

import click

from belated.cli.console import show_table


@click.command("experts")
@click.option("--worlds", type=click.IntRange(2), default=30, show_default=True)
@click.option("--games", type=click.IntRange(1), default=3, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@click.option("--workers", type=int, help="Threads to run on.  [default: one for each core]")
@click.option("--json", "as_json", is_flag=True, help="Print the tables as one JSON list.")
def experts_study(worlds: int, games: int, seed: int, workers: int | None, as_json: bool) -> None:
    """Play the practical experts, with and without their parts, on three families of worlds.

    Shares are in percent of uniform play's regret; in each family the worlds are drawn at random.
    """
    from studies.expert_worlds import FAMILIES, shares

    tables = [shares(family, worlds, games, seed, workers) for family in FAMILIES]
    if as_json:
        click.echo(json.dumps([row for table in tables for row in json.loads(table.to_json())]))
        return
    for table in tables:
        show_table(table.columns, table.shown())
