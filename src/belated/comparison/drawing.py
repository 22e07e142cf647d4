"""The connection to `belated.report`, the optional package that draws comparisons.

The report imports comparisons and needs matplotlib, which a comparison does not need. So this
package does not import the report: it lists three of its functions by name, and a comparison loads
them on first use. Another package can draw instead if these names are replaced.
"""

import importlib
from typing import Any, Literal

Part = Literal["plot", "report", "notebook"]

PARTS: dict[Part, tuple[str, str]] = {
    "plot": ("belated.report.figures", "plotted"),  # comparison, kind, axes -> matplotlib figure
    "report": ("belated.report.page", "write_report"),  # (comparisons, path) -> path
    "notebook": ("belated.report.page", "notebook_view"),  # comparison -> HTML
}


def drawing_part(part: Part) -> Any:
    """Import and return the function that is listed under this name."""
    module, function = PARTS[part]
    return getattr(importlib.import_module(module), function)
