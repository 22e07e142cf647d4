"""Tickets expire in the order of their deadlines, whatever becomes of the clock."""

import random
import time
from typing import Any

import numpy as np
import pytest

from belated.service.core.clock import PROBATION, ServiceClock
from belated.service.core.errors import UnavailableError
from belated.service.core.expiry import MOST_AT_ONCE
from belated.service.core.requests import Ask
from belated.service.store import Store, StoreUnavailable
from belated.service.tickets.open_plays import OpenPlay, OpenPlays
from belated.service.tickets.open_tickets import OpenTickets
from tests.service.core.thread_client import ThreadClient, thread_client

ARMS = ["red", "green"]
DAY = 86_400.0


class Clocks:
    """A time of day that can be set, and a monotonic clock that cannot."""

    def __init__(self) -> None:
        self.counted, self.ahead = 0.0, 1_000_000.0

    def of_day(self) -> float:
        """In seconds since the epoch."""
        return self.counted + self.ahead

    def monotonic(self) -> float:
        """In seconds since some moment."""
        return self.counted


class Holding:
    """Something that tickets are open in."""

    def __init__(self, tickets: OpenTickets) -> None:
        self.round, self._tickets = 0, tickets
        self.open = OpenPlays((1, 1), True, lambda ticket: tickets.slot(ticket, self))

    def hold(self, ticket: str, expires_at: float, expires_round: float) -> None:
        """Open a ticket."""
        row = np.zeros((1, 1))
        play = OpenPlay(1, 0.0, 0, expires_at, expires_round, row, None)
        self._tickets.add(self, self.open.add(ticket, play))

    def close(self, ticket: str) -> None:
        """Close a ticket."""
        slot = self._tickets.slot(ticket, self)
        self._tickets.remove(self, slot)
        self.open.free(slot)


def test_due_tickets_are_found_like_in_a_list() -> None:
    """Many are opened, closed and due at random: those taken are those that a list would give."""
    chance, tickets = random.Random(3), OpenTickets()
    holder = Holding(tickets)
    listed: dict[str, tuple[float, float]] = {}
    now = 0.0
    for number in range(3000):
        ticket = f"t{number}"
        until = now + chance.choice([1.0, 50.0, 1e6])
        until_round = holder.round + chance.choice([3, 40, float("inf")])
        holder.round += 1
        holder.hold(ticket, until, until_round)
        listed[ticket] = until, until_round
        for told in chance.sample(sorted(listed), chance.randint(0, min(2, len(listed)))):
            holder.close(told)
            del listed[told]
        now += chance.random()
        if chance.random() < 0.1:
            due = {t for t, (at, round_) in listed.items() if at <= now or round_ <= holder.round}
            assert set(tickets.take_due(now, 10_000)) == due
            for ticket in due:
                holder.close(ticket)
                del listed[ticket]
        assert len(tickets) == len(listed)
    assert len(tickets._by_time) <= 2 * len(listed) + 70  # closed ones do not pile up


def test_few_expire_at_once_and_none_is_forgotten() -> None:
    """What exceeds the most is left for the next time, by time and by round."""
    tickets = OpenTickets()
    holder = Holding(tickets)
    for number in range(10):
        holder.hold(f"t{number}", 1.0 if number % 2 else float("inf"), 1)
    holder.round = 5
    found: set[str] = set()
    for _ in range(4):
        due = set(tickets.take_due(2.0, 3))
        assert len(due) <= 3
        assert not due & found
        found |= due
        for ticket in due:
            holder.close(ticket)
    assert len(found) == 10


def caught_up(thread: ThreadClient) -> None:
    """Have the replica read what is in the journal, and let the thread look for what is due."""
    thread.catch_up()
    thread.tell(thread.ask("other").ticket, 0.5)


