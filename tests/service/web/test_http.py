"""The service over real HTTP: every route, every refusal, and what lasts."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import BaseModel

from belated.service.run.app import Settings, create_app
from belated.service.web import models, monitoring_models
from belated.service.web.compat import personalizer
from tests.service.server import Server, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service that the tests of this file share."""
    with serving(str(tmp_path_factory.mktemp("service") / "belated.db")) as running:
        yield running


@pytest.fixture(scope="module")
def http(server: Server) -> Iterator[httpx.Client]:
    """A client of it, and the problems ads and weather."""
    with server.client() as client:
        create(client, "ads", arms=["red", "green", "blue"])
        create(client, "weather", arms=["ecmwf", "gfs"], learner="full-information", horizon=100)
        yield client


def create(client: httpx.Client, name: str, *, horizon: int | None = None, **spec: Any) -> None:
    """A new problem."""
    options = {} if horizon is None else {"options": {"horizon": horizon}}
    answer = client.post("/v1/problems", json={"name": name, **spec, **options})
    assert answer.status_code == 201, answer.text


def ask(client: httpx.Client, name: str = "ads", **headers: str) -> dict[str, Any]:
    """A decision."""
    answer = client.post(f"/v1/problems/{name}/ask", headers=headers)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def tell(client: httpx.Client, ticket: str, **body: Any) -> httpx.Response:
    """A report."""
    return client.post(f"/v1/tickets/{ticket}/tell", json=body)


