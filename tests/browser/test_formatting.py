"""How the dashboard writes numbers, in the language it is written in."""

from importlib.resources import files
from typing import Any
from urllib.parse import quote

from tests.browser.visits import pytestmark  # noqa: F401

SOURCE = files("belated.service").joinpath("dashboard", "formatting.js").read_text(encoding="utf-8")
DURATIONS = {
    0: "0 s", 0.0904: "90 ms", 4.04: "4 s", 9.9: "9.9 s", 59.4: "59 s", 59.7: "1 min",
    60: "1 min", 119.6: "2 min", 125: "2 min 5 s", 3599.6: "1 h", 3600: "1 h", 12_000: "3 h 20 min",
    86_399.7: "1 d", 90_000: "1 d 1 h", 1_000_000: "11 d",
}  # fmt: skip


def test_durations(browser: Any) -> None:
    """In the unit that suits them, also just below the next: no 0 min 59 s."""
    page = browser.new_page()
    script = f"""async seconds => {{
      const {{ duration }} = await import("data:text/javascript,{quote(SOURCE)}");
      return seconds.map(duration);
    }}"""
    assert page.evaluate(script, list(DURATIONS)) == list(DURATIONS.values())