def test_an_ask_from_tomorrow_blocks_nobody(store: Store) -> None:
    """One ticket is decided while the clock is a day ahead; those after it expire in time."""
    clocks = Clocks()
    with thread_client(store, clock=clocks.of_day, monotonic=clocks.monotonic) as thread:
        thread.create("brief", arms=ARMS, expire_seconds=10, default_loss=1.0)
        thread.create("other", arms=ARMS)
        clocks.ahead += DAY
        thread.ask("brief")
        clocks.ahead -= DAY
        for _ in range(5):
            thread.ask("brief")
        caught_up(thread)
        clocks.counted += 11.0
        caught_up(thread)
        assert store.counts("brief").of("expired") == 5


@pytest.mark.parametrize("step", [1.0, DAY])
def test_a_clock_that_is_set_forward_expires_nothing_young(
    store: Store, step: float, caplog: pytest.LogCaptureFixture
) -> None:
    """It is said once; tickets expire when they are really old, or when the new time has stood."""
    clocks = Clocks()
    with thread_client(store, clock=clocks.of_day, monotonic=clocks.monotonic) as thread:
        thread.create("brief", arms=ARMS, expire_seconds=0.9, default_loss=1.0)
        thread.create("other", arms=ARMS)
        thread.ask("brief")
        clocks.ahead += step
        for _ in range(3):
            caught_up(thread)
        assert store.counts("brief").of("expired") == 0
        assert caplog.text.count("the time of day was set forward by") == 1
        clocks.counted += 1.0
        caught_up(thread)
        assert store.counts("brief").of("expired") == 1


def test_a_new_time_is_trusted_when_it_has_stood() -> None:
    """Forward after ten minutes, back at once; small steps are no news."""
    clocks = Clocks()
    clock = ServiceClock(clocks.of_day, clocks.monotonic)
    clocks.ahead += DAY
    assert clock.for_expiry() == clocks.of_day() - DAY
    clocks.counted += PROBATION - 1.0
    assert clock.for_expiry() == clocks.of_day() - DAY
    clocks.counted += 1.0
    assert clock.for_expiry() == clocks.of_day() == clock.now()
    clocks.ahead -= DAY
    assert clock.for_expiry() == clocks.of_day()
    clocks.ahead += 0.05
    assert clock.for_expiry() == clocks.of_day()


def test_what_could_not_expire_is_due_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commit with an expired ticket fails; the next one expires it."""
    now, append, failing = [1000.0], store.append, [False]

    def maybe(*records: object) -> object:
        if failing[0]:
            raise StoreUnavailable("the store cannot be used now: disk full")
        return append(*records)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "append", maybe)
    with thread_client(store, clock=lambda: now[0]) as thread:
        thread.create("brief", arms=ARMS, expire_seconds=10, default_loss=1.0)
        thread.create("other", arms=ARMS)
        thread.ask("brief")
        caught_up(thread)
        failing[0] = True
        now[0] += 11.0
        with pytest.raises(UnavailableError):
            thread.ask("other")
        failing[0] = False
        caught_up(thread)
        assert store.counts("brief").of("expired") == 1


def test_tickets_of_many_experts_expire_over_several_batches(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has as many outcomes as experts, and nobody may wait until all of them are written."""
    clocks, sizes, append = Clocks(), list[int](), store.append
    arms = [f"expert {number}" for number in range(200)]

    def counted(decisions: Any, outcomes: Any, *more: Any) -> Any:
        sizes.append(len(outcomes))
        return append(decisions, outcomes, *more)

    monkeypatch.setattr(store, "append", counted)
    with thread_client(store, clock=clocks.of_day, monotonic=clocks.monotonic) as thread:
        terms = {"expire_seconds": 10, "default_loss": 1.0}
        thread.create("weighed", arms=arms, learner="practical-experts", **terms)
        made = thread.do(Ask("weighed", 20))
        thread.catch_up()
        clocks.counted += 11.0
        until = time.monotonic() + 60.0
        while store.counts("weighed").of("expired") < 4000 and time.monotonic() < until:
            time.sleep(0.02)
    assert store.counts("weighed").of("expired") == 4000
    assert max(sizes) <= MOST_AT_ONCE + len(arms)
    assert all(
        len(each.outcomes) == 200 for each in store.tickets([m.ticket for m in made]).values()
    )
