"""The dashboard in a real browser, fed by a real service that is asked and told over HTTP."""

import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from belated.service.admin.keys import make_key
from belated.service.admin.offline import create
from belated.service.store import open_store
from tests.browser.services import Process, Service
from tests.browser.visits import (
    CONTRASTS,
    OVERFLOW,
    Visit,
    pytestmark,  # noqa: F401
)

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

ARMS = ["red", "constructor", "<img src=x onerror=alert(1)>"]
ROUNDS, UNTOLD, EXPIRY = 40, 7, 30
SEGMENTS = ["age, low", "age, high", "device = phone", "device = desk"]
LATER = 60_000  # ms; by then it has looked again
OUTLINE = """() => {
  const element = document.activeElement;
  return getComputedStyle(element.closest('label') ?? element).outlineStyle;
}"""
DRAWN = """() => [...document.querySelectorAll('.weights-chart path.line')].map(path => [
  path.getTotalLength(), path.getAttribute('d').match(/[ML]/g).length, getComputedStyle(path).stroke
])"""


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, Service]]:
    """A service without keys, and one that wants one."""
    folder = tmp_path_factory.mktemp("services")
    with open_store(str(folder / "guarded.db")) as store:
        key = make_key(store, "watcher", ["admin:*"], 0.0)["key"]
    processes = [Process(folder / "open.db", "--no-auth"), Process(folder / "guarded.db")]
    try:
        first, second = (process.address() for process in processes)
        yield Service(first, None), Service(second, key)
    finally:
        for process in processes:
            process.stop()
        for process in processes:
            process.wait()


@pytest.fixture(scope="module")
def service(services: tuple[Service, Service]) -> Service:
    """The one without keys, with three problems."""
    made, given = services[0], {"expire_after": EXPIRY, "default_loss": 1.0}
    made.call("POST", "/v1/problems", {"name": "ads", "arms": ARMS, **given})
    made.call("POST", "/v1/problems", {"name": "live", "arms": ["a", "b"]})
    made.call("POST", "/v1/problems", {"name": "models", "arms": ["x", "y"], "kind": "experts"})
    made.play("ads", ROUNDS, UNTOLD)
    made.call("POST", "/v1/problems/models/ask", {})
    made.call("POST", "/v1/problems/models/arms", {"add": ["z"], "remove": ["y"]})
    return made


@pytest.fixture(scope="module")
def guarded(services: tuple[Service, Service]) -> Service:
    """The one that wants a key, with one problem."""
    services[1].call("POST", "/v1/problems", {"name": "secret", "arms": ["a", "b"]})
    return services[1]


@pytest.fixture(params=[(1280, "light"), (390, "light"), (1280, "dark"), (390, "dark")], ids=str)
def visit(request: pytest.FixtureRequest, browser: Any, service: Service) -> Iterator[Visit]:
    """The dashboard on a desk and on a phone, by day and by night."""
    opened = Visit(browser, f"{service.address}/#/ads", *request.param)
    yield opened
    opened.page.close()


def numbers(page: Any) -> dict[str, str]:
    """The counters by their names."""
    names = page.locator(".tiles dt").all_inner_texts()
    return dict(zip(names, page.locator(".tiles strong").all_inner_texts(), strict=True))


def test_the_dashboard_in_a_browser(visit: Visit, service: Service) -> None:
    """No trouble, no request elsewhere, all problems, all charts from live data, all readable."""
    page, seen = visit.page, service.call("GET", "/v1/problems/ads/stats")
    assert visit.troubles == []
    assert all(url.startswith(f"{service.address}/") for url in visit.requests)
    assert page.locator("nav a span").all_inner_texts() == ["ads", "live", "models"]
    drawn = page.evaluate(DRAWN)
    assert len(drawn) == len({stroke for _, _, stroke in drawn}) == len(ARMS)
    points = len(seen["weights_over_time"]["round"]) + 1
    assert all(length > 100 and number == points for length, number, _ in drawn)
    for chart in ("waits", "values", "delays", "tempo"):
        assert page.locator(f".{chart}-chart :is(rect.bar, circle.dot)").count() > 0, chart
    assert page.locator("figure:visible").count() == 5  # it is not certified: there is a default
    assert page.locator("figure details table").count() == 5
    assert page.evaluate(OVERFLOW) <= 0
    assert min(page.evaluate(CONTRASTS)) >= 4.5
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(21, 23, 26)" if dark else "rgb(251, 250, 247)")


