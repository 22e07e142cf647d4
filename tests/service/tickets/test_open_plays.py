"""Open plays are kept as numbers in arrays: as a dictionary would, with less memory."""

import random
import tracemalloc
from typing import Any

import numpy as np
import pytest

from belated.service.core.problems import checked_spec, served
from belated.service.core.replica import Replica
from belated.service.store import Decision, Outcome, ProblemRecord
from belated.service.tickets.open_plays import NOWHERE
from belated.service.tickets.open_tickets import OpenTickets
from belated.service.tickets.ticket_ids import id_of, new_ticket_id, texts_of, time_of

ARMS = ["red", "green", "blue"]
MOST = 200  # bytes for an untold ticket


def replica(**spec: Any) -> Replica:
    """A replica of a problem that was just created."""
    return Replica(served(ProblemRecord("ads", checked_spec({"arms": ARMS, **spec}), 0.0)))


def decided(ticket: str, at: float, deadline: float | None = None) -> Decision:
    """A decision for the green arm."""
    rounds = None if deadline is None else 10**6
    return Decision(ticket, "ads", 1, "green", 0.5, None, "", at, None, None, deadline, rounds)


def test_ids_are_words_and_back() -> None:
    """Of tickets that were made here; all others are told apart, too."""
    tickets = [new_ticket_id(each * 1e9 + 0.001) for each in np.random.default_rng(1).random(500)]
    ids = [id_of(ticket) for ticket in tickets]
    assert all(is_made_here for _, is_made_here in ids)
    assert list(texts_of(np.array([id_ for id_, _ in ids], dtype=np.uint64))) == tickets
    others = ["t1", "z" * 26, "0" * 9 + "1" + "0" * 16, "é" * 26, tickets[0].upper()]
    assert [is_made_here for _, is_made_here in map(id_of, others)] == [False] * 5
    assert len({id_ for id_, _ in [*map(id_of, others), *ids]}) == 505
    assert time_of(new_ticket_id(1234.5678)) == 1234.567
    assert [time_of(each) for each in ("t1", "é" * 26)] == [None, None]


def test_plays_are_found_like_in_a_dictionary() -> None:
    """Many are opened and closed at random, in two replicas that share the index."""
    chance, shared = random.Random(2), OpenTickets()
    both = [replica(learner="exp3"), replica(learner="exp3")]
    known: dict[str, int] = {}
    for each in both:
        each.join(shared)
    for number in range(4000):
        place = chance.randrange(2)
        ticket = new_ticket_id(float(number)) if chance.random() < 0.9 else f"t{number}"
        both[place].fold(decided(ticket, float(number)))
        known[ticket] = place
        while known and chance.random() < (0.45 if number < 2500 else 0.7):
            told = chance.choice(list(known)) if number % 50 == 0 else next(iter(known))
            both[known.pop(told)].fold(Outcome(told, "green", "told", 0.5, 9.0))
    assert len(shared) == len(known)
    for place, each in enumerate(both):
        mine = [ticket for ticket, holder in known.items() if holder == place]
        assert list(each.open) == mine
        assert [play.at for play in each.open.values()] == sorted(p.at for p in each.open.values())
        assert all(shared.place(ticket)[0] is each for ticket in mine)
        assert all(shared.slot(ticket, both[1 - place]) == NOWHERE for ticket in mine)
        assert {play.rows.shape for play in each.open.values()} <= {(1, 1)}
    assert shared.place("t-1")[0] is None
    with pytest.raises(KeyError):
        both[0].open["t-1"]


@pytest.mark.parametrize("deadline", [None, 1e9], ids=["without deadlines", "with deadlines"])
def test_an_untold_ticket_takes_few_bytes(deadline: float | None) -> None:
    """With the learner that keeps the most of each play, and both kinds of deadlines or none."""
    shared, held = OpenTickets(), replica(learner="practical-bandit")
    held.join(shared)
    number = 4000
    tracemalloc.start()
    try:
        for place in range(number):  # a problem's sums over time grow first, up to their bound
            held.fold(decided(new_ticket_id(float(place)), float(place), deadline))
        before = tracemalloc.get_traced_memory()[0]
        for place in range(number, 2 * number):
            held.fold(decided(new_ticket_id(float(place)), float(place), deadline))
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert len(shared) == 2 * number
    assert grown / number <= MOST


def test_room_is_given_back() -> None:
    """When nearly all of many plays are closed, their slots are; those left are where they were."""
    held = replica(learner="exp3")
    tickets = [new_ticket_id(float(place)) for place in range(2000)]
    for place, ticket in enumerate(tickets):
        held.fold(decided(ticket, float(place)))
    for ticket in tickets[:-3]:
        held.fold(Outcome(ticket, "green", "told", 0.5, 9.0))
    assert list(held.open) == tickets[-3:]
    assert max(held.open.slots()) < 200