def refused(answer: httpx.Response, status: int) -> str:
    """The sentence of a refusal, which has the form that all have."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert body["status"] == status
    assert body["request_id"] == answer.headers["x-request-id"]
    assert {"type", "title", "detail"} <= set(body)
    return str(body["detail"])


def test_a_decision_is_told_once(http: httpx.Client) -> None:
    """Told, told again, told otherwise, cancelled: only the first counts."""
    decision = ask(http)
    assert decision["arm"] in ("red", "green", "blue")
    assert 0.0 < decision["probability"] <= 1.0
    ticket = decision["ticket"]
    assert tell(http, ticket, loss=0.25).json() == {
        "ticket": ticket, "counted": True, "state": "told",
    }  # fmt: skip
    assert tell(http, ticket, loss=0.25).json()["counted"] is False
    assert "was told loss 0.25" in refused(tell(http, ticket, loss=0.5), 409)
    assert "is told" in refused(http.post(f"/v1/tickets/{ticket}/cancel"), 409)
    shown = http.get(f"/v1/tickets/{ticket}").json()
    assert (shown["state"], shown["outcomes"][0]["loss"]) == ("told", 0.25)


def test_a_cancelled_decision_is_over(http: httpx.Client) -> None:
    """Cancelling again changes nothing, and no report counts any more."""
    ticket = ask(http)["ticket"]
    cancel = f"/v1/tickets/{ticket}/cancel"
    assert http.post(cancel).json() == {"ticket": ticket, "counted": True, "state": "cancelled"}
    assert http.post(cancel).json() == {"ticket": ticket, "counted": False, "state": "cancelled"}
    assert "was cancelled" in refused(tell(http, ticket, loss=0.5), 409)


def test_the_same_key_gets_the_same_decision(http: httpx.Client) -> None:
    """With the same body; with another it is refused, and nothing is decided."""
    first = ask(http, **{"Idempotency-Key": "once"})
    assert ask(http, **{"Idempotency-Key": "once"}) == first
    before = http.get("/v1/problems/ads").json()["round"]
    many = {"headers": {"Idempotency-Key": "once"}, "json": {"count": 2}}
    assert "was used for another" in refused(http.post("/v1/problems/ads/ask:batch", **many), 422)  # type: ignore[arg-type]
    assert http.get("/v1/problems/ads").json()["round"] == before
    key = {"Idempotency-Key": "batch"}
    batches = [
        http.post("/v1/problems/ads/ask:batch", headers=key, json={"count": 3}).json()
        for _ in range(2)
    ]
    assert batches[0] == batches[1]
    assert len({each["ticket"] for each in batches[0]["decisions"]}) == 3
    larger = http.post("/v1/problems/ads/ask:batch", headers=key, json={"count": 4})
    refused(larger, 422)


def test_reports_of_a_batch_are_answered_one_by_one(http: httpx.Client) -> None:
    """What is wrong with one does not touch the others."""
    tickets = [ask(http)["ticket"] for _ in range(2)]
    reports = [
        {"ticket": tickets[0], "loss": 0.0},
        {"ticket": tickets[0], "loss": 0.0},
        {"ticket": tickets[0], "loss": 1.0},
        {"ticket": tickets[1], "reward": 0.75},
        {"ticket": tickets[1], "loss": 0.25},
        {"ticket": "0" * 26, "loss": 0.5},
        {"ticket": tickets[1], "loss": 7.0},
    ]
    results = http.post("/v1/tell:batch", json={"reports": reports}).json()["results"]
    found = [each.get("counted", each.get("status")) for each in results]
    assert found[:2] == [True, False]
    assert results[2]["status"] == 409
    assert found[3:5] == [True, False]
    assert [each["status"] for each in results[5:]] == [404, 422]


def test_experts_are_told_one_by_one(http: httpx.Client) -> None:
    """A ticket of experts is pending until all of them are told."""
    decision = ask(http, "weather")
    assert sum(decision["weights"].values()) == pytest.approx(1.0)
    ticket = decision["ticket"]
    assert "must name one" in refused(tell(http, ticket, loss=0.5), 422)
    assert "no such arm" in refused(tell(http, ticket, loss=0.5, arm="icon"), 422)
    assert tell(http, ticket, loss=0.5, arm="gfs").json()["state"] == "pending"
    assert tell(http, ticket, loss=0.5, arm="gfs").json() == {
        "ticket": ticket, "counted": False, "state": "pending",
    }  # fmt: skip
    refused(tell(http, ticket, loss=0.6, arm="gfs"), 409)
    assert tell(http, ticket, loss=0.1, arm="ecmwf").json()["state"] == "told"
    half = ask(http, "weather")["ticket"]
    tell(http, half, loss=0.5, arm="gfs")
    assert http.post(f"/v1/tickets/{half}/cancel").json()["state"] == "cancelled"
    refused(tell(http, half, loss=0.1, arm="ecmwf"), 409)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"loss": 1.5}, "loss is 1.5; it must be in [0, 1]"),
        ({"loss": 0.5, "reward": 0.5}, "both of loss and reward"),
        ({}, "neither of loss and reward"),
        ({"loss": True}, "loss is not valid"),
        ({"loss": "0.5"}, "loss is not valid"),
        ({"loss": 0.5, "missing": 1}, "only a partially concealed"),
        ({"loss": 0.5, "arm": "pink"}, "is for"),
        ({"loss": 0.5, "weight": 2}, "weight is not valid"),
    ],
)
def test_bad_reports_are_refused(http: httpx.Client, body: dict[str, Any], sentence: str) -> None:
    """In one sentence, and the ticket still waits."""
    ticket = ask(http)["ticket"]
    assert sentence in refused(tell(http, ticket, **body), 422)
    assert http.get(f"/v1/tickets/{ticket}").json()["state"] == "pending"


def test_what_is_not_json_is_refused(http: httpx.Client) -> None:
    """Not JSON, not finite, too large, with and without a length."""
    path, kind = f"/v1/tickets/{ask(http)['ticket']}/tell", {"Content-Type": "application/json"}
    for text in (b"{", b"\xff", b'{"loss": NaN}', b'{"loss": 1e999}', b"[]"):
        refused(http.post(path, content=text, headers=kind), 422)
    large = b" " * 1_000_001
    refused(http.post(path, content=large, headers=kind), 413)
    refused(http.post(path, content=iter([large]), headers=kind), 413)


def test_unknown_things_are_not_found(http: httpx.Client) -> None:
    """Problems, tickets and routes, whatever they are called."""
    for name in ("nothing", "%00", "a%2Fb", "é" * 70):
        refused(http.post(f"/v1/problems/{name}/ask"), 404)
        refused(http.get(f"/v1/problems/{name}"), 404)
        refused(tell(http, name, loss=0.5), 404)
    refused(http.get("/v2/problems"), 404)
    refused(http.get("/v1/tell:batch"), 405)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ({"arms": []}, "there are 0 arms"),
        ({"arms": ["a", "a"]}, "named twice"),
        ({"arms": ["a", ""]}, "it must be text of 1 to 200"),
        ({"arms": ["a"], "learner": "nobody"}, "learner is 'nobody'"),
        ({"arms": ["a"], "learner": "concealed"}, "must know max_missing"),
        ({"arms": ["a"], "learner": "dew-skipping"}, "as soon as the arm is drawn"),
        ({"arms": ["a"], "learner": "exp3", "options": {"window": 5}}, "with a window"),
        ({"arms": ["a"], "learner": "exp4", "options": {"policies": 2}}, "with policies"),
        ({"arms": ["a"], "kind": "experts", "learner": "exp3"}, "a bandit"),
        ({"arms": ["a"], "options": {"speed": 1}}, "has no option 'speed'"),
        ({"arms": ["a"], "default_loss": 1, "learner": "exp3"}, "exp3 does not ask what silence"),
        ({"arms": ["a"], "expire_after": 5}, "needs a default_loss"),
        ({"arms": ["a"], "loss_range": [1, 0]}, "the lower one first"),
        ({"arms": ["a"], "loss_range": [0, 1], "default_loss": 2, "expire_after": 1}, "in [0, 1]"),
    ],
)
def test_bad_problems_are_refused(http: httpx.Client, spec: dict[str, Any], sentence: str) -> None:
    """In one sentence, and nothing is created."""
    assert sentence in refused(http.post("/v1/problems", json={"name": "bad", **spec}), 422)
    refused(http.get("/v1/problems/bad"), 404)


def test_a_problem_is_paused_resumed_and_archived(http: httpx.Client) -> None:
    """Without decisions outcomes still count; what is archived stays so."""
    create(http, "short", arms=["a", "b"])
    refused(http.post("/v1/problems", json={"name": "short", "arms": ["a"]}), 409)
    ticket = ask(http, "short")["ticket"]
    assert http.post("/v1/problems/short/pause").json() == {"name": "short", "status": "paused"}
    assert "is paused" in refused(http.post("/v1/problems/short/ask"), 409)
    assert tell(http, ticket, loss=0.5).json()["counted"] is True
    http.post("/v1/problems/short/resume")
    ask(http, "short")
    assert http.post("/v1/problems/short/archive").json()["status"] == "archived"
    refused(http.post("/v1/problems/short/resume"), 409)
    names = [each["name"] for each in http.get("/v1/problems").json()["problems"]]
    assert "short" not in names
    everything = http.get("/v1/problems?archived=true").json()["problems"]
    assert "short" in [each["name"] for each in everything]


def test_arms_are_added_and_removed(http: httpx.Client) -> None:
    """Where the learner can, with what waits for them; else a sentence says what to do."""
    create(http, "lineup", arms=["a", "b"])
    arms, tickets = "/v1/problems/lineup/arms", [ask(http, "lineup") for _ in range(12)]
    assert http.post(arms, json={"add": ["c"], "remove": ["a"]}).json() == {
        "name": "lineup", "arms": ["b", "c"],
    }  # fmt: skip
    assert http.post(arms, json={"remove": ["a"]}).json()["arms"] == ["b", "c"]
    shown = http.get("/v1/problems/lineup").json()
    assert shown["arms"] == list(shown["weights"]) == ["b", "c"]
    assert ask(http, "lineup")["arm"] in ("b", "c")
    old = next(each["ticket"] for each in tickets if each["arm"] == "a")
    assert tell(http, old, loss=1).json() == {"ticket": old, "counted": True, "state": "told"}
    assert tell(http, old, loss=1).json()["counted"] is False
    assert http.get("/v1/problems/lineup").json()["weights"].keys() == {"b", "c"}
    stats = http.get("/v1/problems/lineup/stats").json()
    assert set(stats) == set(monitoring_models.ProblemStatsBody.model_fields)
    monitoring_models.ProblemStatsBody.model_validate(stats)
    assert [each["removed"] for each in stats["by_arm"]] == [True, False, False]
    assert {len(row) for row in stats["weights_over_time"]["weights"]} == {3}
    assert "c added, a removed" in [each["arm"] for each in stats["events"]]
    assert "at least one must stay" in refused(http.post(arms, json={"remove": ["b", "c"]}), 409)
    assert "neither add nor remove" in refused(http.post(arms, json={}), 422)
    refused(http.post(arms, json={"arm": "d"}), 422)
    refused(http.post("/v1/problems/none/arms", json={"add": ["d"]}), 404)
    fixed = refused(http.post("/v1/problems/weather/arms", json={"add": ["clim"]}), 409)
    assert "archive 'weather' and create another problem with the arms ecmwf, gfs, clim" in fixed


def test_an_expired_report_is_gone(http: httpx.Client) -> None:
    """After so many rounds a play counts as its default loss, and a report comes too late."""
    create(http, "brief", arms=["a", "b"], expire_after=1, default_loss=1.0)
    first = ask(http, "brief")["ticket"]
    ask(http, "brief")
    assert "has expired" in refused(tell(http, first, loss=0.5), 410)
    assert tell(http, first, loss=0.5).json()["state"] == "expired"
    refused(http.post(f"/v1/tickets/{first}/cancel"), 410)
    stats = http.get("/v1/problems/brief/stats").json()
    assert stats["late_reports"] == 1
    assert sum(each["expired"] for each in stats["by_arm"]) == 1


def test_stats_show_all_there_is(http: httpx.Client) -> None:
    """Weights over time, losses and delays by arm, what waits, the last events."""
    create(http, "seen", arms=["a", "b"])
    for _ in range(5):
        decision = ask(http, "seen")
        tell(http, decision["ticket"], loss=0.25 if decision["arm"] == "a" else 0.75)
    ask(http, "seen")
    stats = http.get("/v1/problems/seen/stats").json()
    assert (stats["round"], stats["pending"]) == (6, 1)
    assert len(stats["weights_over_time"]["round"]) == 6
    assert sum(sum(numbers) for numbers in stats["waiting"]["by_arm"].values()) == 1
    told = {each["arm"]: each["loss"] for each in stats["by_arm"] if each["told"]}
    assert all(told[arm]["mean"] == mean for arm, mean in (("a", 0.25), ("b", 0.75)) if arm in told)
    assert stats["events"][0]["kind"] == "decided"
    assert stats["decisions_per_second"] == pytest.approx(6 / 60)


def test_stats_show_certified_trust(http: httpx.Client) -> None:
    """C of every arm against b in the problem's units, and which rounds the fallback played."""
    create(http, "sure", arms=["a", "b"], loss_range=[0, 10])
    create(http, "wary", arms=["a", "b"], options={"beta": 0})
    create(http, "free", arms=["a", "b"], options={"certified": False})
    create(http, "silent", arms=["a", "b"], default_loss=1)
    for problem, loss in (("sure", 10.0), ("wary", 1.0)):
        for _ in range(9):
            tell(http, ask(http, problem)["ticket"], loss=loss)
        ask(http, problem)
    trust = {
        name: http.get(f"/v1/problems/{name}/stats").json()["trust"]
        for name in ("sure", "wary", "free", "silent")
    }
    assert trust["free"] is trust["silent"] is None
    sure, wary = trust["sure"], trust["wary"]
    assert (sure["trusted"], sure["trusted_rounds"], sure["rounds"]) == (True, 10, 10)
    assert sure["budget"] == pytest.approx(10 * (5 * math.sqrt(2 * 11) + 1))
    assert wary["budget"] <= 1  # one trusted play was outstanding at most, and beta is 0
    assert wary["trusted_rounds"] < wary["rounds"] == 10
    assert wary["trusted"] == (max(wary["account"].values()) <= wary["budget"])
    rows = http.get("/v1/problems/sure/log").json()["rows"]
    estimates = {"a": 0.0, "b": 0.0}
    for _, arm, probability, loss, *_ in rows:
        estimates[arm] += 0.0 if loss is None else loss / probability
    for arm, estimate in estimates.items():
        assert sure["account"][arm] == pytest.approx(9 * 10 + 1 * 10 - estimate)


