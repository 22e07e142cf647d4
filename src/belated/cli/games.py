"""belated game: write one game of a scenario to a file that compare, sweep and replay take."""

from pathlib import Path

import click

from belated.cli.console import one_line_errors


@click.command()
@click.argument("environment", metavar="SCENARIO")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--seed", default=1, show_default=True, help="The seed given to compare or sweep.")
@click.option("--repetition", default=0, show_default=True, help="The repetition, counted from 0.")
def game(environment: str, file: Path, seed: int, repetition: int) -> None:
    """Write one game of SCENARIO to FILE: all losses and delays, as compare plays them.

    FILE ends in .csv, .csv.gz, .parquet or .json. `belated compare FILE` and `belated sweep FILE`
    play it, and `belated replay FILE --learner NAME` runs a learner along a .json file.
    """
    from belated.environments.environment_specs import environment_named
    from belated.environments.game_files import check_game_file, export_game

    with one_line_errors():
        check_game_file(file)
        chosen = environment_named(environment)
        export_game(chosen, file, seed, repetition)
    click.echo(f"Game: {file}", err=True)
    options = []
    if file.suffix != ".json":
        if not chosen.units.is_unit:
            options.append("--loss-range {:g} {:g}".format(*chosen.loss_range))
        if chosen.features:
            options.append(f"--features {','.join(chosen.features)}")
    if options:
        click.echo(f"Play it with {' '.join(options)}.", err=True)
