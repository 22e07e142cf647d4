"""The options that the commands of all studies have."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

Command = Callable[..., Any]


def study_options(games_for_each: str) -> Callable[[Command], Command]:
    """Add the options of a study to a command; `games_for_each` says what is repeated."""
    options = [
        click.option(
            "--repetitions",
            "-r",
            default=10,
            show_default=True,
            help=f"Games for {games_for_each}.",
        ),
        click.option(
            "--seed", default=1, show_default=True, help="The same seed gives the same games."
        ),
        click.option(
            "--workers", type=int, help="Threads to run on.  [default: one for each core]"
        ),
        click.option(
            "--figures",
            type=click.Path(path_type=Path),
            help="Write every figure into this folder.",
        ),
        click.option(
            "--table",
            type=click.Path(path_type=Path),
            help="Write all rows here: .csv, .json or .parquet.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print the table as one JSON list."),
    ]

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add
