"""Pages in a real browser, and what can be asked of any page there."""

from pathlib import Path
from typing import Any

import pytest

CHROMIUM = Path("/usr/bin/chromium")
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"there is no {CHROMIUM}")

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
CONTRASTS = """() => {
  const light = colour => {
    const parts = colour.match(/[\\d.]+/g).slice(0, 3).map(value => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const behind = element => {
    const colour = getComputedStyle(element).backgroundColor;
    return /, 0\\)$/.test(colour) ? behind(element.parentElement) : colour;
  };
  const kinds = 'h1, h2, h3, p, td, th, caption span, figcaption, dt, dd, small, a, code, footer';
  return [...document.querySelectorAll(kinds)].map(element => {
    const pair = [light(getComputedStyle(element).color), light(behind(element))].sort();
    return (pair[1] + 0.05) / (pair[0] + 0.05);
  });
}"""


class Visit:
    """A page that was opened, and what happened meanwhile."""

    def __init__(self, browser: Any, address: str, width: int, scheme: str) -> None:
        self.requests: list[str] = []
        self.troubles: list[str] = []
        self.page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page.set_default_timeout(300_000)  # ms: no test depends on how fast a machine is
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.troubles.append(message.text))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.goto(address)
        self.page.wait_for_load_state("networkidle")
