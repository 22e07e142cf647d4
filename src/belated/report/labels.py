"""Names beside points: each where it covers least, and one name for points at one place."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from belated.arrays import Floats
from belated.report.formatting import listed, short
from belated.report.measure import POINTS, fitted, inches, room_in
from belated.report.style import BACKING, SMALL

CLOSE = 0.045  # points nearer to each other than this share of the axes have one name
POINT, STROKE = 0.044, 0.012  # the size of a point, and of a line, in shares of the axes
LINE = 1.7  # the height of a line of text, in sizes of its letters
MOST = 0.8  # of the width of the axes is for one name


class Box(NamedTuple):
    """A rectangle in shares of the axes."""

    left: float
    low: float
    width: float
    height: float

    def overlap(self, other: "Box") -> float:
        """The area that two boxes have in common."""
        wide = min(self.left + self.width, other.left + other.width) - max(self.left, other.left)
        high = min(self.low + self.height, other.low + other.height) - max(self.low, other.low)
        return max(wide, 0.0) * max(high, 0.0)

    def cost(self, taken: Sequence["Box"]) -> float:
        """The area in common with what is taken, and three times that beyond the axes."""
        beyond = self.width * self.height - self.overlap(Box(0.0, 0.0, 1.0, 1.0))
        return round(sum(map(self.overlap, taken)) + 3.0 * beyond, 9)  # equal but for rounding


def name_points(axes: Axes, points: Floats, names: Sequence[str], lines: Sequence[Floats]) -> None:
    """Write a name beside each point, and keep off the lines; all are rows of (x, y).

    The figure is settled, since what is free depends on how large the axes are.
    """
    wide, high = room_in(axes)
    line_high = LINE * SMALL / POINTS / high
    to_axes = axes.transData + axes.transAxes.inverted()
    places = to_axes.transform(points)
    taken = [_square(place, POINT) for place in places]
    taken += [_square(place, STROKE) for line in lines for place in to_axes.transform(line)]
    for group in _groups(places):
        text = fitted(_text([short(names[n], 20) for n in group]), MOST * wide, SMALL)
        place = places[group[0]]
        choices = _choices(place, inches(text, SMALL) / wide, line_high)
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
            fontsize=SMALL,
            zorder=2.4,
            bbox=BACKING,
        )


def _square(place: Floats, size: float) -> Box:
    return Box(place[0] - size / 2.0, place[1] - size / 2.0, size, size)


def _text(names: Sequence[str]) -> str:
    return listed(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} more"


def _choices(place: Floats, length: float, high: float) -> list[Box]:
    """To the right, to the left, above and below."""
    x, y = place
    beside = [x + 0.03, x - 0.03 - length]
    above = [(shift, side) for side in (0.03, -0.03 - high) for shift in (0.5, 0.0, 1.0)]
    return [
        *(Box(left, y - high / 2.0, length, high) for left in beside),
        *(Box(x - length * shift, y + side, length, high) for shift, side in above),
    ]


def _groups(places: Floats) -> list[list[int]]:
    """The points by place, each group begun by its first point."""
    groups: list[list[int]] = []
    for n, place in enumerate(places):
        for group in groups:
            if np.abs(places[group[0]] - place).max() < CLOSE:
                group.append(n)
                break
        else:
            groups.append([n])
    return groups
