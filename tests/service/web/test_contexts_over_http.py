"""Contexts over HTTP: on the short way, in batches, and only for those who may see them."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.service.server import serving

FEATURES = {"age": "number", "device": ["phone", "desktop"]}
SHOP = {"name": "shop", "arms": ["red", "green", "blue"], "learner": "linear", "features": FEATURES}
CONTEXT = {"age": 31, "device": "phone"}
ASK, BATCH = "/v1/problems/shop/ask", "/v1/problems/shop/ask:batch"


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a service with a problem whose learner takes contexts, and one without."""
    database = str(tmp_path_factory.mktemp("contexts") / "belated.db")
    with serving(database, "--no-auth") as server, server.client() as client:
        assert client.post("/v1/problems", json=SHOP).status_code == 201
        plain = {"name": "plain", "arms": ["red", "green"], "learner": "thompson"}
        assert client.post("/v1/problems", json=plain).status_code == 201
        yield client


def test_the_specification_keeps_the_features(http: httpx.Client) -> None:
    """Among the options of the learner."""
    shown = http.get("/v1/problems/shop").json()
    assert shown["options"]["features"] == FEATURES
    assert shown["minimum_share"] is None
    assert sum(shown["weights"].values()) == pytest.approx(1.0)


def test_a_decision_in_a_context(http: httpx.Client) -> None:
    """Among some arms; the ticket shows context and probabilities."""
    made = http.post(f"{ASK}?all=true", json={"context": CONTEXT, "arms": ["red", "blue"]}).json()
    assert set(made["probabilities"]) == {"red", "blue"}
    assert made["probabilities"][made["arm"]] == made["probability"]
    shown = http.get(f"/v1/tickets/{made['ticket']}").json()
    assert shown["context"] == CONTEXT
    assert shown["probabilities"] == made["probabilities"]
    assert http.post(f"/v1/tickets/{made['ticket']}/tell", json={"reward": 1}).is_success
    short = http.post(ASK, json={"context": CONTEXT}).json()
    assert "probabilities" not in short
    assert http.get(f"/v1/tickets/{short['ticket']}").json()["context"] == CONTEXT
    assert http.post(ASK).json()["round"] > short["round"]


def test_probabilities_of_all_arms_without_contexts(http: httpx.Client) -> None:
    """They are kept with the decision if they are asked for."""
    headers = {"Idempotency-Key": "all"}
    made = http.post("/v1/problems/plain/ask?all=true", headers=headers).json()
    assert sum(made["probabilities"].values()) == pytest.approx(1.0)
    assert http.post("/v1/problems/plain/ask?all=true", headers=headers).json() == made
    some = http.post("/v1/problems/plain/ask?all=true", json={"arms": ["green"]}).json()
    assert (some["arm"], some["probabilities"]) == ("green", {"green": 1.0})
    assert http.post("/v1/problems/plain/ask?all=yes").status_code == 422


def test_a_batch_has_a_context_for_each_decision(http: httpx.Client) -> None:
    """Or a number; not both, unless they agree."""
    contexts = [CONTEXT, {"age": 60}, None]
    made = http.post(f"{BATCH}?all=true", json={"contexts": contexts, "arms": ["red", "green"]})
    decisions = made.json()["decisions"]
    assert [set(each["probabilities"]) for each in decisions] == [{"red", "green"}] * 3
    tickets = [http.get(f"/v1/tickets/{each['ticket']}").json() for each in decisions]
    assert [each["context"] for each in tickets] == contexts
    assert http.post(BATCH, json={"count": 1, "contexts": [{}]}).status_code == 200
    for wrong in ({}, {"count": 2, "contexts": [{}]}):
        answer = http.post(BATCH, json=wrong)
        assert answer.status_code == 422
        assert "give one of them" in answer.json()["detail"]


def test_the_same_key_means_the_same_context(http: httpx.Client) -> None:
    """In any order of its names; another context or other arms are another request."""
    headers = {"Idempotency-Key": "visitor"}
    first = http.post(ASK, json={"context": CONTEXT}, headers=headers).json()
    turned = dict(reversed(CONTEXT.items()))
    assert http.post(ASK, json={"context": turned}, headers=headers).json() == first
    for other in ({"context": {"age": 32}}, {"context": CONTEXT, "arms": ["red"]}, {}):
        answer = http.post(ASK, json=other, headers=headers)
        assert answer.status_code == 422
        assert "was used for another request" in answer.json()["detail"]


def nested(depth: int) -> Any:
    """A value so deep in dicts."""
    return 1 if depth == 0 else {"in": nested(depth - 1)}


