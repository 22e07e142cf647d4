"""Rank and Reward, as clients of Azure Personalizer send them, over real HTTP."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.service.server import serving

ARMS = ["red", "green", "blue"]
ACTIONS = [{"id": arm, "features": [{"length": len(arm)}]} for arm in ARMS]


@pytest.fixture(scope="module")
def ads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Sends what Personalizer's clients send, with a key for the problem ads only."""
    database = str(tmp_path_factory.mktemp("rank") / "belated.db")
    command = [sys.executable, "-m", "belated", "keys", "create", "x", "-s", "admin:*", "-s"]
    command += ["ask:*", "--db", database]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    with serving(database, "--log-level", "error") as server:
        with server.client(made.stdout.strip()) as admin:
            for name, more in (
                ("ads", {}),
                ("brief", {"expire_after": 50, "default_loss": 1.0}),
                ("weather", {"kind": "experts"}),
                ("adverse", {"learner": "exp3"}),
                ("banner", {"learner": "linear", "features": ["hour", "place"]}),
            ):
                spec = {"name": name, "arms": ARMS, "loss_range": [-1, 1], **more}
                assert admin.post("/v1/problems", json=spec).status_code == 201
            body = {"label": "ads", "scopes": ["ask:ads", "tell:ads"]}
            key = admin.post("/v1/keys", json=body).json()["key"]
            answer = rank(admin)
            assert answer.status_code == 422
            assert "the key is not for exactly one" in answer.json()["detail"]
            for name, sentence in (("weather", "weighs experts"), ("brief", "would count with")):
                answer = rank(admin, f"/v1/problems/{name}/rank", deferActivation=True)
                assert answer.status_code == 422
                assert sentence in answer.json()["detail"]
            check_other_arms(admin)
            answer = rank(admin, "/v1/problems/adverse/rank", excludedActions=["red"])
            assert answer.status_code == 422
            assert "'adverse' runs 'exp3', which would take" in answer.json()["detail"]
            check_contexts(admin)
        headers = {"Ocp-Apim-Subscription-Key": key}
        with httpx.Client(base_url=server.address, headers=headers, timeout=600) as client:
            yield client


def check_other_arms(admin: httpx.Client) -> None:
    """After a change of arms an event keeps its decision, and others must send the new ones."""
    path = "/v1/problems/brief"
    before = rank(admin, f"{path}/rank", eventId="early").json()
    assert admin.post(f"{path}/arms", json={"remove": ["blue"]}).status_code == 200
    assert rank(admin, f"{path}/rank", eventId="early").json() == before
    assert rank(admin, f"{path}/rank", eventId="later").status_code == 422
    added = {"json": {"add": ["pink"]}}
    assert admin.post(f"{path}/arms", **added).status_code == 200
    assert rank(admin, f"{path}/rank", eventId="early").json() == before
    assert rank(admin, f"{path}/rank", actions=ACTIONS[:2]).status_code == 201


def check_contexts(admin: httpx.Client) -> None:
    """They are merged from left to right; under one event id another context is another request."""
    path = "/v1/problems/banner/rank"
    given = [{"hour": 9, "place": {}}, {"place": "shop"}]
    answer = rank(admin, path, eventId="seen", contextFeatures=given)
    assert answer.status_code == 201, answer.text
    assert answer.headers["x-belated-ignored"] == "features"
    shown = [each["probability"] for each in answer.json()["ranking"]]
    assert sum(shown) == pytest.approx(1.0)
    ticket = admin.get(f"/v1/tickets/{answer.headers['x-belated-ticket']}").json()
    assert ticket["context"] == {"hour": 9, "place": "shop"}
    again = rank(admin, path, eventId="seen", contextFeatures={"place": "shop", "hour": 9})
    assert again.json() == answer.json()
    assert rank(admin, path, eventId="seen").status_code == 422
    for wrong, sentence in (
        ([{"shoe": 1}], "context has the name 'shoe'"),
        (["hour"], "contextFeatures"),
        ("hour", "contextFeatures"),
    ):
        refused = rank(admin, path, contextFeatures=wrong)
        assert refused.status_code == 422
        assert sentence in refused.json()["detail"]
    actions = json.dumps(ACTIONS)
    for wrong in (r'{"place": "\ud800"}', '{"place": ' + "[" * 900 + "]" * 900 + "}"):
        content = f'{{"contextFeatures": {wrong}, "actions": {actions}}}'
        kind = {"Content-Type": "application/json"}
        refused = admin.post(path, content=content, headers=kind)
        assert refused.status_code in (400, 422), refused.text
    for base in ("/v1/problems/banner", "/v1/problems/banner/personalizer/v1.1-preview.3"):
        for slots in ("rank", "events/e/reward", "events/e/activate"):
            refused = admin.post(f"{base}/multislot/{slots}", json={"slots": []})
            assert refused.status_code == 422
            assert "send one Rank for each slot" in refused.json()["detail"]


