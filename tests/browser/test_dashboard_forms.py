"""Problems are created, changed and archived from the dashboard, with the keyboard alone."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from belated.service.admin.keys import make_key
from belated.service.store import open_store
from tests.browser.services import Process, Service
from tests.browser.visits import (
    OVERFLOW,
    Visit,
    pytestmark,  # noqa: F401
)

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

FOCUSED = """() => {
  const element = document.activeElement, label = element.labels?.[0];
  return (label ?? element).innerText.split('\\n')[0].trim();
}"""
MOST_STEPS = 60
REFUSED = "Failed to load resource: the server responded with a status of 422"
TRIED = """async () => {
  const headers = {
    'Content-Type': 'application/json',
    'Authorization': 'Bearer ' + sessionStorage.getItem('belated-key'),
  };
  const sent = (method, path, body) => fetch('/v1/problems' + path, {
    method, headers, body: body && JSON.stringify(body),
  }).then(answer => answer.status);
  return [
    await sent('POST', '', {name: 'mine', arms: ['a']}),
    await sent('POST', '/kept/pause'),
    await sent('POST', '/kept/archive'),
    await sent('PATCH', '/kept', {expire_after: 5, default_loss: 1}),
    await sent('POST', '/kept/arms', {add: ['c']}),
    await sent('DELETE', '/kept'),
  ];
}"""


class Keys(NamedTuple):
    """A service that wants keys, one that may change all problems, and one that may only look."""

    service: Service
    admin: str
    reader: str


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keys]:
    """A service with a problem."""
    database = tmp_path_factory.mktemp("forms") / "belated.db"
    with open_store(str(database)) as store:
        admin = make_key(store, "admin", ["admin:*"], 0.0)["key"]
        reader = make_key(store, "reader", ["ask:kept"], 0.0)["key"]
    process = Process(database)
    try:
        service = Service(process.address(), admin)
        service.call("POST", "/v1/problems", {"name": "kept", "arms": ["a", "b"]})
        yield Keys(service, admin, reader)
    finally:
        process.stop()
        process.wait()


def opened(browser: Any, keys: Keys, key: str, place: str = "", width: int = 1280) -> Visit:
    """The dashboard with a key."""
    visit = Visit(browser, f"{keys.service.address}/{place}", width, "light")
    visit.page.keyboard.type(key)
    visit.page.keyboard.press("Enter")
    playwright.expect(visit.page.locator("#status")).to_have_text("Live")
    return visit


def tab_to(page: Any, name: str) -> None:
    """Press Tab until the focus is on what has this name, which must be seen."""
    for _ in range(MOST_STEPS):
        if page.evaluate(FOCUSED) == name:
            assert page.evaluate("document.activeElement.matches(':focus-visible')")
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{name} cannot be reached")


def press(page: Any, name: str) -> None:
    """Go to a button or link, and press it."""
    tab_to(page, name)
    page.keyboard.press("Enter")


@pytest.mark.parametrize("width", [1280, 390])
def test_a_problem_is_created(browser: Any, keys: Keys, width: int) -> None:
    """The service's sentence stands beside the field that it is about, which has the focus."""
    visit, name = opened(browser, keys, keys.admin, width=width), f"shop-{width}"
    page = visit.page
    press(page, "New problem")
    playwright.expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type("no such name!")
    tab_to(page, "Arms")
    page.keyboard.type("red\ngreen\n")
    tab_to(page, "Expire after a time")
    page.keyboard.type("2")
    page.keyboard.press("Tab")
    page.keyboard.type("days")
    press(page, "Create the problem")
    error = page.locator(".field", has=page.get_by_label("Name")).get_by_role("alert")
    playwright.expect(error).to_contain_text("name is 'no such name!'; it must be 1 to 64 letters")
    playwright.expect(page.get_by_label("Name")).to_be_focused()
    assert page.get_by_label("Name").get_attribute("aria-invalid") == "true"
    page.keyboard.press("Control+A")
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    silence = page.get_by_label("Loss without an outcome")
    playwright.expect(silence).to_be_focused()
    error = page.locator(".field", has=silence).get_by_role("alert")
    playwright.expect(error).to_contain_text("a play that expires needs a default_loss")
    assert page.get_by_label("Name").get_attribute("aria-invalid") is None
    assert page.evaluate(OVERFLOW) <= 0
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    playwright.expect(page.locator("h2 .name")).to_have_text(name)
    made = keys.service.call("GET", f"/v1/problems/{name}")
    assert (made["arms"], made["kind"]) == (["red", "green"], "bandit")
    assert (made["expire_seconds"], made["default_loss"]) == (2 * 86_400, 1.0)
    assert [text.startswith(REFUSED) for text in visit.troubles] == [True, True]
    assert all(url.startswith(f"{keys.service.address}/") for url in visit.requests)
    page.close()


