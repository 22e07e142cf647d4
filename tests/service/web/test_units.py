"""What was told is read back in the units and words in which it was told, in time or too late."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from belated.checks import LossRange
from belated.cli import main
from belated.replay.logs import read_log
from belated.service.core.told_values import ToldValue, told_value
from belated.types import Setting
from tests.service.server import Server, serving

TOLD = {"loss": 3.0, "reward": 12.0, "unit_loss": 0.2}
EXPIRED = {"loss": 15.0, "reward": None, "unit_loss": 1.0}
NOT_TOLD = {"loss": None, "reward": None, "unit_loss": None}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service that the tests of this file share."""
    with serving(str(tmp_path_factory.mktemp("units") / "belated.db")) as running:
        yield running


@pytest.fixture(scope="module")
def http(server: Server) -> Iterator[httpx.Client]:
    """A client of it."""
    with server.client() as client:
        yield client


class Shop:
    """A problem with losses and rewards from 0 to 15 whose plays expire with the second round."""

    def __init__(self, http: httpx.Client, name: str) -> None:
        self.http, self.path = http, f"/v1/problems/{name}"
        spec = {"loss_range": [0, 15], "expire_after": 1, "default_loss": 15}
        assert http.post("/v1/problems", json={"name": name, "arms": ["a"], **spec}).is_success

    def ask(self) -> str:
        """A new ticket."""
        return str(self.http.post(f"{self.path}/ask").json()["ticket"])

    def tell(self, ticket: str, **report: float) -> httpx.Response:
        """Report a loss or a reward."""
        return self.http.post(f"/v1/tickets/{ticket}/tell", json=report)

    def ticket(self, ticket: str) -> Any:
        """A ticket as it is shown."""
        return self.http.get(f"/v1/tickets/{ticket}").json()

    def expired(self) -> str:
        """A ticket that has expired."""
        ticket = self.ask()
        for _ in range(2):
            self.tell(self.ask(), reward=12)
        assert self.ticket(ticket)["state"] == "expired"
        return ticket


def parts(view: dict[str, Any]) -> dict[str, Any]:
    """The numbers of something that was told."""
    return {name: view[name] for name in NOT_TOLD}


def test_a_reward_is_read_back_as_it_was_told(http: httpx.Client) -> None:
    """Reward 12 of 0 to 15 is nowhere called 0.2, except under the name of that number."""
    shop = Shop(http, "rewards")
    ticket = shop.ask()
    assert shop.tell(ticket, reward=12).json()["counted"] is True
    (outcome,) = shop.ticket(ticket)["outcomes"]
    assert parts(outcome) == TOLD
    assert "told reward 12.0 for 'a' and now loss 4.0" in shop.tell(ticket, loss=4).json()["detail"]
    assert shop.tell(ticket, loss=3).json()["counted"] is False  # the same in other words
    log = http.get(f"{shop.path}/log").json()
    (row,) = (dict(zip(log["columns"], each, strict=True)) for each in log["rows"])
    assert parts(row) == TOLD
    stats = http.get(f"{shop.path}/stats").json()
    assert stats["told_as"] == "reward"
    assert (stats["by_arm"][0]["loss"]["mean"], stats["by_arm"][0]["unit_loss"]["mean"]) == (3, 0.2)
    told, decided, _ = stats["events"]
    assert (told["kind"], parts(told), told["probability"]) == ("told", TOLD, None)
    assert (decided["kind"], parts(decided), decided["probability"]) == ("decided", NOT_TOLD, 1.0)


def test_a_late_value_can_be_read(http: httpx.Client) -> None:
    """What comes after the expiry is in the answer, ticket, log, statistics and last events."""
    shop = Shop(http, "late")
    ticket = shop.expired()
    assert shop.ticket(ticket)["late"] == []
    answer = shop.tell(ticket, reward=12)
    assert answer.status_code == 410
    assert "with the default loss 15.0; this report of reward 12.0" in answer.json()["detail"]
    shop.tell(ticket, loss=7)  # the first report is the one that is noted
    view = shop.ticket(ticket)
    assert parts(view["outcomes"][0]) == EXPIRED
    (late,) = view["late"]
    assert (late["arm"], parts(late)) == ("a", TOLD)
    assert late["at"] > view["outcomes"][0]["at"]
    log = http.get(f"{shop.path}/log").json()
    row = dict(zip(log["columns"], log["rows"][0], strict=True))
    assert (row["loss"], row["late_loss"], row["late_reward"]) == (15.0, 3.0, 12.0)
    assert row["late_at"] == late["at"]
    stats = http.get(f"{shop.path}/stats").json()
    assert stats["by_arm"][0]["late_loss"]["mean"] == 3.0
    assert [parts(each) for each in stats["events"] if each["kind"] == "late"] == [TOLD]


def test_an_export_is_in_the_users_units_and_can_be_replayed(
    http: httpx.Client, server: Server, tmp_path: Path
) -> None:
    """The file says what was told; replay takes the losses in [0, 1] that stand beside it."""
    shop = Shop(http, "exported")
    shop.tell(shop.expired(), reward=12)
    path = tmp_path / "log.csv"
    main(["export", "exported", str(path), "--server", server.address], standalone_mode=False)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["loss"] for row in rows] == ["15.0", "3.0", "3.0"]
    assert [row["reward"] for row in rows] == ["", "12.0", "12.0"]
    assert [row["late_reward"] for row in rows] == ["12.0", "", ""]
    log = read_log(path, Setting.CONCEALED)
    assert [row.loss for (row,) in log.rounds] == [1.0, 0.2, 0.2]


@pytest.mark.parametrize(
    ("unit", "raw", "expected"),
    [
        (0.2, 3.0, ToldValue(3.0, None, 0.2)),
        (0.2, 12.0, ToldValue(3.0, 12.0, 0.2)),
        (0.5, 7.5, ToldValue(7.5, 7.5, 0.5)),  # the same number in both words
        (0.2, None, ToldValue(3.0, None, 0.2)),  # nobody told it: the play expired
        (None, None, ToldValue()),
    ],
)
def test_what_was_told(unit: float | None, raw: float | None, expected: ToldValue) -> None:
    """The number that was told says whether it was a loss or a reward."""
    assert told_value(LossRange(0.0, 15.0), unit, raw) == expected


def test_no_digits_of_rounding_are_shown() -> None:
    """0.3 of 0 to 10 is 3, although 0.1 + 0.2 is not 0.3."""
    bounds = LossRange(-1.0, 1.0)
    assert [bounds.loss_of(bounds.loss(each)) for each in (0.1, 0.3, -0.7)] == [0.1, 0.3, -0.7]
    assert [bounds.reward_of(bounds.reward(each)) for each in (0.1, -0.3)] == [0.1, -0.3]