def test_health_metrics_and_the_document(server: Server, http: httpx.Client) -> None:
    """Whoever watches gets numbers; the OpenAPI document names every route and error form."""
    assert http.get("/healthz").json()["status"] == "ok"
    metrics = http.get("/metrics").text
    assert 'belated_reports_total{became="counted"}' in metrics
    assert 'belated_pending_tickets{problem="ads"}' in metrics
    document = http.get("/openapi.json").json()
    assert "/v1/problems/{name}/ask:batch" in document["paths"]
    assert "ProblemDetails" in document["components"]["schemas"]
    assert http.get("/docs").status_code == 404  # it would load from elsewhere


def test_a_request_has_an_id_and_a_line(server: Server, http: httpx.Client) -> None:
    """The client's own id, if it is a plain one; the log is JSON, one line for each entry."""
    assert (
        http.get("/healthz", headers={"X-Request-ID": "mine-1"}).headers["x-request-id"] == "mine-1"
    )
    odd = http.get("/healthz", headers={"X-Request-ID": "a b"}).headers["x-request-id"]
    assert odd != "a b"
    refused(http.post("/v1/problems/nothing/ask", headers={"X-Request-ID": "mine-2"}), 404)
    found = server.entry("mine-2")
    assert (found["status"], found["route"]) == (404, "/v1/problems/{name}/ask")


