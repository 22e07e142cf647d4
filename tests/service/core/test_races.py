"""Expiry racing late reports: exactly one outcome for each ticket, whoever comes first."""

import os
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

from belated.service.store import Outcome, Store
from tests.service.material import decision, expired, open_tickets, told, whole_journal

TICKETS = int(os.environ.get("BELATED_RACE_TICKETS", "600"))
AT_ONCE = 40
Racer = Literal["told", "expired"]


def test_expiry_races_late_reports(store: Store) -> None:
    """Each ticket gets one outcome, and both sides learn the same of which."""
    tickets = [f"t{number:05d}" for number in range(TICKETS)]
    for start in range(0, TICKETS, 500):
        batch = tickets[start : start + 500]
        store.append([decision(ticket, expires_at=5.0) for ticket in batch], [])

    def report() -> dict[str, tuple[Outcome | None, bool]]:
        order = random.Random(1).sample(tickets, TICKETS)
        return raced([told(ticket, 0.25) for ticket in order], store)

    def expire() -> dict[str, tuple[Outcome | None, bool]]:
        answers = {}
        while waiting := open_tickets(store)[:AT_ONCE]:
            answers |= raced([expired(each.ticket) for each in waiting], store)
        return answers

    with ThreadPoolExecutor(3) as pool:
        racing = [pool.submit(report), pool.submit(expire), pool.submit(expire)]
        sides = [each.result(300) for each in racing]
    outcomes = [each.body for each in whole_journal(store) if isinstance(each.body, Outcome)]
    assert sorted(outcome.ticket for outcome in outcomes) == tickets
    stands = {outcome.ticket: outcome for outcome in outcomes}
    for side in sides:
        assert all(outcome == stands[ticket] for ticket, (outcome, _) in side.items())
    assert sum(counted for side in sides for _, counted in side.values()) == TICKETS
    assert open_tickets(store) == []


def raced(outcomes: list[Outcome], store: Store) -> dict[str, tuple[Outcome | None, bool]]:
    """Append outcomes a few at a time; what each ticket was answered, and if it ever counted."""
    answers = {}
    for start in range(0, len(outcomes), AT_ONCE):
        given = outcomes[start : start + AT_ONCE]
        for outcome, answer in zip(given, store.append([], given).outcomes, strict=True):
            answers[outcome.ticket] = (answer.outcome, answer.counted)
    return answers
