"""Values, moves and beliefs over HTTP: what is awaited, why weights moved, and who may see it."""

from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest

from belated.learners.contextual.beliefs import Beliefs
from belated.service.statistics.calibration import CalibrationBin
from belated.service.web.insight.beliefs import Known, beliefs_view, surest
from tests.service.server import Server, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service that the tests of this file share."""
    database = str(tmp_path_factory.mktemp("insight") / "belated.db")
    with serving(database, "--no-auth", "--seed", "1") as running:
        yield running


@pytest.fixture(scope="module")
def http(server: Server) -> Iterator[httpx.Client]:
    """A client of it."""
    with server.client() as client:
        yield client


def played(http: httpx.Client, name: str, rounds: int, waiting: int, **spec: Any) -> None:
    """A problem of two arms: red earns 9 of 15, green 3; the last plays wait."""
    made = {"name": name, "arms": ["red", "green"], "loss_range": [0, 15], **spec}
    assert http.post("/v1/problems", json=made).status_code == 201
    for _ in range(rounds // 10):
        asked = http.post(f"/v1/problems/{name}/ask:batch", json={"count": 10}).json()["decisions"]
        reports = [
            {"ticket": each["ticket"], "reward": 9 if each["arm"] == "red" else 3} for each in asked
        ]
        http.post("/v1/tell:batch", json={"reports": reports})
    if waiting:
        http.post(f"/v1/problems/{name}/ask:batch", json={"count": waiting})


def test_values_in_the_users_units(http: httpx.Client) -> None:
    """What waits has its place; a range of an hour has all of a young problem."""
    played(http, "shop", 40, 5)
    for name in ("all", "hour", "day", "week"):
        found = http.get(f"/v1/problems/shop/stats?range={name}").json()["range"]
        assert found["name"] == name
        arms = {arm["arm"]: arm for arm in found["by_arm"]}
        assert sum(arm["told"] for arm in arms.values()) == 40
        assert sum(arm["waiting"] for arm in arms.values()) == 5
        assert sum(arm["decided"] for arm in arms.values()) == 45
        assert arms["red"]["value"]["mean"] == pytest.approx(6.0)  # as losses: 15 - 9
        assert arms["red"]["closed_mean"] == pytest.approx(6.0)
    refused = http.get("/v1/problems/shop/stats?range=year")
    assert (refused.status_code, "range is not valid" in refused.json()["detail"]) == (422, True)


def test_moves_name_the_outcomes_behind_them(http: httpx.Client) -> None:
    """As many as were told, with their means, and the arm that was added."""
    played(http, "moved", 60, 0)
    http.post("/v1/problems/moved/arms", json={"add": ["blue"]})
    played(http, "idle", 0, 0)
    moves = http.get("/v1/problems/moved/moves").json()["moves"]
    told = [arm for move in moves for arm in move["arms"] if arm["told"] > 0]
    assert {(arm["arm"], arm["told_mean"]) for arm in told} <= {("red", 6.0), ("green", 12.0)}
    assert 0 < sum(arm["told"] for arm in told) <= 60
    assert all(move["distance"] >= 0.05 and move["complete"] for move in moves)
    assert [note["what"] for move in moves for note in move["notes"]] == ["blue added"]
    assert http.get("/v1/problems/idle/moves?range=day").json() == {"moves": []}
    assert http.get("/v1/problems/nobody/moves").status_code == 404


def test_only_a_model_has_beliefs(http: httpx.Client) -> None:
    """A learner without contexts has none."""
    played(http, "plain", 10, 0)
    assert http.get("/v1/problems/plain/beliefs").json() == {
        "features": 0,
        "arms": None,
        "calibration": [],
        "segments": [],
    }


def test_weights_by_segment(http: httpx.Client) -> None:
    """Each category, and each number that differed; the weights are those of such an ask."""
    features = {"age": "number", "device": ["phone", "desk"], "hour": "number"}
    more = {"learner": "linear", "features": features, "minimum_share": 0.05}
    made = {"name": "seen", "arms": ["red", "green"], **more}
    assert http.post("/v1/problems", json=made).status_code == 201
    path, batch = "/v1/problems/seen", list[dict[str, Any]]()
    for k in range(60):
        batch.append({"age": 20 + 20 * (k % 2), "device": ["phone", "desk"][k // 2 % 2], "hour": 9})
    asked = http.post(f"{path}/ask:batch", json={"contexts": batch}).json()["decisions"]
    reports = [
        {
            "ticket": ask["ticket"],
            "reward": float((each["device"] == "phone") == (ask["arm"] == "red")),
        }
        for ask, each in zip(asked, batch, strict=True)
    ]
    http.post("/v1/tell:batch", json={"reports": reports})
    found = {row["segment"]: row["weights"] for row in beliefs_of(http, "seen")["segments"]}
    assert list(found) == ["age, low", "age, high", "device = phone", "device = desk"]
    assert all(sum(weights.values()) == pytest.approx(1.0) for weights in found.values())
    assert found["device = phone"]["red"] == pytest.approx(0.95, abs=0.04)
    assert found["device = desk"]["green"] == pytest.approx(0.95, abs=0.04)
    asked = http.post(f"{path}/ask?all=true", json={"context": {"device": "phone"}}).json()
    assert asked["probabilities"] == pytest.approx(found["device = phone"], abs=1e-12)


def beliefs_of(http: httpx.Client, name: str) -> Any:
    """What the learner of a problem believes."""
    return http.get(f"/v1/problems/{name}/beliefs").json()


def test_one_model_for_all_arms_has_no_effects_by_arm(http: httpx.Client) -> None:
    """Its effects are common to the arms, and are not shown as if each arm had its own."""
    spec = {"name": "prices", "arms": ["red", "green"], "learner": "linear-shared"}
    assert http.post("/v1/problems", json=spec).status_code == 201
    found = http.get("/v1/problems/prices/beliefs")
    assert (found.status_code, found.json()["arms"]) == (200, None)


def test_beliefs_are_in_the_problems_units() -> None:
    """Effects on a reward from 5 to 15, the surest first, and no more than the most."""
    names = [f"f{k}" for k in range(30)]
    effects, errors = np.tile(np.arange(30) / 100.0, (2, 1)), np.full((2, 30), 0.01)
    effects[1] = 0.0
    found = Beliefs(names, effects, errors, np.array([0.4, 0.5]), np.array([0.02, 0.1]))
    view = beliefs_view(
        Known(
            found,
            surest(found),
            [],
            [CalibrationBin(4, 0.5, 0.9, 0.2)],
            ("red", "green"),
            5.0,
            10.0,
        )
    )
    bin_ = {"plays": 4, "foretold": 10.0, "reward": 14.0, "low": 12.0, "high": 15.0}
    assert view["calibration"] == [pytest.approx(bin_)]
    red, green = view["arms"]
    assert view["features"] == 30
    assert [each["feature"] for each in red["effects"]] == names[:9:-1]
    first = red["effects"][0]
    assert [first[key] for key in ("effect", "low", "high")] == pytest.approx([2.9, 2.704, 3.096])
    assert (green["arm"], green["base"], green["base_low"]) == ("green", 10.0, pytest.approx(8.04))
