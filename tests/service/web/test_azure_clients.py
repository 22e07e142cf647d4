"""The official clients of Azure Personalizer, as they are, with another address and key."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from tests.service.server import serving

older = pytest.importorskip("azure.cognitiveservices.personalizer")
newer = pytest.importorskip("azure.ai.personalizer")
from azure.core.credentials import AzureKeyCredential  # noqa: E402
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError  # noqa: E402
from msrest.authentication import CognitiveServicesCredentials  # noqa: E402
from msrest.exceptions import HttpOperationError  # noqa: E402

ARMS = ("red", "green", "blue")
FEATURES = [{"length": 3}]
BANNERS = ("old-banner", "new-banner")  # whose learner takes contexts
BEST = {"phone": "red", "desktop": "green"}


class Place(NamedTuple):
    """Where a service listens, a key for its problem ads, and one for all problems."""

    address: str
    key: str
    all_key: str


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A service with the problem ads, and problems whose learner takes contexts."""
    database = str(tmp_path_factory.mktemp("azure") / "belated.db")
    command = [sys.executable, "-m", "belated", "keys", "create", "x", "-s", "admin:*"]
    made = subprocess.run([*command, "--db", database], capture_output=True, text=True, check=True)
    key = made.stdout.strip()
    with serving(database, "--log-level", "error") as server:
        with server.client(key) as admin:
            assert admin.post("/v1/problems", json={"name": "ads", "arms": ARMS}).is_success
            more = {"learner": "linear", "features": {"device": ["phone", "desktop"]}}
            for name in BANNERS:
                spec = {"name": name, "arms": ARMS, **more}
                assert admin.post("/v1/problems", json=spec).is_success
            body = {"label": "ads", "scopes": ["admin:ads"]}
            ads = admin.post("/v1/keys", json=body).json()["key"]
        yield Place(server.address, ads, key)


def old_client(service: Place, key: str | None = None) -> Any:
    """A client of azure-cognitiveservices-personalizer."""
    credentials = CognitiveServicesCredentials(key or service.key)
    return older.PersonalizerClient(service.address, credentials)


def old_request(**more: Any) -> Any:
    """A request of that client."""
    actions = [older.models.RankableAction(id=arm, features=FEATURES) for arm in ARMS]
    return older.models.RankRequest(actions=actions, context_features=FEATURES, **more)


def new_request(**more: Any) -> dict[str, Any]:
    """A request of the newer client."""
    actions = [{"id": arm, "features": FEATURES} for arm in ARMS]
    return {"actions": actions, "contextFeatures": FEATURES, **more}


def test_the_older_client(service: Place) -> None:
    """Rank, activate and reward work, excluded actions too; its errors carry our sentence."""
    client = old_client(service)
    ranked = client.rank(old_request(event_id="old-1", excluded_actions=["red"]))
    assert ranked.event_id == "old-1"
    assert ranked.reward_action_id == ranked.ranking[0].id != "red"
    assert 0.0 < ranked.ranking[0].probability < 1.0
    client.events.activate("old-1")
    client.events.reward("old-1", value=1.0)
    with pytest.raises(older.models.ErrorResponseException, match="'pink' is excluded") as raised:
        client.rank(old_request(excluded_actions=["pink"]))
    assert raised.value.error.error.code == "invalid"
    with pytest.raises(HttpOperationError) as told:
        client.events.reward("old-1", value=0.0)
    assert told.value.response.status_code == 409
    with pytest.raises(older.models.ErrorResponseException, match="the key is not valid"):
        old_client(service, "nobody").rank(old_request())


def test_the_newer_client(service: Place) -> None:
    """The same, in dictionaries."""
    client = newer.PersonalizerClient(service.address, AzureKeyCredential(service.key))
    ranked = client.rank(new_request(eventId="new-1", excludedActions=["red"]))
    assert ranked["eventId"] == "new-1"
    assert ranked["rewardActionId"] == ranked["ranking"][0]["id"] != "red"
    client.activate("new-1")
    client.reward("new-1", {"value": 1.0})
    with pytest.raises(HttpResponseError, match="'pink' is excluded") as raised:
        client.rank(new_request(excludedActions=["pink"]))
    assert raised.value.error.code == "invalid"
    with pytest.raises(ResourceNotFoundError, match="there is no event 'nobody'"):
        client.reward("nobody", {"value": 1.0})


def test_contexts_of_the_older_client(service: Place) -> None:
    """They and the excluded actions change what is chosen, reward by reward."""
    credentials = CognitiveServicesCredentials(service.all_key)
    base = f"{service.address}/v1/problems/{BANNERS[0]}"
    client = older.PersonalizerClient(base, credentials)

    def rank(device: str, event: str, **more: Any) -> dict[str, float]:
        request = older.models.RankRequest(
            actions=[older.models.RankableAction(id=arm, features=[]) for arm in ARMS],
            context_features=[{"device": "phone"}, {"device": device}],  # the last one counts
            event_id=event,
            **more,
        )
        found = client.rank(request)
        assert found.ranking[0].id == found.reward_action_id
        return {each.id: each.probability for each in found.ranking}

    check_contexts(rank, lambda event, reward: client.events.reward(event, value=reward))


def test_contexts_of_the_newer_client(service: Place) -> None:
    """In the same way, in dictionaries."""
    base = f"{service.address}/v1/problems/{BANNERS[1]}"
    client = newer.PersonalizerClient(base, AzureKeyCredential(service.all_key))

    def rank(device: str, event: str, **more: Any) -> dict[str, float]:
        if "excluded_actions" in more:
            more["excludedActions"] = more.pop("excluded_actions")
        actions = [{"id": arm} for arm in ARMS]
        features = [{"device": device}]
        request = {"actions": actions, "contextFeatures": features, "eventId": event, **more}
        return {each["id"]: each["probability"] for each in client.rank(request)["ranking"]}

    check_contexts(rank, lambda event, reward: client.reward(event, {"value": reward}))


def check_contexts(
    rank: Callable[..., dict[str, float]], reward: Callable[[str, float], None]
) -> None:
    """Teach which action is best for which device; all probabilities come back."""
    assert rank("phone", "first") == pytest.approx(dict.fromkeys(ARMS, 1 / 3))
    for number in range(60):
        device = ("phone", "desktop")[number % 2]
        shares = rank(device, f"visit-{number}")
        assert sum(shares.values()) == pytest.approx(1.0)
        chosen = next(iter(shares))
        reward(f"visit-{number}", float(chosen == BEST[device]))
    for device, best in BEST.items():
        shares = rank(device, f"then-{device}")
        assert shares[best] > 0.7, shares
        left = rank(device, f"without-{device}", excluded_actions=[best])
        assert left[best] == 0.0
        assert next(iter(left)) != best
        assert sum(left.values()) == pytest.approx(1.0)
