"""The scale of a regret axis: linear, or logarithmic where regrets differ by decades.

The logarithmic scale is linear around zero, so that regrets of zero and below have a place on it.
"""

import math
from collections.abc import Iterable
from typing import Literal

import numpy as np
from matplotlib.axes import Axes

from belated.report.formatting import number

DECADES_APART = 30.0  # regrets that differ by this factor need a logarithmic axis
MOST_DECADES = 4  # below the largest regret, on a logarithmic axis
LINEAR_PART = 0.4  # width of the part between 0 and the first power of ten, in decades


def set_regret_scale(axes: Axes, which: Literal["x", "y"], regrets: Iterable[float]) -> str:
    """Make the axis logarithmic if these mean regrets differ by decades; returns what to add.

    The text is for the axis' label; it is empty if the axis is linear.
    """
    sizes = sorted(abs(regret) for regret in regrets if abs(regret) > 1e-9)
    if not sizes or sizes[-1] < DECADES_APART * sizes[0]:
        return ""
    least = max(sizes[0], sizes[-1] * 10.0**-MOST_DECADES)
    linear = 10.0 ** math.floor(math.log10(least))
    scale = axes.set_xscale if which == "x" else axes.set_yscale
    scale("symlog", linthresh=linear, linscale=LINEAR_PART)
    return f", logarithmic above {number(linear)}"


def set_regret_ticks(axes: Axes, which: Literal["x", "y"]) -> None:
    """Put ticks at zero and powers of ten on a logarithmic axis; call it when limits are set."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    if axis.get_scale() == "symlog":
        low, high = axes.get_xlim() if which == "x" else axes.get_ylim()
        linear = axis.get_transform().linthresh  # type: ignore[attr-defined]
        top = math.floor(math.log10(max(high, -low, linear)) + 1e-9)
        powers = 10.0 ** np.arange(round(math.log10(linear)), top + 1)
        ticks = np.r_[-powers[::-1], 0.0, powers]
        axis.set_ticks(ticks[(ticks >= low) & (ticks <= high)])
        axis.set_ticks([], minor=True)
    axis.set_major_formatter(lambda value, _: number(value))