def rank(
    client: httpx.Client, path: str = "/personalizer/v1.0/rank", **more: Any
) -> httpx.Response:
    """A request to rank."""
    body = {"contextFeatures": [{"hour": 9}], "actions": ACTIONS, **more}
    return client.post(path, json=body)


def events(event: str, verb: str, base: str = "/personalizer/v1.0") -> str:
    """The path of an event."""
    return f"{base}/events/{event}/{verb}"


@pytest.mark.parametrize(
    "base",
    ["", "/personalizer", "/personalizer/v1.0", "/personalizer/v1.1-preview.3",
     "/v1/problems/ads", "/v1/problems/ads/personalizer/v1.0"],
)  # fmt: skip
def test_an_event_is_ranked_and_rewarded(ads: httpx.Client, base: str) -> None:
    """A decision first in the ranking, its reward once; the ticket shows what was learned."""
    answer = rank(ads, f"{base}/rank")
    assert answer.status_code == 201, answer.text
    body = answer.json()
    assert set(body) == {"ranking", "eventId", "rewardActionId"}
    first, *others = body["ranking"]
    assert first["id"] == body["rewardActionId"]
    assert 0.0 < first["probability"] < 1.0
    assert [each["id"] for each in others] == [arm for arm in ARMS if arm != first["id"]]
    assert sum(each["probability"] for each in body["ranking"]) == pytest.approx(1.0)
    event = body["eventId"]
    assert ads.post(events(event, "activate", base)).status_code == 204
    reward = events(event, "reward", base)
    assert ads.post(reward, json={"value": 0.5}).status_code == 204
    assert ads.post(reward, json={"value": 0.5}).status_code == 204
    assert ads.post(reward, json={"value": 1.0}).status_code == 409
    ticket = ads.get(f"/v1/tickets/{answer.headers['x-belated-ticket']}").json()
    assert (ticket["arm"], ticket["probability"]) == (first["id"], first["probability"])
    assert (ticket["outcomes"][0]["reward"], ticket["outcomes"][0]["unit_loss"]) == (0.5, 0.25)


def test_an_event_is_decided_once(ads: httpx.Client) -> None:
    """The same id again gets the same decision, whatever the context; other actions do not."""
    first = rank(ads, eventId="visit-17", deferActivation=True)
    again = rank(ads, eventId="visit-17", contextFeatures=[], actions=ACTIONS[::-1])
    assert again.headers["x-belated-ticket"] == first.headers["x-belated-ticket"]
    assert again.json()["rewardActionId"] == first.json()["rewardActionId"]
    asked = ads.post("/v1/problems/ads/ask", headers={"Idempotency-Key": "visit-17"}).json()
    assert asked["ticket"] != first.headers["x-belated-ticket"]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"actions": [*ACTIONS, {"id": "pink"}]}, "action 'pink' is no arm of 'ads'"),
        ({"actions": [*ACTIONS, ACTIONS[0]]}, "an action is sent twice"),
        ({"actions": []}, "actions is not valid"),
        ({"excludedActions": ARMS}, "all actions are excluded"),
        ({"excludedActions": ["pink"]}, "'pink' is excluded, but it is not sent"),
        ({"eventId": "a/b"}, "eventId is 'a/b'; it must be"),
    ],
)
def test_what_cannot_be_ranked_is_refused(
    ads: httpx.Client, body: dict[str, Any], sentence: str
) -> None:
    """In one sentence, and nothing is decided."""
    before = ads.get("/v1/problems/ads").json()["round"]
    answer = rank(ads, **body)
    assert answer.status_code == 422
    assert sentence in answer.json()["detail"]
    assert ads.get("/v1/problems/ads").json()["round"] == before


