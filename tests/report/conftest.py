"""Fixtures for the fonts of a machine: figures must be correct with each of them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib.font_manager import FontEntry, fontManager

from belated.report import style

FONTS = ("ours", "bold", "mono")
HEAVY = dict.fromkeys(("font.weight", "axes.labelweight", "axes.titleweight"), "bold")


def forget_fonts() -> None:
    """Clear the font caches of matplotlib and of the figures' style."""
    style.available_fonts.cache_clear()
    fontManager._findfont_cached.cache_clear()


@pytest.fixture
def on_a_machine_with(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Return a function that leaves only matplotlib's own fonts and the given ones installed."""

    def install(*more: FontEntry) -> None:
        own = [each for each in fontManager.ttflist if _comes_with_matplotlib(each)]
        monkeypatch.setattr(fontManager, "ttflist", [*more, *own])
        forget_fonts()

    yield install
    monkeypatch.undo()
    forget_fonts()


@pytest.fixture(params=FONTS)
def font(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    on_a_machine_with: Callable[..., None],
) -> str:
    """Install only matplotlib's fonts, and draw in our font, in bold or in a monospaced font."""
    if request.param == "bold":
        for name, value in HEAVY.items():
            monkeypatch.setitem(style.SETTINGS, name, value)
    if request.param == "mono":
        monkeypatch.setattr(style, "LATIN_FONTS", ("DejaVu Sans Mono",))
    on_a_machine_with()
    return str(request.param)


@pytest.fixture
def false_arial() -> list[FontEntry]:
    """Wide fonts under the names of common ones that must not replace the font of the figures."""
    file = str(Path(mpl.get_data_path()) / "fonts" / "ttf" / "DejaVuSansMono.ttf")
    return [FontEntry(fname=file, name=name) for name in ("Arial", "Liberation Sans")]


def _comes_with_matplotlib(entry: FontEntry) -> bool:
    return Path(entry.fname).is_relative_to(mpl.get_data_path())
