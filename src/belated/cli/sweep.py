"""belated sweep: make a grid of runs on all cores or a Dask cluster, and store each of them."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from belated.cli.console import one_line_errors, progress_of, show_table

if TYPE_CHECKING:
    from belated.comparison.table import Table
    from belated.sweep.grid import Grid
    from belated.sweep.sweep import SweepResult
    from belated.sweep.workers import Workers

MOST_NAMED = 10


@click.command()
@click.argument("scenarios", metavar="SCENARIO...", nargs=-1, required=True)
@click.option(
    "--learner",
    "-l",
    "learners",
    multiple=True,
    required=True,
    metavar="LEARNER",
    help="A learner, as concealed or 'concealed:variant=paper|repaired'; repeat it for more.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="OPTION=VALUE,...",
    help="An option of the scenarios and its values, as delay=10,100; repeat it for more.",
)
@click.option("--seeds", default="1:10", show_default=True, help="Seeds, as 1:50 or 1,2,7.")
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    default="sweep.db",
    show_default=True,
    help="The file in which all runs are stored.",
)
@click.option(
    "--table",
    type=click.Path(path_type=Path),
    help="Write a row for each run: .csv, .json or .parquet.",
)
@click.option("--workers", type=int, help="Processes to run on.  [default: one for each core]")
@click.option("--scheduler", metavar="ADDRESS", help="Run on the Dask cluster with this scheduler.")
@click.option("--retry-failed", is_flag=True, help="Repeat the runs that failed before.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with all rows.")
def sweep(
    scenarios: Sequence[str],
    learners: Sequence[str],
    settings: Sequence[str],
    seeds: str,
    store: Path,
    table: Path | None,
    workers: int | None,
    scheduler: str | None,
    retry_failed: bool,
    as_json: bool,
) -> None:
    """Run every SCENARIO with every learner, every value of every option, and every seed.

    Each run is stored as soon as it is complete. If a sweep was interrupted or killed, the same
    command continues it. With more seeds or learners, only the new runs are made. The exit code is
    1 if a run failed.
    """
    with one_line_errors():
        grid = grid_of(scenarios, settings, learners, seeds)
        check_table(table)
        with workers_of(workers, scheduler) as crew:
            report = carried_out(grid, store, crew, retry_failed)
        if table is not None:
            report.table.save(table)
            click.echo(f"Every run: {table}", err=True)
    if as_json:
        click.echo(json.dumps(as_object(report)))
    else:
        show_report(report)
    name_failures(report)
    if report.failures:
        sys.exit(1)


def grid_of(
    scenarios: Sequence[str], settings: Sequence[str], learners: Sequence[str], seeds: str
) -> "Grid":
    """Make the grid that the arguments of the command describe."""
    from belated.sweep.grid import Grid

    options = ",".join(each.replace(",", "|") for each in settings)
    joined = [
        text if not options else f"{text}{',' if ':' in text else ':'}{options}"
        for text in scenarios
    ]
    return Grid(joined, learners, seeds_of(seeds))


def seeds_of(text: str) -> Sequence[int]:
    """Return the seeds in text such as "7", "1:50" (both included) or "1:5,9"."""
    from belated.sweep.grid import MOST_RUNS

    parts = []
    for part in text.split(","):
        first, colon, last = part.partition(":")
        try:
            parts.append(range(int(first), int(last if colon else first) + 1))
        except ValueError:
            raise ValueError(f"--seeds is {text!r}; it must read 7, 1:50 or 1,2,7") from None
        if not parts[-1]:
            raise ValueError(f"--seeds is {text!r}; in 1:50 the first must not be above the last")
    if sum(map(len, parts)) > MOST_RUNS:
        raise ValueError(f"--seeds is {text!r}; these are more than {MOST_RUNS}")
    return [seed for part in parts for seed in part]


def check_table(table: Path | None) -> None:
    """Raise an error if the table cannot be written, before anything is run."""
    from belated.comparison.table import check_format

    if table is not None:
        check_format(table)


@contextmanager
def workers_of(count: int | None, scheduler: str | None) -> Iterator["Workers"]:
    """Yield the workers: processes on this machine, or a Dask cluster if a scheduler is given."""
    from belated.sweep.workers import GivenWorkers, LocalWorkers, dask_executor

    if scheduler is None:
        yield LocalWorkers(count)
        return
    if count is not None:
        raise ValueError("--workers is for this machine; a cluster knows its own")
    with dask_executor(scheduler) as executor:
        yield GivenWorkers(executor)


def carried_out(grid: "Grid", store: Path, workers: "Workers", retry_failed: bool) -> "SweepResult":
    """Run the sweep with a progress bar; if it ends early, a message says how to continue it."""
    from belated.sweep.sweep import SweepError, run_sweep

    try:
        with progress_of("Sweep") as progress:
            return run_sweep(grid, store, workers, progress, retry_failed)
    except SweepError as error:
        raise click.ClickException(str(error)) from None
    except KeyboardInterrupt as interrupt:
        click.echo(f"Interrupted: {interrupt}.", err=True)
        sys.exit(130)


def as_object(report: "SweepResult") -> dict[str, Any]:
    """Return the result of a sweep as an object for JSON."""
    return {
        "runs": len(report.table),
        "before": report.before,
        "failed": len(report.failures),
        "resubmitted": report.resubmitted,
        "duplicates": report.duplicates,
        "table": json.loads(report.table.to_json()),
    }


def show_report(report: "SweepResult") -> None:
    """Print the mean regret of each learner over all seeds, and the number of runs."""
    summary = summarised(report.table)
    if len(summary):
        show_table(summary.columns, summary.shown())
    lost = f", {report.resubmitted} lost and handed in again" if report.resubmitted else ""
    click.echo(
        f"{len(report.table)} runs, of which {report.before} were stored before{lost}.", err=True
    )


def summarised(table: "Table") -> "Table":
    """Return the mean regret with its 95 % confidence interval for each scenario and learner.

    Scenarios and learners with different options have rows of their own.
    """
    import numpy as np

    from belated.analysis.statistics import estimate
    from belated.comparison.table import Table

    before_seed = table.columns[: table.columns.index("seed")]
    places = [name for name in before_seed if not name.startswith("learner_")]
    groups: dict[tuple[Any, ...], list[float]] = {}
    for row in table:
        if row.get("regret") is not None:
            groups.setdefault(tuple(row[name] for name in places), []).append(row["regret"])
    rows = []
    for place, regrets in groups.items():
        found = estimate(np.array(regrets))
        regret = {"regret": float(found.mean), "±": float(found.half_width)}
        rows.append({**dict(zip(places, place, strict=True)), "runs": len(regrets), **regret})
    return Table.of(rows)


def name_failures(report: "SweepResult") -> None:
    """Print which runs failed, and why."""
    from belated.sweep.grid import GridRun

    for key, failure in list(report.failures.items())[:MOST_NAMED]:
        click.echo(f"Failed: {GridRun.of(key)}: {failure}", err=True)
    if len(report.failures) > MOST_NAMED:
        click.echo(f"Failed: {len(report.failures) - MOST_NAMED} more", err=True)
