"""The docs as a site: built strictly, and opened in a browser."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.browser.visits import OVERFLOW, Visit
from tests.browser.visits import pytestmark as needs_chromium

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [pytest.mark.check, needs_chromium]

ROOT = Path(__file__).parents[2]
PAGES = [
    "index.html",
    "tutorials/engineers.html",
    "notebooks/first-decisions.html",
    "reference/asking.html",
    "paper.html",
    "service.html",
    "repository/index.html",
]


class QuietHandler(SimpleHTTPRequestHandler):
    """Files of a folder, without a line for each request."""

    def log_message(self, *_: Any) -> None:
        """Write nothing."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it: a link that leads nowhere is an error."""
    folder = tmp_path_factory.mktemp("site")
    pytest.importorskip("material", reason="mkdocs-material is not installed")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """The address of the site."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_pages_in_a_browser(browser: Any, address: str, width: int, scheme: str) -> None:
    """No trouble, no request elsewhere, nothing wider than the screen."""
    for page in PAGES:
        visit = Visit(browser, address + page, width, scheme)
        assert visit.troubles == [], page
        elsewhere = [url for url in visit.requests if not url.startswith((address, "data:"))]
        assert elsewhere == [], page
        assert visit.page.evaluate(OVERFLOW) <= 0, page
        dark = visit.page.locator("body").get_attribute("data-md-color-scheme")
        assert dark == ("slate" if scheme == "dark" else "default")
        visit.page.close()


@pytest.mark.parametrize("from_folder", [False, True], ids=["served", "from a folder"])
def test_the_search_finds_a_word(
    browser: Any, folder: Path, address: str, from_folder: bool
) -> None:
    """Typed into the field, a word of one page leads to this page, with and without a server."""
    start = (folder / "index.html").as_uri() if from_folder else address + "index.html"
    visit = Visit(browser, start, 1280, "light")
    visit.page.locator("input.md-search__input").click()
    visit.page.keyboard.type("idempotency")
    found = visit.page.locator(".md-search-result__link[href*='service.html']")
    playwright.expect(found.first).to_be_visible()
    assert visit.troubles == []
    assert all(url.startswith((address, "file:", "data:", "blob:")) for url in visit.requests)
    visit.page.close()


def test_formulas_are_drawn_by_the_browser(folder: Path) -> None:
    """TeX becomes MathML, and none is left."""
    page = (folder / "paper.html").read_text()
    assert page.count("<math") >= 10
    assert "arithmatex" not in page


def test_sources_are_in_the_site(folder: Path) -> None:
    """What pages link to outside docs/ is a page, too."""
    assert (folder / "repository/CHANGELOG.html").exists()
    assert (folder / "repository/src/belated/learners/adversarial/exp3.py.html").exists()
    assert (folder / "deploy/compose.yml").exists()
