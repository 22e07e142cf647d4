"""How wide text is in the font that it is drawn in, and text that fits into a given room.

Rooms are in inches and sizes in points. All of it holds under the settings of `look`.
"""

from bisect import bisect_right

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from belated.report.formatting import short

POINTS = 72.0  # in an inch
SLACK = 1.02  # a screen rounds the width of each letter
MARGIN = 0.06  # inches that stay free at the edges of a figure
MOST = 120  # letters of a label; a line has no room for more


def inches(text: str, size: float, weight: str | None = None) -> float:
    """The width of one line of text."""
    font = FontProperties(family=mpl.rcParams["font.family"], size=size, weight=weight)
    wide, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return SLACK * float(wide) / POINTS


def fitted(text: str, room: float, size: float, weight: str | None = None, most: int = MOST) -> str:
    """Clean text that fits into the room and has at most so many letters, cut off at the end."""
    if inches(short(text, most), size, weight) <= room:
        return short(text, most)
    lengths = range(1, most)
    enough = bisect_right(lengths, room, key=lambda n: inches(short(text, n), size, weight))
    return short(text, lengths[max(enough - 1, 0)])


def wrapped(text: str, room: float, size: float, weight: str | None = None) -> str:
    """Text in as many lines as it needs, broken between words."""
    lines: list[str] = []
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and inches(longer, size, weight) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return "\n".join(lines)


def settle(figure: Figure) -> None:
    """Lay a figure out, so that it is known where its axes will be."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)


def figure_of(axes: Axes) -> Figure:
    """The whole figure that axes are in."""
    figure = axes.get_figure()
    assert isinstance(figure, Figure)
    return figure


def room_in(axes: Axes) -> tuple[float, float]:
    """How wide and how high axes are, in a figure that is settled."""
    wide, high = figure_of(axes).get_size_inches()
    place = axes.get_position()
    return float(place.width * wide), float(place.height * high)


def room_from(axes: Axes) -> float:
    """The width from the left of axes to the edge of the figure that is settled."""
    wide = figure_of(axes).get_size_inches()[0]
    return float((1.0 - axes.get_position().x0) * wide) - MARGIN