def test_it_shows_what_the_service_knows(browser: Any, service: Service) -> None:
    """Counters, intervals, waiting tickets and events are those of the API; names are no HTML."""
    page = Visit(browser, f"{service.address}/#/ads", 1280, "light").page
    seen = service.call("GET", "/v1/problems/ads/stats")
    told = sum(arm["told"] for arm in seen["by_arm"])
    late = str(ROUNDS - EXPIRY)
    found = numbers(page)
    assert (found["Decisions"], found["Told"]) == (str(ROUNDS), str(told))
    assert (found["Expired"], found["Repeated"], found["Too late"]) == (late, "1", late)
    assert page.locator(".lead").inner_text().startswith(f"Waiting for {UNTOLD} outcomes, the old")
    assert page.locator(".weights-legend span").all_inner_texts() == ARMS
    assert page.locator("article img").count() == 0
    assert page.locator(".values-table tbody tr td:nth-child(8)").first.text_content() == "0.25"
    shown = page.locator(".values-table tbody tr").first.locator("td").all_text_contents()
    first = seen["range"]["by_arm"][0]
    assert float(shown[0]) == pytest.approx(first["value"]["mean"], abs=0.005)
    assert float(shown[2]) == pytest.approx(seen["by_arm"][0]["loss"]["mean"], abs=0.005)
    waits = page.locator(".waits-table tbody tr td:nth-child(2)").all_text_contents()
    assert sum(int(text) for text in waits) == UNTOLD
    tickets = page.locator(".events tbody td:last-child").all_inner_texts()
    assert tickets == [event["ticket"] for event in seen["events"]]
    page.close()


def test_it_stays_fresh_and_leaves_the_reader_alone(browser: Any, service: Service) -> None:
    """New decisions appear by themselves; what was opened, focused or scrolled stays so."""
    page = Visit(browser, f"{service.address}/#/live", 1280, "light").page
    page.clock.install()
    page.reload()
    playwright.expect(page.locator(".lead")).to_contain_text("No outcome is outstanding")
    before = len(page.locator(".weights-chart path.line").first.get_attribute("d"))
    page.locator(".figure-values summary").focus()
    page.keyboard.press("Enter")
    service.play("live", 25, 3)
    page.clock.fast_forward(LATER)
    playwright.expect(page.locator(".lead")).to_contain_text("Waiting for 3 outcomes")
    assert numbers(page)["Decisions"] == "25"
    assert len(page.locator(".weights-chart path.line").first.get_attribute("d")) > before
    assert page.evaluate("document.activeElement.matches('.figure-values summary')")
    assert page.locator(".values-table td").first.is_visible()
    page.get_by_role("button", name="Pause updates").click()
    service.play("live", 5, 5)
    page.clock.fast_forward(LATER)
    page.evaluate("fetch('/healthz').then(answer => answer.text())")  # later than what it would ask
    assert numbers(page)["Decisions"] == "25"
    page.close()


def test_a_range_of_time_is_chosen_with_the_keyboard(browser: Any, service: Service) -> None:
    """Figures and tables are then of its decisions; a new tab begins with all of them."""
    page = Visit(browser, f"{service.address}/#/ads", 1280, "light").page
    page.get_by_label("All time").focus()
    page.keyboard.press("ArrowLeft")
    playwright.expect(page.locator(".values-note")).to_contain_text("decisions of the last week")
    assert page.get_by_label("Last week").is_checked()
    assert page.evaluate("document.activeElement.value") == "week"
    seen = service.call("GET", "/v1/problems/ads/stats?range=week")["range"]
    assert numbers(page)["Decisions"] == str(ROUNDS)
    assert sum(arm["told"] for arm in seen["by_arm"]) == int(numbers(page)["Told"])
    page.reload()
    playwright.expect(page.get_by_label("Last week")).to_be_checked()
    page.close()


