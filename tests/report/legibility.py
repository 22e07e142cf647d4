"""A check for text that is cut off at the edge of a figure or overlaps other text."""

from itertools import combinations
from unittest.mock import patch

from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure
from matplotlib.text import Text

from belated.report.style import figure_settings

RIM = 0.03  # inches of tolerance at the edges


def check_all_is_legible(figure: Figure, name: str = "") -> None:
    """Assert that everything lies inside the figure and that no two texts overlap."""
    texts = []

    def draw(text: Text, renderer: RendererBase) -> None:
        # slanted text is left out, because its box is much larger than its letters
        upright = text.get_rotation() % 90.0 == 0.0
        if text.get_visible() and text.get_text().strip() and upright:
            texts.append((text.get_text(), Text.get_window_extent(text, renderer).padded(-1.0)))

    with figure_settings():
        with patch.object(Text, "draw", draw):
            figure.draw_without_rendering()
        drawn = figure.get_tightbbox()
    wide, high = figure.get_size_inches()
    assert min(drawn.x0, drawn.y0) > -RIM, name
    assert drawn.x1 < wide + RIM, name
    assert drawn.y1 < high + RIM, name
    for (text, box), (other, place) in combinations(texts, 2):
        assert not box.overlaps(place), (name, text, other)
