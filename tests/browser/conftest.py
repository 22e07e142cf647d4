"""The browser that the tests share."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.visits import CHROMIUM


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, as the system has it."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    api.expect.set_options(timeout=60_000)  # ms: no test depends on how fast a machine is
    with api.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield opened
        opened.close()
