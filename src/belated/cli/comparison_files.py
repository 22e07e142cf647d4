"""The files that `belated compare` writes: a table of runs, a report, and figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from belated.cli.console import check_folder

if TYPE_CHECKING:
    from belated.comparison.result import Comparison


def check_outputs(report: Path | None, figures: Path | None, table: Path | None) -> None:
    """Raise an error if an output file cannot be written, before anything is played."""
    from belated.comparison.table import check_format, check_writable

    if table is not None:
        check_format(table)
    if report is not None:
        from belated.report.page import check_report

        check_report(report)
        check_writable(report)
    check_folder(figures)
    if report is not None or figures is not None:
        import belated.report.figures  # noqa: F401


def write_outputs(
    comparisons: "Sequence[Comparison]",
    report: Path | None,
    figures: Path | None,
    table: Path | None,
) -> list[str]:
    """Write the requested files; returns the error messages of those that could not be written."""
    failed = []
    for target, write in ((table, save_runs), (report, save_report), (figures, save_pictures)):
        if target is None:
            continue
        try:
            click.echo(f"{write(comparisons, target)}: {target}", err=True)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            failed.append(f"{target} cannot be written: {reason}")
    return failed


def save_runs(comparisons: "Sequence[Comparison]", path: Path) -> str:
    """Save a table with a row for each run of all comparisons."""
    from belated.comparison.table import Table

    Table.of([row for each in comparisons for row in each.runs()]).save(path)
    return "Every run"


def save_report(comparisons: "Sequence[Comparison]", path: Path) -> str:
    """Write one HTML page with the report on all comparisons."""
    from belated.report.page import write_report

    write_report(comparisons, path)
    return "Report"


def save_pictures(comparisons: "Sequence[Comparison]", folder: Path) -> str:
    """Write every figure of all comparisons into a folder."""
    from belated.report.figures import save_figures

    return f"{len(save_figures(comparisons, folder))} figures"