def test_it_says_why_the_weights_moved(browser: Any, service: Service) -> None:
    """The arms that moved, and the outcomes behind it."""
    service.call("POST", "/v1/problems", {"name": "moved", "arms": ["red", "blue"]})
    for _ in range(8):
        service.play("moved", 10, 0)
    found = service.call("GET", "/v1/problems/moved/moves")["moves"]
    arms = {arm["arm"]: arm for move in found for arm in move["arms"]}
    assert arms["red"]["usual_mean"] == pytest.approx(0.25)
    page = Visit(browser, f"{service.address}/#/moved", 1280, "light").page
    listed = page.locator(".moves > li")
    playwright.expect(listed).to_have_count(len(found))
    assert re.search(r"(red|blue) went from \d+ % to \d+(\.\d)? %", listed.first.inner_text())
    assert re.search(r"blue: \d+ outcomes? with mean loss 0.75", page.inner_text(".moves"))
    page.close()


def test_beliefs_of_a_learner_with_contexts_are_shown(browser: Any, service: Service) -> None:
    """Each feature with its effect and interval; other problems have no such figure."""
    options = {"features": {"age": "number", "device": ["phone", "desk"]}}
    spec = {"name": "seen", "arms": ["red", "blue"], "learner": "linear", "options": options}
    service.call("POST", "/v1/problems", spec)
    for k in range(30):
        context = {"age": 20 + k % 3, "device": ["phone", "desk"][k % 2]}
        made = service.call("POST", "/v1/problems/seen/ask", {"context": context})
        loss = {"loss": float(k % 2 == (made["arm"] == "red"))}
        service.call("POST", f"/v1/tickets/{made['ticket']}/tell", loss)
    seen = service.call("GET", "/v1/problems/seen/beliefs")["arms"]
    visit = Visit(browser, f"{service.address}/#/seen", 390, "dark")
    page, figure = visit.page, visit.page.locator(".figure-beliefs")
    rows = figure.locator("tbody tr")
    playwright.expect(rows).to_have_count(6)
    assert rows.first.locator("th").text_content() == seen[0]["effects"][0]["feature"]
    shown = float(rows.first.locator("td").nth(1).text_content())
    assert shown == pytest.approx(-seen[0]["effects"][0]["effect"], abs=0.005)  # of the loss
    assert figure.locator("circle.dot").count() == 6
    bins = service.call("GET", "/v1/problems/seen/beliefs")["calibration"]
    assert sum(each["plays"] for each in bins) == 30
    assert page.locator(".calibration-table tbody tr").count() == len(bins)
    assert page.locator(".segments-table tbody th").all_text_contents() == SEGMENTS
    assert page.locator(".segments-chart rect.bar").count() == 2 * len(SEGMENTS)
    playwright.expect(page.locator(".weights-note")).to_contain_text("without a context")
    assert page.evaluate(OVERFLOW) <= 0
    assert visit.troubles == []
    page.goto(f"{service.address}/#/ads")
    playwright.expect(page.locator("h2 .name")).to_have_text("ads")
    playwright.expect(figure).to_be_hidden()
    page.close()


def test_the_uplift_of_a_holdout_is_shown(browser: Any, service: Service) -> None:
    """With its interval and what it rests on; money out of a soft range is in the sum."""
    spec = {"holdout": {"share": 0.5, "arm": "blue"}, "soft_range": [0, 1]}
    service.call("POST", "/v1/problems", {"name": "held", "arms": ["red", "blue"], **spec})
    made = service.call("POST", "/v1/problems/held/ask:batch", {"count": 40})["decisions"]
    reports = [
        {"ticket": each["ticket"], "reward": 3 if each["arm"] == "red" else 0} for each in made
    ]
    service.call("POST", "/v1/tell:batch", {"reports": reports})
    total = sum(report["reward"] for report in reports)
    visit = Visit(browser, f"{service.address}/#/held", 390, "light")
    page, figure = visit.page, visit.page.locator(".figure-uplift")
    playwright.expect(figure).to_be_visible()
    playwright.expect(figure.locator("figcaption")).to_contain_text("The control draws 50 %")
    seen = service.call("GET", "/v1/problems/held/uplift")
    shown = figure.locator("tbody tr").first.locator("td").all_text_contents()
    assert shown[-1] == str(seen["decisions"])
    assert numbers(page)["Rewards"] == str(total)
    assert "lay out of the soft range" in page.inner_text(".values-note")
    assert visit.troubles == []
    page.goto(f"{service.address}/#/ads")
    playwright.expect(page.locator("h2 .name")).to_have_text("ads")
    playwright.expect(figure).to_be_hidden()
    page.close()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("beta", [5, 0])
