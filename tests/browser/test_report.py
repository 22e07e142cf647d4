"""The report in a real browser: it asks for nothing, breaks nothing, and fits any screen."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from belated.report.context_figures import CONTEXT_FIGURES
from belated.report.figures import FIGURES
from belated.report.page import write_report
from tests.browser.visits import (
    CONTRASTS,
    OVERFLOW,
    Visit,
    pytestmark,  # noqa: F401
)
from tests.report.example_comparisons import ordinary, unusual

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

# The games have no contexts, and the weights of the rates do not change in them.
KINDS = set(FIGURES) - set(CONTEXT_FIGURES) - {"rate-weights"}
SMALLEST = """() => Math.min(...[...document.querySelectorAll('figure > svg')].map(svg => {
  const box = svg.getBoundingClientRect();
  return Math.min(box.width, box.height);
}))"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of two comparisons, one of them with labels that are no friends of HTML."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    return write_report([ordinary(), unusual("odd labels")], path)


@pytest.fixture(params=[(1280, "light"), (390, "light"), (1280, "dark"), (390, "dark")], ids=str)
def visit(request: pytest.FixtureRequest, browser: Any, report: Path) -> Iterator[Visit]:
    """The report on a desk and on a phone, by day and by night."""
    opened = Visit(browser, report.as_uri(), *request.param)
    yield opened
    opened.page.close()


def test_the_report_in_a_browser(visit: Visit, report: Path) -> None:
    """One request, no trouble, every figure there, nothing wider than the screen, all readable."""
    assert visit.requests == [report.as_uri()]
    assert visit.troubles == []
    drawn = visit.page.locator("figure > svg").count()
    assert drawn == visit.page.locator("figure").count() == 2 * len(KINDS)
    assert visit.page.evaluate(SMALLEST) > 80
    assert visit.page.evaluate(OVERFLOW) <= 0
    assert min(visit.page.evaluate(CONTRASTS)) >= 4.5


def test_night_is_dark_and_figures_stay_white(browser: Any, report: Path) -> None:
    """The page follows the reader's preference; figures are on white in both."""
    backgrounds = {}
    for scheme in ("light", "dark"):
        page = Visit(browser, report.as_uri(), 1280, scheme).page
        styled = "element => getComputedStyle(element).backgroundColor"
        backgrounds[scheme] = page.locator("body").evaluate(styled)
        figure = page.locator("figure > svg").first.evaluate(styled)
        assert figure == "rgb(255, 255, 255)"
        page.close()
    assert backgrounds == {"light": "rgb(251, 250, 247)", "dark": "rgb(21, 23, 26)"}


def test_contents_lead_to_their_sections(browser: Any, report: Path) -> None:
    """A click in the contents shows the section."""
    page = Visit(browser, report.as_uri(), 390, "light").page
    page.get_by_role("navigation").get_by_role("link").nth(1).click()
    heading = page.get_by_role("heading", level=2).nth(1)
    playwright.expect(heading).to_be_in_viewport()
    page.close()


def test_it_prints(browser: Any, report: Path) -> None:
    """On paper nothing is cut off at the side, and the night is over."""
    page = Visit(browser, report.as_uri(), 700, "dark").page
    page.emulate_media(media="print")
    assert page.evaluate(OVERFLOW) <= 0
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.close()
