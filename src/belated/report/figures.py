"""The list of all figures of a comparison, and functions that save figures to files."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from belated.report.style import figure_settings  # first: it says that matplotlib is missing

# isort: split
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from belated.comparison.result import Comparison
from belated.report.arm_figures import (
    delay_distributions,
    draw_delay_distributions,
    draw_loss_delay_plane,
    loss_delay_plane,
    name_arms,
)
from belated.report.context_figures import CONTEXT_FIGURES
from belated.report.figure_parts import Drawing
from belated.report.formatting import clean
from belated.report.regret_figures import (
    draw_final_regret,
    draw_regret_over_time,
    final_regret,
    regret_over_time,
    write_final_regrets,
)
from belated.report.text_fitting import figure_of
from belated.report.weight_figures import arm_weights, rate_weights
from belated.specs import listed

__all__ = [
    "FIGURES",
    "arm_weights",
    "delay_distributions",
    "final_regret",
    "loss_delay_plane",
    "plotted",
    "rate_weights",
    "regret_over_time",
    "save_figure",
    "save_figures",
]

FIGURES: dict[str, Callable[[Comparison], Drawing | None]] = {
    "regret-over-time": regret_over_time,
    "final-regret": final_regret,
    "loss-delay-plane": loss_delay_plane,
    "delays": delay_distributions,
    "arm-weights": arm_weights,
    "rate-weights": rate_weights,
    **CONTEXT_FIGURES,
}

FORMATS = ("png", "svg", "pdf")


def plotted(comparison: Comparison, kind: str, ax: Axes | None) -> Figure | None:
    """Draw a figure by its name in `FIGURES`, as a new figure or into axes of the caller's."""
    if kind not in FIGURES:
        raise ValueError(f"kind is {kind!r}; it must be one of {listed(FIGURES, kind)}")
    if ax is None:
        return FIGURES[kind](comparison)
    if kind not in DRAWN_INTO:
        raise ValueError(f"{kind} has several panels or segments; it can be drawn without ax only")
    with figure_settings():
        DRAWN_INTO[kind](ax, comparison)
    return figure_of(ax)


def _regret_over_time_into(axes: Axes, comparison: Comparison) -> None:
    axes.legend(handles=draw_regret_over_time(axes, comparison))


def _final_regret_into(axes: Axes, comparison: Comparison) -> None:
    draw_final_regret(axes, comparison)
    write_final_regrets(axes, comparison)


def _loss_delay_plane_into(axes: Axes, comparison: Comparison) -> None:
    entries = draw_loss_delay_plane(axes, comparison)
    axes.legend(handles=entries)
    name_arms(axes, comparison, entries)


DRAWN_INTO: dict[str, Callable[[Axes, Comparison], None]] = {
    "regret-over-time": _regret_over_time_into,
    "final-regret": _final_regret_into,
    "loss-delay-plane": _loss_delay_plane_into,
    "delays": draw_delay_distributions,
}


def save_figures(
    comparisons: Sequence[Comparison], folder: str | Path, formats: Sequence[str] = ("png", "svg")
) -> list[Path]:
    """Save every figure of every comparison in a folder, which is created if it does not exist."""
    for each in formats:
        if each not in FORMATS:
            raise ValueError(f"format is {each!r}; it must be one of {', '.join(FORMATS)}")
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; figures need a folder")
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for stem, comparison in zip(stems(comparisons), comparisons, strict=True):
        for name, draw in FIGURES.items():
            figure = draw(comparison)
            if figure is not None:
                paths += [
                    save_figure(figure, folder / f"{stem}-{name}.{each}", comparison.command)
                    for each in formats
                ]
    return paths


def stems(comparisons: Sequence[Comparison]) -> list[str]:
    """Return a unique name for each comparison, of lower-case letters, digits and hyphens."""
    found: list[str] = []
    for comparison in comparisons:
        plain = re.sub(r"[^a-z0-9]+", "-", comparison.environment.name.lower()).strip("-")[:60]
        stem = plain or "game"
        number = 2
        while stem in found:
            stem = f"{plain or 'game'}-{number}"
            number += 1
        found.append(stem)
    return found


def save_figure(figure: Drawing, path: Path, command: str) -> Path:
    """Save a figure to a file, with the command that made it in the metadata.

    An interrupted save leaves no incomplete file at `path`.
    """
    partial = path.with_name(path.name + ".part")
    about = "Subject" if path.suffix == ".pdf" else "Description"
    metadata: dict[str, Any] = {"Title": path.stem, about: clean(command)}
    if path.suffix != ".png":
        metadata["CreationDate" if path.suffix == ".pdf" else "Date"] = None
    with figure_settings():
        figure.savefig(partial, format=path.suffix[1:], metadata=metadata)
    partial.replace(path)
    return path
