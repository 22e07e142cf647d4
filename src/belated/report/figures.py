"""The list of all figures of a comparison, and functions that save figures to files."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from belated.report.style import figure_settings  # first: it says that matplotlib is missing

# isort: split
from belated.comparison.result import Comparison
from belated.report.arm_figures import delay_distributions, loss_delay_plane
from belated.report.context_figures import CONTEXT_FIGURES
from belated.report.figure_parts import Drawing
from belated.report.formatting import clean
from belated.report.regret_figures import final_regret, regret_over_time
from belated.report.weight_figures import arm_weights, rate_weights

__all__ = [
    "FIGURES",
    "arm_weights",
    "delay_distributions",
    "final_regret",
    "loss_delay_plane",
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
