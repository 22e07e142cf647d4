"""Labels beside points: each in the position where it covers least.

Points that are very close to each other share one label.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from belated.arrays import Floats
from belated.report.formatting import listed, shorten
from belated.report.style import SMALL_SIZE, TEXT_BACKGROUND
from belated.report.text_fitting import POINTS_PER_INCH, axes_size, cut_to_width, text_width

SAME_PLACE = 0.045  # share of the axes: points closer than this have a common label
POINT_SIZE, LINE_SIZE = 0.044, 0.012  # of a point and of a line, as shares of the axes
LINE_HEIGHT = 1.7  # of a line of text, as a multiple of the font size
MAX_LABEL_WIDTH = 0.8  # share of the width of the axes


class Box(NamedTuple):
    """A rectangle, in units of the width and height of the axes."""

    left: float
    low: float
    width: float
    height: float

    def overlap(self, other: "Box") -> float:
        """Return the area that two boxes have in common."""
        wide = min(self.left + self.width, other.left + other.width) - max(self.left, other.left)
        high = min(self.low + self.height, other.low + other.height) - max(self.low, other.low)
        return max(wide, 0.0) * max(high, 0.0)

    def cost(self, taken: Sequence["Box"]) -> float:
        """Return the area shared with `taken` boxes, plus three times the area outside the axes."""
        beyond = self.width * self.height - self.overlap(Box(0.0, 0.0, 1.0, 1.0))
        return round(
            sum(map(self.overlap, taken)) + 3.0 * beyond, 9
        )  # so that rounding decides no tie


def label_points(axes: Axes, points: Floats, names: Sequence[str], lines: Sequence[Floats]) -> None:
    """Write a name beside each point, away from other points, names and lines where possible.

    Points and lines are arrays whose rows are (x, y). Call `lay_out` on the figure first: the free
    space depends on the size of the axes.
    """
    wide, high = axes_size(axes)
    line_high = LINE_HEIGHT * SMALL_SIZE / POINTS_PER_INCH / high
    to_axes = axes.transData + axes.transAxes.inverted()
    places = to_axes.transform(points)
    taken = [_square_around(place, POINT_SIZE) for place in places]
    taken += [
        _square_around(place, LINE_SIZE) for line in lines for place in to_axes.transform(line)
    ]
    for group in _groups_of_close_points(places):
        text = cut_to_width(
            _joint_label([shorten(names[n], 20) for n in group]), MAX_LABEL_WIDTH * wide, SMALL_SIZE
        )
        place = places[group[0]]
        choices = _positions(place, text_width(text, SMALL_SIZE) / wide, line_high)
        box = min(choices, key=lambda box: box.cost(taken))
        taken.append(box)
        before = box.left + box.width < place[0]
        axes.text(
            box.left + (box.width if before else 0.0),
            box.low + line_high / 2.0,
            text,
            transform=axes.transAxes,
            ha="right" if before else "left",
            va="center",
            fontsize=SMALL_SIZE,
            zorder=2.4,
            bbox=TEXT_BACKGROUND,
        )


def _square_around(place: Floats, size: float) -> Box:
    return Box(place[0] - size / 2.0, place[1] - size / 2.0, size, size)


def _joint_label(names: Sequence[str]) -> str:
    return listed(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} more"


def _positions(place: Floats, length: float, high: float) -> list[Box]:
    """List the boxes that a label may occupy: right, left, above and below its point."""
    x, y = place
    beside = [x + 0.03, x - 0.03 - length]
    above = [(shift, side) for side in (0.03, -0.03 - high) for shift in (0.5, 0.0, 1.0)]
    return [
        *(Box(left, y - high / 2.0, length, high) for left in beside),
        *(Box(x - length * shift, y + side, length, high) for shift, side in above),
    ]


def _groups_of_close_points(places: Floats) -> list[list[int]]:
    """Group the indices of points that are close to the first point of a group."""
    groups: list[list[int]] = []
    for n, place in enumerate(places):
        for group in groups:
            if np.abs(places[group[0]] - place).max() < SAME_PLACE:
                group.append(n)
                break
        else:
            groups.append([n])
    return groups
