"""The numbers of each problem, and the board and alerts that show and watch them."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families as families

from belated.service.web import problem_metrics
from tests.service.server import serving

DEPLOY = Path(__file__).parents[3] / "docs" / "deploy"
NAME = re.compile(r"\bbelated_[a-z_]+\b")
ENDINGS = ("", "_bucket", "_sum", "_count", "_total")


@pytest.fixture(scope="module")
def http(lasting_address: str) -> Iterator[httpx.Client]:
    """A client of a service with problems that have something to count."""
    with serving(lasting_address) as server, server.client() as client:
        play(client)
        yield client


def play(http: httpx.Client) -> None:
    """Decisions that are told, cancelled, expired, reported too late, and open."""
    arms = ["red", 'a"quote\\']
    expiring = {"name": "ads", "arms": arms, "expire_after": 3, "default_loss": 1}
    http.post("/v1/problems", json=expiring).raise_for_status()
    http.post("/v1/problems", json={"name": "idle", "arms": ["a", "b"]}).raise_for_status()
    many = {"name": "many", "arms": [f"arm {number}" for number in range(51)]}
    http.post("/v1/problems", json=many).raise_for_status()
    experts = {"name": "weather", "arms": ["gfs", "ecmwf"], "kind": "experts"}
    http.post("/v1/problems", json=experts).raise_for_status()
    http.post("/v1/problems/weather/ask").raise_for_status()
    tickets = [http.post("/v1/problems/ads/ask").json()["ticket"] for _ in range(8)]
    http.post(f"/v1/tickets/{tickets[-1]}/tell", json={"loss": 0.5}).raise_for_status()
    http.post(f"/v1/tickets/{tickets[-2]}/cancel").raise_for_status()
    assert http.post(f"/v1/tickets/{tickets[0]}/tell", json={"loss": 0.5}).status_code == 410


def numbers(http: httpx.Client) -> dict[tuple[str, ...], float]:
    """All numbers, by name and labels in their order: arm, kind, problem."""
    text = http.get("/metrics").text
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in families(text)
        for sample in family.samples
    }


def test_every_problem_has_its_numbers(http: httpx.Client) -> None:
    """Decisions, outcomes by kind, late reports, what is open and how old, weights, and the lag."""
    found = numbers(http)
    shown = http.get("/v1/problems/ads").json()
    assert found["belated_problem_decisions_total", "ads"] == 8
    assert found["belated_problem_outcomes_total", "told", "ads"] == 1
    assert found["belated_problem_outcomes_total", "cancelled", "ads"] == 1
    expired = found["belated_problem_outcomes_total", "expired", "ads"]
    assert expired >= 4
    assert found["belated_pending_tickets", "ads"] == 8 - 2 - expired
    assert found["belated_oldest_pending_seconds", "ads"] > 0
    assert found["belated_oldest_pending_seconds", "idle"] == 0
    assert found["belated_problem_late_reports_total", "ads"] == 1
    assert found["belated_problem_decisions_total", "weather"] == 1
    assert found["belated_problem_decisions_total", "idle"] == 0
    for arm, weight in shown["weights"].items():
        assert found["belated_weight", arm, "ads"] == pytest.approx(weight)
    assert found["belated_lag_rows",] >= 0
    assert found["belated_lag_seconds",] >= 0
    assert found["belated_commit_seconds_count",] > 0


def test_weights_are_bounded(http: httpx.Client) -> None:
    """A problem with very many arms adds no series for each of them."""
    assert not any((key[0], key[-1]) == ("belated_weight", "many") for key in numbers(http))
    assert problem_metrics.MOST_ARMS == 50


def expressions(value: Any) -> Iterator[str]:
    """All queries in a board."""
    if isinstance(value, dict):
        if "expr" in value:
            yield value["expr"]
        for each in value.values():
            yield from expressions(each)
    elif isinstance(value, list):
        for each in value:
            yield from expressions(each)


def test_board_and_alerts_name_what_exists(http: httpx.Client) -> None:
    """Every metric in them is given by the service; the board is JSON as Grafana imports it."""
    http.post("/v1/tickets/" + "0" * 26 + "/tell", json={"loss": 0})  # so that requests are counted
    board = json.loads((DEPLOY / "grafana.json").read_text())
    rules = (DEPLOY / "alerts.yml").read_text()
    assert board["title"] == "belated"
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    given = set()
    for family in families(http.get("/metrics").text):
        given |= {f"{family.name}{ending}" for ending in ENDINGS}
    shown = {name for text in expressions(board) for name in NAME.findall(text)}
    watched = set(NAME.findall(re.sub(r"(?m)^\s*#.*$", "", rules)))
    assert shown
    assert watched
    assert shown | watched <= given
