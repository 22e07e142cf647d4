"""Build the shared object of native learners: `python -m wheels OUT`."""

from pathlib import Path

import click

from wheels.building import build

# What must be native; `make wheel` adds every other registered learner.
LEARNERS = (
    "full-information",
    "partially-concealed",
    "concealed",
    "practical-bandit",
    "practical-experts",
    "exp3",
    "thompson",
    "uniform",
    "delayed-ucb1",
)


@click.command()
@click.argument("out", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--learners", help="Names, separated by commas, instead of the most important ones.")
@click.option("--jobs", type=click.IntRange(1), help="How many processes; as many as cores.")
def main(out: Path, learners: str | None, jobs: int | None) -> None:
    """Compile learners and link them to the shared object OUT."""
    names = learners.split(",") if learners else LEARNERS
    steps = build(names, out, jobs)
    size = out.stat().st_size / 1e6
    click.echo(f"{out}: {len(steps)} steps of {len(names)} learners, {size:.2f} MB")


if __name__ == "__main__":
    main()