def test_other_events_and_problems_are_out_of_reach(ads: httpx.Client) -> None:
    """Unknown events are not found, and a key for one problem cannot rank another."""
    for verb in ("reward", "activate"):
        assert ads.post(events("nobody", verb), json={"value": 1}).status_code == 404
        elsewhere = events("nobody", verb, "/v1/problems/brief")
        assert ads.post(elsewhere, json={"value": 1}).status_code == 403
    assert rank(ads, "/v1/problems/brief/rank").status_code == 403
    event = rank(ads).json()["eventId"]
    for value in (1.5, "1", None, True):
        answer = ads.post(events(event, "reward"), json={"value": value})
        assert answer.status_code == 422, value
    wrong = {"Ocp-Apim-Subscription-Key": "nobody"}
    assert ads.post("/rank", headers=wrong, json={}).status_code == 401


def test_excluded_actions_are_not_drawn(ads: httpx.Client) -> None:
    """The probability is that of the draw from the others; what is not sent is left out as well."""
    left_out = {"excludedActions": ["red"], "actions": ACTIONS}, {"actions": ACTIONS[1:]}
    for number in range(20):
        shares = ads.get("/v1/problems/ads").json()["weights"]
        answer = rank(ads, eventId=f"some-{number}", **left_out[number % 2])
        assert answer.status_code == 201, answer.text
        first, *others = answer.json()["ranking"]
        assert first["id"] in ("green", "blue")
        total = shares["green"] + shares["blue"]
        assert first["probability"] == pytest.approx(shares[first["id"]] / total)
        assert len(others) == 2 - number % 2
        shown = {each["id"]: each["probability"] for each in (first, *others)}
        assert shown.get("red", 0.0) == 0.0
        assert sum(shown.values()) == pytest.approx(1.0)
        ticket = ads.get(f"/v1/tickets/{answer.headers['x-belated-ticket']}").json()
        assert ticket["weights"][first["id"]] == ticket["probability"] == first["probability"]
        assert set(ticket["weights"]) == {"green", "blue"}
        assert ads.post(events(f"some-{number}", "reward"), json={"value": 1}).status_code == 204
    again = rank(ads, eventId="some-0", **left_out[0])
    assert again.json()["ranking"][0]["id"] in ("green", "blue")
    assert rank(ads, eventId="some-0").status_code == 422  # another request under the same id


def test_what_is_ignored_is_said(ads: httpx.Client) -> None:
    """In a header, if context or features were sent."""
    assert rank(ads).headers["x-belated-ignored"] == "contextFeatures, features"
    plain = {"contextFeatures": None, "actions": [{"id": arm} for arm in ARMS]}
    assert "x-belated-ignored" not in rank(ads, **plain).headers


def test_errors_are_shown_in_both_forms(ads: httpx.Client) -> None:
    """As problem+json, and as Personalizer's clients read them; elsewhere only the former."""
    for answer in (
        rank(ads, actions=[]),
        rank(ads, actions=[{"id": "pink"}]),
        ads.post(events("nobody", "reward"), json={"value": 1}),
        ads.post("/rank", headers={"Ocp-Apim-Subscription-Key": "nobody"}, json={}),
    ):
        body = answer.json()
        assert body["error"]["message"] == body["detail"], answer.text
        assert body["type"] == f"urn:belated:{body['error']['code']}"
    assert "error" not in ads.get("/v1/problems/none").json()
