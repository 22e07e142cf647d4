"""The width of text in the font of the figures, and text cut or wrapped to a given width.

Widths are in inches and font sizes in points. Call these functions inside `figure_settings`, which
sets the font.
"""

from bisect import bisect_right

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from belated.report.formatting import shorten

POINTS_PER_INCH = 72.0
WIDTH_SLACK = 1.02  # a factor, since screens round the width of each letter
MARGIN = 0.06  # inches that stay empty at each edge of a figure
MAX_LETTERS = 120  # of a label: no line is wide enough for more


def text_width(text: str, size: float, weight: str | None = None) -> float:
    """Measure one line of text: its width in inches."""
    font = FontProperties(family=mpl.rcParams["font.family"], size=size, weight=weight)
    wide, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return WIDTH_SLACK * float(wide) / POINTS_PER_INCH


def cut_to_width(
    text: str, room: float, size: float, weight: str | None = None, most: int = MAX_LETTERS
) -> str:
    """Cut text at its end, with an ellipsis, to a width of `room` inches and to `most` letters."""
    if text_width(shorten(text, most), size, weight) <= room:
        return shorten(text, most)
    lengths = range(1, most)
    enough = bisect_right(lengths, room, key=lambda n: text_width(shorten(text, n), size, weight))
    return shorten(text, lengths[max(enough - 1, 0)])


def wrap_to_width(text: str, room: float, size: float, weight: str | None = None) -> str:
    """Break text between words into lines of at most `room` inches."""
    lines: list[str] = []
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size, weight) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return "\n".join(lines)


def lay_out(figure: Figure) -> None:
    """Run the layout engine of a figure, after which the positions of its axes are known."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)


def figure_of(axes: Axes) -> Figure:
    """Return the figure that contains these axes."""
    figure = axes.get_figure()
    assert isinstance(figure, Figure)
    return figure


def axes_size(axes: Axes) -> tuple[float, float]:
    """Return the width and height of axes in inches; call `lay_out` on their figure first."""
    wide, high = figure_of(axes).get_size_inches()
    place = axes.get_position()
    return float(place.width * wide), float(place.height * high)


def width_to_edge(axes: Axes) -> float:
    """Return the inches from the left of axes to the right margin; call `lay_out` first."""
    wide = figure_of(axes).get_size_inches()[0]
    return float((1.0 - axes.get_position().x0) * wide) - MARGIN
