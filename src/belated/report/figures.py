"""All figures of a comparison, and files of them."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from belated.comparison.result import Comparison
from belated.report.arm_figures import delay_distributions, loss_delay_plane
from belated.report.formatting import clean
from belated.report.regret import final_regret, regret_over_time
from belated.report.style import Drawing, look
from belated.report.weights import arm_weights, rate_weights

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
}

FORMATS = ("png", "svg", "pdf")


def save_figures(
    comparisons: Sequence[Comparison], folder: str | Path, formats: Sequence[str] = ("png", "svg")
) -> list[Path]:
    """Write every figure of every comparison into a folder, which is made if need be."""
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
    """A short name for each comparison that files and links can bear, no two alike."""
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
    """Write one file, which appears only when it is complete, with the command inside."""
    partial = path.with_name(path.name + ".part")
    about = "Subject" if path.suffix == ".pdf" else "Description"
    metadata: dict[str, Any] = {"Title": path.stem, about: clean(command)}
    if path.suffix != ".png":
        metadata["CreationDate" if path.suffix == ".pdf" else "Date"] = None
    with look():
        figure.savefig(partial, format=path.suffix[1:], metadata=metadata)
    partial.replace(path)
    return path