def test_certified_trust_is_shown(browser: Any, service: Service, beta: int, width: int) -> None:
    """Who plays the coming round, which share was trusted, and each account below its budget."""
    name = f"trust-{beta}-{width}"
    options = {"certified": True, "beta": beta}
    service.call("POST", "/v1/problems", {"name": name, "arms": ARMS, "options": options})
    for _ in range(6):
        service.play(name, 5, 0)
    visit = Visit(browser, f"{service.address}/#/{name}", width, "light")
    seen, page = service.call("GET", f"/v1/problems/{name}/stats")["trust"], visit.page
    assert visit.troubles == []
    figure = page.locator(".figure-trust")
    said = figure.locator("figcaption").inner_text()
    first = "The coming round is trusted." if seen["trusted"] else "The fallback plays the coming"
    assert said.startswith(first)
    share = 100 * seen["trusted_rounds"] / 30  # between 10 and 99, or all
    assert f"{share:.0f} % of 30 rounds were trusted so far." in said
    assert (share == 100) == (beta == 5)
    dots, marks = figure.locator("circle.dot"), figure.locator("line.mark")
    assert dots.count() == marks.count() == len(ARMS)
    budget = float(marks.first.get_attribute("x1"))
    inside = [float(dot.get_attribute("cx")) <= budget + 0.1 for dot in dots.all()]
    assert inside == [seen["account"][arm] <= seen["budget"] for arm in ARMS]
    cells = figure.locator("tbody tr").first.locator("td").all_text_contents()
    assert float(cells[0].replace(",", "")) == pytest.approx(seen["account"][ARMS[0]], rel=0.01)
    assert float(cells[1].replace(",", "")) == pytest.approx(seen["budget"], rel=0.01)
    assert page.evaluate(OVERFLOW) <= 0
    page.goto(f"{service.address}/#/ads")
    playwright.expect(page.locator("h2 .name")).to_have_text("ads")
    playwright.expect(figure).to_be_hidden()
    page.close()


def test_rewards_are_shown_as_rewards(browser: Any, service: Service) -> None:
    """In the user's units, also what came too late; an expired play counts."""
    spec = {"loss_range": [0, 15], "expire_after": 2, "default_loss": 15}
    service.call("POST", "/v1/problems", {"name": "shop", "arms": ["a"], **spec})
    tickets = [service.call("POST", "/v1/problems/shop/ask")["ticket"] for _ in range(4)]
    for ticket in tickets[2:]:
        service.call("POST", f"/v1/tickets/{ticket}/tell", {"reward": 12})
    service.call("POST", "/v1/tell:batch", {"reports": [{"ticket": tickets[0], "reward": 9}]})
    page = Visit(browser, f"{service.address}/#/shop", 1280, "light").page
    page.wait_for_selector(".events td:text('reward 9')")
    assert "rewards from 0 to 15. Given up after 2 rounds with reward 0" in page.inner_text(
        ".facts"
    )
    assert page.inner_text(".values-title") == "Reward of a play, in the end"
    cells = page.locator(".values-table tbody td").all_text_contents()
    assert (cells[0], *cells[2:7]) == ("6", "6", "0", "2", "2", "12")  # two of four expired
    assert cells[7:] == ["1", "9"]  # told too late
    assert numbers(page)["Rewards"] == "24"
    assert page.locator(".events td", has_text="reward 12").count() == 2
    assert "half within" in page.inner_text(".delays-chart")
    service.call("POST", "/v1/problems/shop/archive")
    page.close()


