"""python -m benchmarks: how long our code takes, beside other software."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from belated.cli.console import one_line_errors

if TYPE_CHECKING:
    from benchmarks.bench import Bench
    from benchmarks.measure import Measured

QUICK = "Quick: these numbers show that everything runs and are not for quoting."


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("numbers", metavar="[MEASURE]...", nargs=-1)
@click.option("--list", "listing", is_flag=True, help="List the measures with their goals.")
@click.option("--quick", is_flag=True, help="See that everything runs; not for quoting.")
@click.option("--check", is_flag=True, help="Exit with 1 if a goal is missed.")
@click.option(
    "--figure", type=click.Path(path_type=Path), help="Draw the ratios: .svg, .png or .pdf."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def bench(
    numbers: Sequence[str],
    listing: bool,
    quick: bool,
    check: bool,
    figure: Path | None,
    as_json: bool,
) -> None:
    """Measure the speed of learners beside their peers, as ratios taken in one process.

    MEASURE is a number from --list; all are taken by default, which takes some minutes. Peers that
    are installed (`make bench` installs them) are measured in turns with us, those that are not
    are named. Ctrl-C ends the benchmark and shows what was measured so far.
    """
    from benchmarks.machine import use_one_thread

    use_one_thread()
    from benchmarks.bench import take_measures
    from benchmarks.catalogue import measures_numbered
    from benchmarks.measure import Effort

    with one_line_errors():
        chosen = measures_numbered(numbers)
        if figure is not None:
            import belated.report.style  # noqa: F401 (says so if matplotlib is missing)
            from benchmarks.figure import check_figure

            check_figure(figure)
    if listing:
        for measure in chosen:
            click.secho(f"{measure.number:2} {measure.title}", bold=True, nl=False)
            click.echo(f": {measure.goal}")
            click.echo(click.wrap_text(measure.compares, 88, "   ", "   "))
        return
    with status_line() as status:
        result = take_measures(chosen, Effort(quick), status)
    if as_json:
        click.echo(json.dumps(result.content()))
    else:
        show_bench(result)
    if figure is not None:
        from benchmarks.figure import save_figure

        with one_line_errors(figure):
            save_figure(result, figure)
        click.echo(f"Figure: {figure}", err=True)
    if result.interrupted:
        click.echo("Interrupted; this is what was measured so far.", err=True)
        sys.exit(130)
    if result.failed or (check and result.missed):
        sys.exit(1)


def show_bench(result: "Bench") -> None:
    """Print the machine, the peers and the tables."""
    facts = result.machine
    click.echo(f"{facts['cpu']}, {facts['cores']} cores, {facts['system']}")
    click.echo(", ".join(f"{name} {facts[name]}" for name in ("python", "numpy", "numba")))
    present = [f"{peer.name} {peer.version}" for peer in result.peers if peer.usable]
    click.echo(f"Peers: {', '.join(present) or 'none'}")
    for peer in result.peers:
        if not peer.usable:
            click.echo(f"Not measured: {peer.name}, {peer.reason}")
    if result.effort.quick:
        click.secho(QUICK, bold=True)
    for each in result.measured:
        show_measured(each)


def show_measured(measured: "Measured") -> None:
    """Print the table of one measure; it is narrow, with no lines between the cells."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from benchmarks.formatting import COLUMNS, rows_of

    measure = measured.measure
    click.secho(f"\n{measure.number} {measure.title}", bold=True, nl=False)
    click.echo(f": {measure.goal}")
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    rows = rows_of(measured)
    used = [k for k in range(len(COLUMNS)) if any(row[k] for row in rows)]
    for k in used:
        table.add_column(COLUMNS[k], justify="right" if k else "left", no_wrap=k == 0)
    for row in rows:
        style = "bold" if row[-1] == "NO" else ""
        table.add_row(*(Text(row[k], style) for k in used))
    if measured.results:
        Console(file=sys.stdout).print(table)
    if measured.failure:
        click.echo(f"Not finished. {measured.failure}")
    elif not measured.results:
        click.echo("Nothing to compare with: none of its peers is installed.")


@contextmanager
def status_line() -> Iterator[Callable[[str], None]]:
    """Show a line on standard error that says what is being measured, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console
    from rich.markup import escape

    console = Console(file=sys.stderr)
    with console.status("Benchmarking") as line:
        yield lambda text: line.update(escape(text))


if __name__ == "__main__":
    bench(prog_name="python -m benchmarks")
