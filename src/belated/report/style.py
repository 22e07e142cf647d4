"""The style of all figures: sizes, colours, dashes, markers, fonts and matplotlib's settings.

Learners differ by hue, dashes and marker, so that they can be told apart in black and white. Arms
and learning rates have shades from dark to light, in the order of the legend. Only bounds are
dash-dotted. Latin letters always come from the font that is part of matplotlib, so that a figure
looks the same on every machine.
"""

import functools
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

if TYPE_CHECKING:
    from belated.comparison.result import Comparison

try:
    import matplotlib.style
except ImportError:
    raise ValueError("figures need matplotlib: pip install 'belated[report]'") from None

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

FIGURE_WIDTH = 4.6  # inches: fits one column of a page, and a phone
TITLE_SIZE, TEXT_SIZE, SMALL_SIZE, NOTE_SIZE = 9.5, 8.5, 8.0, 7.0  # font sizes in points
INK, FAINT, PAPER = "#222222", "#6b6b6b", "#ffffff"  # text, secondary text, background
BOUND_DASHES = (0, (6, 1.5, 1.2, 1.5))  # dash-dotted

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#AA4499", "#56A5D9", "#C98A00", "#882255")
DASHES = ("-", (0, (5, 1.6)), (0, (1.4, 1.2)), (0, (9, 2.2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
SHADES = ("#0b3c5d", "#1f6a8c", "#3f97ac", "#74bcbf", "#a9d8cc", "#d9efdf")
RATE_SHADES = ("#a85a14", "#d88730", "#f0b264", "#f8d6a4", "#fdf0dc")
OTHERS_COLOUR = "#f1f1ee"  # of the arms or rates that have no shade of their own
TEXT_BACKGROUND = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.8}  # text over lines

LATIN_FONTS = ("DejaVu Sans",)  # part of matplotlib
OTHER_FONTS = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans", "PingFang SC", "Hiragino Sans",
    "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "WenQuanYi Zen Hei", "Arial Unicode MS",
)  # fmt: skip

SETTINGS = {
    "font.size": TEXT_SIZE,
    "text.parse_math": False,  # a label may contain dollar signs
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.labelsize": TEXT_SIZE,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": TEXT_SIZE,
    "axes.titlelocation": "left",
    "axes.grid.axis": "y",
    "grid.color": "#e4e4e0",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": SMALL_SIZE,
    "ytick.labelsize": SMALL_SIZE,
    "legend.fontsize": SMALL_SIZE,
    "legend.frameon": False,
    "lines.linewidth": 1.7,
    "lines.markersize": 5.0,
    "hatch.linewidth": 0.5,
    "hatch.color": "#b9b9b2",
    "axes.formatter.useoffset": False,
    "savefig.dpi": 200,
    "svg.fonttype": "path",  # letters as outlines, so that no browser replaces the font
    "svg.hashsalt": "belated",
}

_SETTINGS_LOCK = threading.RLock()  # matplotlib's settings are global to the process


class Style(NamedTuple):
    """The colour, dashes and marker of a learner in all figures of a comparison."""

    colour: str
    dashes: Any
    marker: str


@contextmanager
def figure_settings() -> Iterator[None]:
    """Apply belated's matplotlib settings while a block draws, measures or saves a figure.

    The settings are global, so only one thread at a time is inside such a block.
    """
    settings: dict[str, Any] = {**SETTINGS, "font.family": list(available_fonts())}
    with _SETTINGS_LOCK, warnings.catch_warnings(), matplotlib.style.context(["default", settings]):
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def with_figure_settings(draw: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Decorate a function so that it runs inside `figure_settings`."""

    @functools.wraps(draw)
    def drawn(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        with figure_settings():
            return draw(*args, **kwargs)

    return drawn


@functools.cache
def available_fonts() -> tuple[str, ...]:
    """List the fonts of a figure; each letter is drawn in the first of them that contains it.

    Which fonts there are for scripts other than Latin depends on the machine.
    """
    from matplotlib.font_manager import fontManager

    known = set(fontManager.get_font_names())
    return tuple(name for name in (*LATIN_FONTS, *OTHER_FONTS) if name in known)


def learner_styles(comparison: "Comparison") -> list[Style]:
    """Choose a style for each contender by its position; uniform play is grey."""
    chosen: list[Style] = []
    for each in comparison.contenders:
        k = sum(style.colour != FAINT for style in chosen)
        if each.name == "uniform" and FAINT not in (style.colour for style in chosen):
            chosen.append(Style(FAINT, (0, (1.0, 2.0)), "p"))
            continue
        colour, dashes = COLOURS[k % len(COLOURS)], DASHES[k % len(DASHES)]
        chosen.append(Style(colour, dashes, MARKERS[k % len(MARKERS)]))
    return chosen


def shades(count: int, ramp: Sequence[str] = SHADES) -> list[Any]:
    """Interpolate `count` colours from dark to light; their order shows in black and white too."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("belated", ramp)
    return [colours(k / max(count - 1, 1)) for k in range(count)]