def test_a_problem_that_cannot_be_served_says_why(browser: Any, tmp_path: Path) -> None:
    """It is in the list beside the others, and whoever chooses it reads the reason."""
    with open_store(str(tmp_path / "belated.db")) as store:
        create(store, "ads", {"arms": ["a", "b"]}, 1.0)
        store.create_problem("odd", {**store.problems()[0].spec, "learner": "of-tomorrow"}, 2.0)
    process = Process(tmp_path / "belated.db", "--no-auth")
    try:
        visit = Visit(browser, f"{process.address()}/#/odd", 1280, "light")
        page = visit.page
        assert page.locator("nav a span").all_inner_texts() == ["ads", "odd"]
        assert page.locator("nav a small").all_inner_texts() == ["0 waiting", "cannot be served"]
        assert "odd cannot be served: " in page.inner_text("#message")
        assert "of-tomorrow" in page.inner_text("#message")
        page.get_by_role("link", name="ads").click()
        page.wait_for_selector(".tiles")
        assert page.locator("#message").is_hidden()
        assert visit.troubles == []
        page.close()
    finally:
        process.stop()
        process.wait()


def test_times_are_in_whole_units(browser: Any, service: Service) -> None:
    """Nothing takes "0 min 59 s"."""
    page = Visit(browser, service.address, 1280, "light").page
    words = page.evaluate(
        """async times => {
          const { duration } = await import("/dashboard/formatting.js");
          return times.map(duration);
        }""",
        [0.0004, 9.96, 59.4, 59.6, 61, 3599.7, 86399.9, 93600],
    )
    assert words == ["1 ms", "10 s", "59 s", "1 min", "1 min 1 s", "1 h", "1 d", "1 d 2 h"]
    page.close()


def test_the_keyboard_reaches_everything(browser: Any, service: Service) -> None:
    """Tab goes to the skip link, each button, problem, range and table; Enter chooses."""
    page = Visit(browser, service.address, 1280, "light").page
    reached = []
    for _ in range(13 + page.locator("nav a").count()):  # other tests may have created problems
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.innerText.split('\\n')[0].trim()"))
        assert page.evaluate(OUTLINE) == "solid", reached
    assert reached[:5] == ["Skip to the problem", "Pause updates", "ads", "live", "models"]
    assert {"New problem", "Pause this problem", "Change terms"} <= set(reached)
    assert sum(name.startswith("As a table") for name in reached) == 5
    page.locator("nav a", has_text="models").focus()
    page.keyboard.press("Enter")
    playwright.expect(page.locator("article h2")).to_contain_text("models")
    assert page.locator("nav a[aria-current=page]").inner_text().startswith("models")
    assert page.get_by_role("img", name="Bars: Tickets not fully told 1").count() == 1
    assert page.locator(".weights-legend span").all_inner_texts() == ["x", "y (removed)", "z"]
    assert page.locator(".events").get_by_text("z added, y removed").count() == 1
    for landmark in ("banner", "navigation", "main", "contentinfo"):
        assert page.get_by_role(landmark).count() == 1, landmark
    page.close()


def test_a_key_is_asked_for_once(browser: Any, guarded: Service) -> None:
    """A wrong key is refused, a right one kept for the tab, and sent in its header only."""
    visit = Visit(browser, guarded.address, 390, "dark")
    page = visit.page
    assert visit.troubles == []
    page.get_by_label("Key").fill("belated_wrong")
    page.keyboard.press("Enter")
    playwright.expect(page.get_by_role("alert")).to_contain_text("not valid")
    page.get_by_label("Key").fill(str(guarded.key))
    page.get_by_role("button", name="Show the problems").click()
    playwright.expect(page.locator("article h2")).to_contain_text("secret")
    page.reload()
    playwright.expect(page.locator("article h2")).to_contain_text("secret")
    assert not any(str(guarded.key) in url for url in [*visit.requests, page.url])
    page.get_by_role("button", name="Forget key").click()
    assert page.evaluate("sessionStorage.length") == 0
    assert page.get_by_label("Key").is_visible()
    page.close()


def test_the_page_allows_nothing_from_elsewhere(service: Service) -> None:
    """A strict policy stands over the page, whose files name no other host."""
    with urllib.request.urlopen(service.address, timeout=600) as answer:
        policy, text = answer.headers["Content-Security-Policy"], answer.read().decode()
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert not re.search(r"<style|style=|<script>|\bon\w+=|//", text.partition("<html")[2])
