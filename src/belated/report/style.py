"""The look of the figures: colours, lines and markers that also tell in black and white.

Learners differ by hue, dashes and marker. Arms and rates are shades from dark to light, in an order
that the legend repeats. Dash-dotted lines are kept for bounds. Letters are those of the font that
comes with matplotlib, so a figure is the same on every machine; what is as long as its user likes,
such as a name, is measured and cut where its room ends.
"""

import functools
import math
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from belated.report.formatting import number

if TYPE_CHECKING:
    from belated.comparison.result import Comparison

try:
    import matplotlib.style
except ImportError:
    raise ValueError("figures need matplotlib: pip install 'belated[report]'") from None

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure

from belated.report.measure import MARGIN, POINTS, figure_of, fitted, inches

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

WIDTH = 4.6  # inches: one column of a page, and a phone
HEAD, TEXT, SMALL, NOTE = 9.5, 8.5, 8.0, 7.0  # sizes of letters, in points
LONGEST = 34  # letters of a name in a legend
ENTRY = 0.18  # inches: the height of a line of a legend
HANDLE, PAD, BETWEEN = 3.4, 0.8, 2.0  # of a legend: its signs and spaces, in sizes of its letters
INK, FAINT, PAPER = "#222222", "#6b6b6b", "#ffffff"
BOUND = (0, (6, 1.5, 1.2, 1.5))

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#AA4499", "#56A5D9", "#C98A00", "#882255")
DASHES = ("-", (0, (5, 1.6)), (0, (1.4, 1.2)), (0, (9, 2.2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
SHADES = ("#0b3c5d", "#1f6a8c", "#3f97ac", "#74bcbf", "#a9d8cc", "#d9efdf")
RATE_SHADES = ("#a85a14", "#d88730", "#f0b264", "#f8d6a4", "#fdf0dc")
OTHERS = "#f1f1ee"
BACKING = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.8}  # of text that crosses lines

LATIN = ("DejaVu Sans",)  # comes with matplotlib
OTHER_SCRIPTS = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans", "PingFang SC", "Hiragino Sans",
    "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "WenQuanYi Zen Hei", "Arial Unicode MS",
)  # fmt: skip

SETTINGS = {
    "font.size": TEXT,
    "text.parse_math": False,  # a label may hold dollars
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.labelsize": TEXT,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": TEXT,
    "axes.titlelocation": "left",
    "axes.grid.axis": "y",
    "grid.color": "#e4e4e0",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "legend.frameon": False,
    "lines.linewidth": 1.7,
    "lines.markersize": 5.0,
    "hatch.linewidth": 0.5,
    "hatch.color": "#b9b9b2",
    "axes.formatter.useoffset": False,
    "savefig.dpi": 200,
    "svg.fonttype": "path",  # no browser chooses another font
    "svg.hashsalt": "belated",
}

_LOCK = threading.RLock()


class Style(NamedTuple):
    """How a learner is drawn, in every figure of a comparison."""

    colour: str
    dashes: Any
    marker: str


class Drawing(Figure):
    """A figure that shows itself in a notebook, whether or not pyplot is in use there."""

    def _repr_svg_(self) -> str:
        from belated.report.svg import svg_text

        return svg_text(self)


@contextmanager
def look() -> Iterator[None]:
    """The settings in force while a figure is drawn; one thread at a time, as they are global."""
    settings: dict[str, Any] = {**SETTINGS, "font.family": list(fonts())}
    with _LOCK, warnings.catch_warnings(), matplotlib.style.context(["default", settings]):
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def headline(figure: Drawing, text: str, high: float) -> None:
    """A title at the upper left of a figure that is so many inches high."""
    text = fitted(text, _whole(figure), HEAD, "bold")
    figure.suptitle(
        text, x=0.012, y=1.0 - 0.06 / high, ha="left", va="top", fontsize=HEAD, fontweight="bold"
    )


def _whole(figure: Figure) -> float:
    """The room between the margins of a figure."""
    return float(figure.get_size_inches()[0]) - 2.0 * MARGIN


def in_this_look(draw: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Run a function under `look`."""

    @functools.wraps(draw)
    def drawn(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        with look():
            return draw(*args, **kwargs)

    return drawn


@functools.cache
def fonts() -> tuple[str, ...]:
    """The fonts to draw letters with, the first that has a letter wins; only those of other scripts
    depend on the machine."""
    from matplotlib.font_manager import fontManager

    known = set(fontManager.get_font_names())
    return tuple(name for name in (*LATIN, *OTHER_SCRIPTS) if name in known)


def styles(comparison: "Comparison") -> list[Style]:
    """A style for each contender, by its place; uniform play is grey."""
    found: list[Style] = []
    for each in comparison.contenders:
        k = sum(style.colour != FAINT for style in found)
        if each.name == "uniform" and FAINT not in (style.colour for style in found):
            found.append(Style(FAINT, (0, (1.0, 2.0)), "p"))
            continue
        colour, dashes = COLOURS[k % len(COLOURS)], DASHES[k % len(DASHES)]
        found.append(Style(colour, dashes, MARKERS[k % len(MARKERS)]))
    return found


def shades(count: int, ramp: Sequence[str] = SHADES) -> list[Any]:
    """Colours from dark to light whose order is seen without hue."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("belated", ramp)
    return [colours(k / max(count - 1, 1)) for k in range(count)]


def blank(height: float) -> Drawing:
    """An empty figure of one column."""
    return Drawing(figsize=(WIDTH, height), layout="constrained", facecolor=PAPER)


def title(figure: Figure, name: str, what: str) -> None:
    """The title, flush left: whose figure it is, and of what."""
    room = _whole(figure) - inches(f": {what}", HEAD, "bold")
    text = f"{fitted(name, room, HEAD, 'bold')}: {what}"
    figure.suptitle(text, x=0.012, ha="left", fontsize=HEAD, fontweight="bold")


def count_axis(axis: Axis) -> None:
    """Numbers with commas between the thousands."""
    axis.set_major_formatter(lambda value, _: number(value))


def late_axis(axes: Axes, most: float) -> None:
    """Delays and missing losses: even near zero, logarithmic beyond, so that 0 and 10,000 fit."""
    axes.set_xscale("function", functions=(np.log1p, np.expm1))
    limit = 1.35 * max(most, 1.0)
    decades = 10.0 ** np.arange(math.floor(math.log10(limit)) + 1)
    ticks = np.sort(np.r_[decades, 3.0 * decades]) if decades.size < 4 else decades
    ticks = ticks[:: 1 + ticks.size // 9]
    axes.set_xticks([0.0, *ticks[ticks <= limit]])
    axes.set_xticks([], minor=True)
    axes.set_xlim(-0.13, limit)
    count_axis(axes.xaxis)


def named(label: str, most: int = LONGEST) -> str:
    """A label for a legend; matplotlib would leave out one that begins with an underscore."""
    text = fitted(label, WIDTH - _beside_a_name() - 2.0 * MARGIN, SMALL, most=most)
    return f" {text}" if text.startswith("_") else text


def key(axes: Axes, entries: Sequence[Any]) -> None:
    """The legend of a whole figure, by which it grows below; in one column if two have no room."""
    longest = max(inches(each.get_label(), SMALL) for each in entries)
    figure = figure_of(axes)
    columns = 2 if 2.0 * (longest + _beside_a_name()) <= _whole(figure) else 1
    figure.set_figheight(figure.get_figheight() + ENTRY * -(-len(entries) // columns))
    figure.legend(
        handles=entries,
        loc="outside lower left",
        ncols=columns,
        handlelength=HANDLE,
        handletextpad=PAD,
        columnspacing=BETWEEN,
    )


def _beside_a_name() -> float:
    """What a legend needs beside each of its names: the sign, and the spaces."""
    return (HANDLE + PAD + BETWEEN) * SMALL / POINTS
