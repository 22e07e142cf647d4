"""The seam to `belated.report`, the optional part that draws comparisons.

The report depends on comparisons and needs matplotlib, which a comparison does not. So this package
never imports it: a comparison asks here for one of the three functions below, which are declared by
name and loaded on first use. Another package could draw instead by replacing the names.
"""

import importlib
from typing import Any, Literal

Part = Literal["plot", "report", "notebook"]

PARTS: dict[Part, tuple[str, str]] = {
    "plot": ("belated.report.figures", "regret_over_time"),  # comparison -> matplotlib figure
    "report": ("belated.report.page", "write_report"),  # (comparisons, path) -> path
    "notebook": ("belated.report.page", "notebook_view"),  # comparison -> HTML
}


def drawing_part(part: Part) -> Any:
    """The function that draws this, from the module that is declared for it."""
    module, function = PARTS[part]
    return getattr(importlib.import_module(module), function)
