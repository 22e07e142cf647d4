"""Writes the figures of a study into a folder."""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from belated.report.figure_parts import Drawing


def write_figures(figures: "Mapping[str, Drawing]", folder: Path) -> None:
    """Write figures by name as SVG, each with the command that made it, and print their paths."""
    from belated.report.figures import save_figure

    folder.mkdir(parents=True, exist_ok=True)
    command = "python -m studies " + shlex.join(sys.argv[1:])
    for name, figure in figures.items():
        path = save_figure(figure, folder / f"{name}.svg", command)
        click.echo(f"Figure: {path}", err=True)
