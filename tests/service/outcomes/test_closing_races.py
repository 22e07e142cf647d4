"""Two workers on one PostgreSQL: outcomes are told to both while the time of their tickets ends."""

import os
import random
import threading
import time

from belated.service.admin.verify import verified_at_rest
from belated.service.core.errors import TicketExpiredError, UnavailableError
from belated.service.core.requests import Ask
from belated.service.outcomes.rules import rule_of
from belated.service.store import open_store
from tests.service.core.thread_client import ThreadClient, thread_client

TICKETS = int(os.environ.get("BELATED_RACE_TICKETS", "40"))
NAMES = ["click", "sale", "refund"]
WITHIN = 0.2  # seconds
OUTCOMES = {"names": NAMES, "rule": "sum", "weights": None, "revise_within": WITHIN}


def test_what_was_acknowledged_is_in_what_the_learner_is_told(database: str) -> None:
    """A ticket is closed with all its outcomes, or it stays open until a worker has read them."""
    counted: list[tuple[str, str, int]] = []
    refused: list[str] = []

    def tell(client: ThreadClient, tickets: list[str], seed: int) -> None:
        chance = random.Random(seed)
        for ticket in tickets:
            for _ in range(6):
                name, revision = chance.choice(NAMES), chance.randint(0, 9)
                reward = float(revision + 10 * NAMES.index(name))
                try:
                    if client.tell(ticket, reward=reward, outcome=name, revision=revision).counted:
                        counted.append((ticket, name, revision))
                except (TicketExpiredError, UnavailableError):
                    refused.append(ticket)
                time.sleep(chance.uniform(0.0, WITHIN / 3.0))

    with (
        open_store(database) as first,
        open_store(database) as second,
        thread_client(first) as one,
        thread_client(second) as two,
    ):
        one.create("shop", arms=["red", "green"], soft_range=[0, 90], outcomes=OUTCOMES)
        tickets = [each.ticket for each in one.do(Ask("shop", TICKETS))]
        quarters = [tickets[start::4] for start in range(4)]
        threads = [
            threading.Thread(target=tell, args=(client, quarter, seed))
            for seed, (client, quarter) in enumerate(
                pair for quarter in quarters for pair in ((one, quarter), (two, quarter))
            )
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        until = time.monotonic() + 600
        while any(not each.outcomes for each in first.tickets(tickets).values()):
            assert time.monotonic() < until
            time.sleep(0.1)
        one.catch_up()
        two.catch_up()
        assert one.states() == two.states()
        records, rule = first.tickets(tickets), rule_of({"outcomes": OUTCOMES})
    assert rule is not None
    assert refused
    assert len(counted) == len(set(counted))
    named = {
        (ticket, each.name, each.revision) for ticket in tickets for each in records[ticket].named
    }
    assert named == set(counted)
    for ticket in tickets:
        (outcome,) = records[ticket].outcomes
        assert outcome.raw == rule.reward(records[ticket].named)
    with open_store(database) as store:
        (result,) = verified_at_rest(store)
        assert result.complaints == []