WRONG: dict[str, tuple[Any, str]] = {
    "1,001 names": ({"context": {f"n{k}": 1 for k in range(1001)}}, "context has 1001 names"),
    "10,001 names": ({"context": {f"n{k}": 1 for k in range(10_001)}}, "98902 letters as JSON"),
    "nesting of 50": ({"context": nested(50)}, "context is nested more than 10 deep"),
    "nesting of 500": ({"context": nested(500)}, "JSON"),
    "too many letters": ({"context": {"age": "x" * 50_001}}, "context has 50011 letters as JSON"),
    "a long name": ({"context": {"x" * 40_000: [0] * 900}}, "of 40000 letters; a name, with those"),
    "a strange name": ({"context": {"shoe": 40}}, "context has the name 'shoe'"),
    "text for a number": ({"context": {"age": "old"}}, "'age' is 'old'; it must be a number"),
    "a number for text": ({"context": {"device": 7}}, "'device' is 7; it must be one of"),
    "no object": ({"context": [31]}, "context"),
    "a strange arm": ({"arms": ["pink"]}, "arms names 'pink', which is no arm of 'shop'"),
    "no arms": ({"arms": []}, "arms is empty"),
    "a strange field": ({"contxt": {}}, "contxt"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said_in_one_sentence(http: httpx.Client, what: str) -> None:
    """And nothing is decided."""
    body, sentence = WRONG[what]
    before = http.get("/v1/problems/shop").json()["round"]
    batch = {
        "contexts": [body.get("context")],
        **({"arms": body["arms"]} if "arms" in body else {}),
    }
    for path, sent in ((ASK, body), (f"{ASK}?all=true", body), (BATCH, batch)):
        if path == BATCH and what == "a strange field":
            continue
        answer = http.post(path, json=sent)
        assert answer.status_code == 422, answer.text
        assert sentence in answer.json()["detail"]
        assert "\n" not in answer.json()["detail"]
    assert http.get("/v1/problems/shop").json()["round"] == before


def test_numbers_that_are_none_are_refused(http: httpx.Client) -> None:
    """As Python's JSON writes them."""
    for text in ("NaN", "Infinity", "1e999", "1" + "0" * 200):
        content = f'{{"context": {{"age": {text}}}}}'
        answer = http.post(ASK, content=content, headers={"Content-Type": "application/json"})
        assert answer.status_code == 422, text
    answer = http.post("/v1/problems/plain/ask", json={"context": {"age": 1}})
    assert answer.status_code == 422
    assert "learner thompson takes none" in answer.json()["detail"]


def test_features_of_arms_over_http(http: httpx.Client) -> None:
    """Only arms with features may be drawn; the ticket shows them, and Rank sends them."""
    options = {"action_features": ["price"]}
    spec = {"name": "priced", "arms": ["red", "green"], "learner": "linear-shared"}
    assert http.post("/v1/problems", json={**spec, "options": options}).status_code == 201
    path = "/v1/problems/priced/ask"
    body = {"context": CONTEXT, "actions": {"green": {"price": 3}}}
    made = http.post(f"{path}?all=true", json=body).json()
    assert made["probabilities"] == {"green": 1.0}
    assert http.get(f"/v1/tickets/{made['ticket']}").json()["actions"] == body["actions"]
    batch = {"contexts": [{}, {}], "actions": {"red": {"price": 1}, "green": None}}
    assert len(http.post(f"{path}:batch", json=batch).json()["decisions"]) == 2
    for wrong, sentence in (
        ({"actions": {"pink": {}}}, "arms names 'pink', which is no arm"),
        ({"actions": {"red": {"cost": 1}}}, "in the features of 'red', context has the name"),
        ({"actions": {}}, "arms is empty"),
        ({"actions": {"red": {}}, "arms": ["green"]}, "'green', of which actions has no features"),
    ):
        answer = http.post(path, json=wrong)
        assert answer.status_code == 422
        assert sentence in answer.json()["detail"]
    actions = [{"id": "red", "features": [{"price": 1}, {"price": 2}]}, {"id": "green"}]
    ranked = http.post("/v1/problems/priced/rank", json={"actions": actions, "eventId": "e"})
    assert "x-belated-ignored" not in ranked.headers
    ticket = http.get(f"/v1/tickets/{ranked.headers['x-belated-ticket']}").json()
    assert ticket["actions"] == {"red": {"price": 2}, "green": {}}
    assert http.post("/v1/verify").json()["clean"]


def test_new_actions_become_arms(http: httpx.Client) -> None:
    """Where features tell them apart, and the key has admin; a refused request adds none."""
    path = "/v1/problems/news"
    options = {"action_features": ["price"]}
    spec = {"name": "news", "arms": ["red"], "learner": "linear-shared", "options": options}
    assert http.post("/v1/problems", json=spec).status_code == 201
    actions = [{"id": "red", "features": [{"price": 1}]}, {"id": "new", "features": [{"price": 2}]}]
    for wrong in (
        {"actions": [*actions, actions[1]]},
        {"actions": actions, "excludedActions": ["pink"]},
        {"actions": [*actions, {"id": "odd", "features": [{"price": {"a": {"b": 1}}}]}]},
        {"actions": actions, "contextFeatures": [{"hour": [[[[[[[[[[[1]]]]]]]]]]]}]},
    ):
        assert http.post(f"{path}/rank", json=wrong).status_code == 422, wrong
        assert http.get(path).json()["arms"] == ["red"]
    made = http.post(f"{path}/rank", json={"eventId": "e", "actions": actions})
    assert {each["id"]: each["probability"] for each in made.json()["ranking"]} == {
        "red": pytest.approx(0.5), "new": pytest.approx(0.5),
    }  # fmt: skip
    assert http.get(path).json()["arms"] == ["red", "new"]
    assert (
        http.post(f"{path}/rank", json={"eventId": "e", "actions": actions}).json() == made.json()
    )
    assert http.post("/v1/verify").json()["clean"]
    plain = http.post("/v1/problems/plain/rank", json={"actions": actions})
    assert (plain.status_code, "'new' is no arm" in plain.json()["detail"]) == (422, True)


def test_the_log_has_contexts_and_probabilities(http: httpx.Client) -> None:
    """As JSON, as `belated export` writes them."""
    http.post(ASK, json={"context": CONTEXT})
    found = http.get("/v1/problems/shop/log").json()
    row = dict(zip(found["columns"], found["rows"][-1], strict=True))
    assert json.loads(row["context"]) == CONTEXT
    assert json.loads(row["probabilities"])[row["arm"]] == row["probability"]
    assert http.post("/v1/verify").json()["clean"]


def test_contexts_are_forgotten_over_http(http: httpx.Client) -> None:
    """By ticket and by age, beside a running service, which goes on as before."""
    made = [http.post(ASK, json={"context": {"age": 20 + k}}).json() for k in range(4)]
    forget = "/v1/problems/shop/forget"
    body: dict[str, Any] = {"ticket": made[0]["ticket"], "contexts": True}
    assert http.post(forget, json=body).json() == {"name": "shop", "forgotten": 1}
    assert http.get(f"/v1/tickets/{made[0]['ticket']}").json()["context"] is None
    assert http.get(f"/v1/tickets/{made[1]['ticket']}").json()["context"] == {"age": 21}
    assert http.post(forget, json={"older_than": 0, "contexts": True}).json()["forgotten"] >= 3
    assert http.get(f"/v1/tickets/{made[1]['ticket']}").json()["context"] is None
    for each in made:
        assert http.post(f"/v1/tickets/{each['ticket']}/tell", json={"loss": 0.5}).is_success
    assert http.post("/v1/verify").json()["clean"]


def test_a_context_is_shown_to_admins_only(tmp_path_factory: pytest.TempPathFactory) -> None:
    """It may be personal; who may ask and tell sees all the rest of a ticket."""
    database = str(tmp_path_factory.mktemp("scopes") / "belated.db")
    command = [sys.executable, "-m", "belated", "keys", "create", "x", "-s", "admin:*"]
    made = subprocess.run([*command, "--db", database], capture_output=True, text=True, check=True)
    with (
        serving(database, "--log-level", "error") as server,
        server.client(made.stdout.strip()) as admin,
    ):
        admin.post("/v1/problems", json=SHOP)
        body = {"label": "shop", "scopes": ["ask:shop", "tell:shop"]}
        key = admin.post("/v1/keys", json=body).json()["key"]
        with server.client(key) as shop:
            ticket = shop.post(ASK, json={"context": CONTEXT}).json()["ticket"]
            seen = shop.get(f"/v1/tickets/{ticket}").json()
            assert seen["context"] is None
            assert sum(seen["probabilities"].values()) == pytest.approx(1.0)
            assert shop.post("/v1/problems/shop/forget", json={}).status_code == 403
        assert admin.get(f"/v1/tickets/{ticket}").json()["context"] == CONTEXT
