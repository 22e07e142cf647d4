"""The official clients of Azure Personalizer, as they are, with another address and key."""

import subprocess
import sys
from collections.abc import Iterator
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


class Place(NamedTuple):
    """Where a service listens, and a key for its problem ads."""

    address: str
    key: str


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A service with the problem ads."""
    database = str(tmp_path_factory.mktemp("azure") / "belated.db")
    command = [sys.executable, "-m", "belated", "keys", "create", "x", "-s", "admin:ads"]
    made = subprocess.run([*command, "--db", database], capture_output=True, text=True, check=True)
    key = made.stdout.strip()
    with serving(database, "--log-level", "error") as server:
        with server.client(key) as admin:
            assert admin.post("/v1/problems", json={"name": "ads", "arms": ARMS}).is_success
        yield Place(server.address, key)


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