def test_a_problem_is_paused_changed_and_archived(browser: Any, keys: Keys) -> None:
    """What cannot be undone is asked first, and Escape leaves all as it was."""
    service = keys.service
    service.call("POST", "/v1/problems", {"name": "brief", "arms": ["a", "b"]})
    visit = opened(browser, keys, keys.admin, "#/brief")
    page, said = visit.page, visit.page.locator(".manage > .done")

    def now() -> Any:
        return service.call("GET", "/v1/problems/brief")

    press(page, "Pause this problem")
    playwright.expect(said).to_contain_text("Paused")
    playwright.expect(page.locator("h2 .state")).to_have_text("paused")
    assert now()["status"] == "paused"
    press(page, "Resume this problem")
    playwright.expect(said).to_have_text("Resumed.")
    assert now()["status"] == "active"

    press(page, "Change terms")
    playwright.expect(page.get_by_label("Expire after a time")).to_be_focused()
    tab_to(page, "Expire after a number of decisions")
    page.keyboard.type("many")
    press(page, "Save the terms")
    rounds = page.get_by_label("Expire after a number of decisions")
    dialog = page.get_by_role("dialog")
    playwright.expect(rounds).to_be_focused()
    error = page.locator(".field", has=rounds).get_by_role("alert")
    playwright.expect(error).to_contain_text("expire_after is not valid")
    page.keyboard.press("Control+A")
    page.keyboard.type("50")
    tab_to(page, "Loss without an outcome")
    page.keyboard.type("0.5")
    page.keyboard.press("Enter")
    playwright.expect(dialog).to_contain_text("Let tickets of brief expire?")
    press(page, "Let them expire")
    playwright.expect(said).to_have_text("The terms are saved.")
    assert (now()["expire_after"], now()["default_loss"]) == (50, 0.5)
    playwright.expect(page.locator(".facts")).to_contain_text("Given up after 50 rounds")
    assert page.evaluate(FOCUSED) == "Change terms"

    press(page, "Archive this problem")
    playwright.expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    playwright.expect(dialog).to_have_count(0)
    assert (page.evaluate(FOCUSED), now()["status"]) == ("Archive this problem", "active")
    page.keyboard.press("Enter")
    press(page, "Archive for good")
    playwright.expect(page.locator("h2 .state")).to_have_text("archived")
    playwright.expect(page.get_by_role("button", name="Archive this problem")).to_be_hidden()
    assert now()["status"] == "archived"
    assert [text.startswith(REFUSED) for text in visit.troubles] == [True]
    page.close()


def test_a_key_that_may_only_look_changes_nothing(browser: Any, keys: Keys) -> None:
    """No control is offered, and what the page could send is refused."""
    before = keys.service.call("GET", "/v1/problems/kept")
    page = opened(browser, keys, keys.reader, "#/kept").page
    playwright.expect(page.locator("h2 .name")).to_have_text("kept")
    offered = page.locator("button:visible, #to-new:visible").all_inner_texts()
    assert offered == ["Pause updates", "Forget key"]
    page.goto(f"{keys.service.address}/#/+new")
    playwright.expect(page.locator("#message")).to_contain_text("does not allow to create")
    assert page.evaluate(TRIED) == [403] * 6
    assert keys.service.call("GET", "/v1/problems/kept") == before
    page.close()
