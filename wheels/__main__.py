"""Build the shared object of native learners: `python -m wheels OUT`."""

import sys
import time
from pathlib import Path

import click

from belated.learners.registry import registered
from wheels.building import build

# They take longest to compile, and so they come first.
FIRST = ("practical-bandit", "partially-concealed", "full-information", "practical-experts")


@click.command()
@click.argument("out", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--learners", help="Names, separated by commas; without it, all learners.")
@click.option("--jobs", type=click.IntRange(1), help="How many processes; else one for each core.")
def main(out: Path, learners: str | None, jobs: int | None) -> None:
    """Compile learners and link them to the shared object OUT."""
    started = time.monotonic()
    names = learners.split(",") if learners else list(dict.fromkeys((*FIRST, *registered())))
    for done, total, learner in build(names, out, jobs):
        seconds = time.monotonic() - started
        print(f"{done}/{total} {learner}, after {seconds:.0f} s", file=sys.stderr, flush=True)
    print(f"{out}: {len(names)} learners in {out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
