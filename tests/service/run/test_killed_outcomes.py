"""Several outcomes of one ticket, told to a service that is killed between any two of them."""

import itertools
import os
import random
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from belated.service.admin.offline import create
from belated.service.store import open_store
from tests.service.run.killing import Start, check_clean, start
from tests.service.server import Server

__all__ = ["start"]  # a fixture

NAMES, TICKETS = ["click", "sale", "refund"], 4
KILLS = int(os.environ.get("BELATED_OUTCOME_KILLS", "8"))
WITHIN = 2.0  # seconds; the clock of the service is the machine's


@pytest.mark.parametrize("kills", [1, pytest.param(KILLS, marks=pytest.mark.check)])
def test_a_killed_service_tells_what_the_rule_says_once(
    start: Start, tmp_path: Path, kills: int
) -> None:
    """Each report is sent one to five times, shuffled; what was acknowledged is in the sum.

    The service is killed without warning, so that the rest of the reports and the closing of the
    tickets are the work of those that follow.
    """
    database, chance = str(tmp_path / "belated.db"), random.Random(3)
    outcomes = {"names": NAMES, "rule": "sum", "revise_within": WITHIN * (1 + kills)}
    with open_store(database) as store:
        spec = {"arms": ["red", "green"], "soft_range": [0, 100], "outcomes": outcomes}
        create(store, "shop", spec, time.time())
    server = start(database)
    with server.client() as client:
        tickets = [client.post("/v1/problems/shop/ask").json()["ticket"] for _ in range(TICKETS)]
    reports = [
        (ticket, {"outcome": name, "revision": revision, "reward": chance.choice([3, 20, -4])})
        for ticket, name, revision in itertools.product(tickets, NAMES, range(2))
        if chance.random() < 0.8
    ]
    sent = [each for each in reports for _ in range(chance.randint(1, 5))]
    chance.shuffle(sent)
    size = -(-len(sent) // (kills + 1))
    for number, first in enumerate(range(0, len(sent), size)):
        if number:
            server.kill()
            server = start(database)
        tell(server, sent[first : first + size])
    server.kill()
    server = start(database)
    with server.client() as client:
        for ticket in tickets:
            mine = [body for each, body in reports if each == ticket]
            check(wait_until_closed(client, ticket), mine)
    assert server.stop() == 0
    check_clean(database)


def tell(server: Server, reports: list[Any]) -> None:
    """Send reports; each is acknowledged, or came when its ticket was closed."""
    with server.client() as client:
        for ticket, body in reports:
            answer = client.post(f"/v1/tickets/{ticket}/tell", json=body)
            assert answer.status_code in (200, 410), answer.text


def wait_until_closed(client: httpx.Client, ticket: str) -> dict[str, Any]:
    """The ticket, once its time is over."""
    until = time.monotonic() + 600
    while time.monotonic() < until:
        found: dict[str, Any] = client.get(f"/v1/tickets/{ticket}").json()
        if found["state"] != "pending":
            return found
        time.sleep(0.1)
    raise AssertionError(f"{ticket} stays open")


def check(ticket: dict[str, Any], mine: list[dict[str, Any]]) -> None:
    """It has one outcome: the sum of the highest revisions that were recorded in time."""
    kept = [{name: each[name] for name in body} for each in ticket["named"] for body in mine[:1]]
    assert all(each in mine for each in kept)
    late = [(each["outcome"], each["reward"]) for each in ticket["late"]]
    assert len(kept) + len(late) >= len(mine)
    highest = {each["outcome"]: 0 for each in kept}
    for each in kept:
        highest[each["outcome"]] = max(highest[each["outcome"]], each["revision"])
    stands = [each for each in kept if each["revision"] == highest[each["outcome"]]]
    (outcome,) = ticket["outcomes"]
    assert outcome["reward"] == sum(each["reward"] for each in stands)