def test_all_lasts_over_a_restart(tmp_path: Path) -> None:
    """Weights, tickets, keys and statistics are the same after a stop and after a kill."""
    database = str(tmp_path / "belated.db")
    views = []
    with serving(database) as first, first.client() as http:
        create(http, "ads", arms=["a", "b"])
        tickets = [ask(http, **{"Idempotency-Key": str(n)})["ticket"] for n in range(20)]
        for ticket in tickets[:10]:
            tell(http, ticket, loss=0.5)
        views.append(http.get("/v1/problems/ads").json())
        assert first.stop() == 0
    with serving(database) as second, second.client() as http:
        views.append(http.get("/v1/problems/ads").json())
        assert ask(http, **{"Idempotency-Key": "3"})["ticket"] == tickets[3]
        assert tell(http, tickets[0], loss=0.5).json()["counted"] is False
        assert tell(http, tickets[12], loss=0.5).json()["counted"] is True
        views.append(http.get("/v1/problems/ads").json())
        second.kill()
    with serving(database) as third, third.client() as http:
        views.append(http.get("/v1/problems/ads").json())
        assert http.post("/v1/verify").json()["clean"] is True
    assert views[0] == views[1]
    assert views[2] == views[3]


def test_the_document_shows_examples_that_fit() -> None:
    """Of every body and every answer that has one, errors among them; each fits its own form."""
    document = create_app(Settings("memory:")).openapi()
    forms = document["components"]["schemas"]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            parts = {"body": operation.get("requestBody", {}), **operation["responses"]}
            for part, found in parts.items():
                for media in found.get("content", {}).values():
                    form = media.get("schema", {}).get("$ref", "").rpartition("/")[2]
                    shown = media.get("example") or forms.get(form, {}).get("examples")
                    nested = forms.get(form, {}).get("properties", {}).values()
                    assert shown or all("items" in each for each in nested), (path, method, part)
    for each in (
        *vars(models).values(),
        *vars(monitoring_models).values(),
        personalizer.RankResponse,
    ):
        if isinstance(each, type) and issubclass(each, BaseModel):
            extra = each.model_config.get("json_schema_extra")
            for example in (extra or {}).get("examples", ()):  # type: ignore[union-attr,call-overload]
                each.model_validate(example)
