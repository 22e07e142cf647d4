"""What several processes on one PostgreSQL may rely on."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import event, make_url, text

import belated.service.store.postgres as postgres_module
from belated.service.store import (
    START,
    Decision,
    Event,
    Outcome,
    Position,
    Store,
    StoreUnavailable,
    open_store,
)
from belated.service.store.records import request_key
from tests.service.material import decision, experts, open_tickets, told, whole_journal
from tests.service.postgres_server import OwnServer, empty_database

WRITERS = 4
BATCHES = int(os.environ.get("BELATED_BATCHES", "25"))


def opened(address: str) -> Store:
    """A store with a problem in it."""
    store = open_store(address)
    store.create_problem("ads", {}, at=0.0)
    return store


class Tailer:
    """Follows the journal in a thread of its own while others write."""

    def __init__(self, address: str) -> None:
        self.events: list[Event] = []
        self._store, self._over = open_store(address), threading.Event()
        self._thread = threading.Thread(target=self._follow)
        self._thread.start()

    def _follow(self) -> None:
        position: Position = START
        with self._store:
            while True:
                over = self._over.is_set()
                page, position = self._store.tail(position, 50)
                self.events += page
                if over and not page:
                    return

    def finish(self) -> list[Event]:
        """Read what is left; all that was read."""
        self._over.set()
        self._thread.join(600)
        return self.events


def write_batches(address: str, name: int) -> int:
    """Decide, and tell what was decided before; returns how many events were acknowledged."""
    acknowledged = 0
    with open_store(address) as store:
        before: list[str] = []
        for batch in range(BATCHES):
            tickets = [f"w{name}-{batch}-{number}" for number in range(5)]
            appended = store.append(
                [decision(ticket, round=batch) for ticket in tickets],
                [told(ticket, batch / 7) for ticket in before],
            )
            acknowledged += sum(answer.new for answer in appended.decisions)
            acknowledged += sum(answer.counted for answer in appended.outcomes)
            before = tickets
    return acknowledged


def test_tailers_miss_nothing_and_agree(database: str) -> None:
    """While many write, every tailer reads every event once, all in one order."""
    with opened(database) as store:
        tailers = [Tailer(database) for _ in range(2)]
        with ThreadPoolExecutor(WRITERS) as pool:
            written = sum(pool.map(lambda name: write_batches(database, name), range(WRITERS)))
        first, second = (tailer.finish() for tailer in tailers)
        assert written == WRITERS * (BATCHES * 5 + (BATCHES - 1) * 5)
        assert len(first) == 1 + written
        assert first == second == whole_journal(store)
        assert len({event.position for event in first}) == len(first)
        assert_outcomes_follow(first)


def assert_outcomes_follow(events: list[Event]) -> None:
    """Every outcome comes after its decision."""
    decided = set()
    for each in events:
        if isinstance(each.body, Decision):
            decided.add(each.body.ticket)
        elif isinstance(each.body, Outcome):
            assert each.body.ticket in decided


def test_sequence_numbers_alone_would_miss_events(database: str) -> None:
    """What commits late is missed by whoever goes by numbers, and is not missed by `tail`."""
    with opened(database) as fast, open_store(database) as slow:
        start = fast.tail()[1]
        last_number = number_of_last(fast)
        inside, go_on = threading.Event(), threading.Event()

        def hold(connection: Any) -> None:
            connection.exec_driver_sql("set local idle_in_transaction_session_timeout = 0")
            inside.set()
            assert go_on.wait(600)

        event.listen(slow._transactions.writer, "commit", hold)
        with ThreadPoolExecutor(1) as pool:
            late = pool.submit(slow.append, [decision("late")], [])
            assert inside.wait(600)
            fast.append([decision("early")], [])
            by_number = tickets_after(fast, last_number)
            assert by_number == ["early"]
            seen, position = fast.tail(start)
            assert seen == []  # the horizon holds back what the slow one could still precede
            last_number = number_of_last(fast)
            go_on.set()
            late.result(600)
        assert tickets_after(fast, last_number) == []  # "late" is missed for ever
        after, _ = fast.tail(position)
        assert [each.body.ticket for each in after] == ["late", "early"]  # type: ignore[union-attr]


def number_of_last(store: Store) -> int:
    """The highest sequence number that can be seen."""
    return int(query(store, "select max(seq) from journal")[0][0])


def tickets_after(store: Store, number: int) -> list[str]:
    """What a reader who goes by sequence numbers would see."""
    found = query(store, f"select ticket from journal where seq > {number} order by seq")
    return [ticket for (ticket,) in found]


def query(store: Store, statement: str) -> list[Any]:
    """The rows of a statement."""
    return store._transactions.read(lambda each: list(each.execute(text(statement)).all()))


def test_an_outcome_follows_its_decision_whoever_wrote_it(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch that began before a decision cannot place that decision's outcome before it."""
    with opened(database) as store, open_store(database) as other:
        store.append([decision("before")], [])
        other.append([decision("known")], [])
        theirs, place = [decision("theirs")], postgres_module.place_decisions

        def interfere(*arguments: Any) -> Any:
            if theirs:
                other.append([theirs.pop()], [])
            return place(*arguments)

        monkeypatch.setattr(postgres_module, "place_decisions", interfere)
        store.append([decision("ours")], [told("theirs")])
        store.append([], [told("theirs"), told("ours")])
        assert not theirs
        assert_outcomes_follow(whole_journal(store))
        assert store.counts("ads").of("told") == 2


@pytest.mark.parametrize("reverse", [False, True])
def test_concurrent_duplicates_count_once(database: str, reverse: bool) -> None:
    """Several connections tell the same outcomes at once: one row each, one answer for all."""
    tickets = [f"t{number}" for number in range(40)]
    with opened(database) as store:
        store.append([decision(ticket) for ticket in tickets], [])
        at_once = threading.Barrier(WRITERS)

        def tell(name: int) -> list[tuple[Any, bool]]:
            order = tickets[::-1] if reverse and name % 2 else tickets
            with open_store(database) as own:
                at_once.wait(600)
                answers = own.append([], [told(ticket, name / 10) for ticket in order]).outcomes
            return sorted((answer.outcome, answer.counted) for answer in answers)

        with ThreadPoolExecutor(WRITERS) as pool:
            told_by = list(pool.map(tell, range(WRITERS)))
        stands = [[outcome for outcome, _ in answers] for answers in told_by]
        assert all(each == stands[0] for each in stands)
        assert sum(counted for answers in told_by for _, counted in answers) == len(tickets)
        assert store.counts("ads").of("told") == len(tickets)
        assert store.ages("ads", []) == {}


def test_concurrent_keys_are_answered_by_one_decision(database: str) -> None:
    """Several workers that decide under the same keys at once all answer with the same tickets."""
    with opened(database) as store:
        at_once = threading.Barrier(WRITERS)

        def ask(name: int) -> dict[str | None, str]:
            keys = [f"k{number}" for number in range(30)]
            keys = keys[::-1] if name % 2 else keys
            with open_store(database) as own:
                at_once.wait(600)
                given = [decision(f"w{name}-{key}", key=key) for key in keys]
                answers = own.append(given, []).decisions
            return {answer.decision.key: answer.decision.ticket for answer in answers}

        with ThreadPoolExecutor(WRITERS) as pool:
            answers = list(pool.map(ask, range(WRITERS)))
        assert all(each == answers[0] for each in answers)
        assert store.counts("ads").of("decided") == 30


def test_a_key_that_is_raced_by_batches_is_one_request(database: str) -> None:
    """Workers ask for 1, 2, 3 and 4 decisions under the same keys at once: one of them gets all."""
    with opened(database) as store:
        at_once = threading.Barrier(WRITERS)

        def ask(name: int) -> list[tuple[bool, int]]:
            found = []
            with open_store(database) as own:
                for number in range(20):
                    given = [
                        decision(
                            f"w{name}-{number}-{place}",
                            key=request_key(f"k{number}", place),
                            digest=f"batch {name}",
                        )
                        for place in range(name + 1)
                    ]
                    at_once.wait(600)
                    results = own.append(given, []).decisions
                    won = all(each.new for each in results)
                    assert won or not any(each.new or each.same_request for each in results)
                    found.append((won, len(results)))
            return found

        with ThreadPoolExecutor(WRITERS) as pool:
            by_worker = list(pool.map(ask, range(WRITERS)))
        for answers in zip(*by_worker, strict=True):
            assert sum(won for won, _ in answers) == 1
        handed_out = sum(number for answers in by_worker for won, number in answers if won)
        assert store.counts("ads").of("decided") == len(open_tickets(store)) == handed_out


def test_experts_told_by_many_are_closed(database: str) -> None:
    """When workers tell different arms of one ticket at once, the ticket is closed at the end."""
    with opened(database) as store:
        arms = [f"arm{number}" for number in range(WRITERS)]
        for ticket in ("e1", "e2", "e3"):
            store.append([experts(ticket, *arms, expires_at=1.0)], [])
            at_once = threading.Barrier(WRITERS)

            def tell(arm: str, ticket: str = ticket, at_once: Any = at_once) -> bool:
                with open_store(database) as own:
                    at_once.wait(600)
                    return own.append([], [told(ticket, arm=arm)]).outcomes[0].counted

            with ThreadPoolExecutor(WRITERS) as pool:
                assert all(pool.map(tell, arms))
        assert open_tickets(store) == []


def test_a_deadlock_is_tried_again(database: str) -> None:
    """Whoever is ended by the server to let another pass writes its batch afterwards."""
    change = "update open_tickets set at = at where ticket = %s"
    with opened(database) as store, psycopg.connect(database) as other:
        store.append([experts("e1", "a", "b"), experts("e2", "a", "b")], [])
        other.execute("set deadlock_timeout = '60s'")  # so that the store is the one to be ended
        other.execute(change, ("e2",))
        with ThreadPoolExecutor(1) as pool:
            telling = pool.submit(store.append, [], [told("e1", arm="a"), told("e2", arm="a")])
            wait_until_blocked(database)
            other.execute(change, ("e1",))
            other.commit()
            assert [answer.counted for answer in telling.result(600).outcomes] == [True, True]
        assert store.counts("ads").of("told") == 2


def wait_until_blocked(address: str) -> None:
    """Until somebody waits for somebody else's lock."""
    waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
    with psycopg.connect(address, autocommit=True) as watcher:
        until = time.monotonic() + 60
        while watcher.execute(waiting).fetchone() == (0,):
            assert time.monotonic() < until, "nobody waits"
            time.sleep(0.01)


def test_a_lost_connection_is_replaced(database: str) -> None:
    """When the server ends a connection between two calls, the next call does not notice."""
    with opened(database) as store:
        with psycopg.connect(database, autocommit=True) as other:
            other.execute(
                "select pg_terminate_backend(pid, 60000) from pg_stat_activity"
                " where pid <> pg_backend_pid() and backend_type = 'client backend'"
            )
        assert store.append([decision("t1")], []).decisions[0].new
        assert store.ticket("t1") is not None


def test_a_connection_lost_at_commit_is_in_doubt(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody acknowledges a commit whose answer was lost, and telling again settles it."""
    with opened(database) as store:
        insert = postgres_module.append_new

        def cut(cursor: Any, *records: Any) -> None:
            insert(cursor, *records)  # which is committed then
            with psycopg.connect(database, autocommit=True) as other:
                pid = cursor.connection.info.backend_pid
                other.execute("select pg_terminate_backend(%s, 60000)", (pid,))
            monkeypatch.setattr(postgres_module, "append_new", insert)
            cursor.execute("select 1")  # fails as if the answer before had not come

        store.append([decision("t1")], [])
        monkeypatch.setattr(postgres_module, "append_new", cut)
        with pytest.raises(StoreUnavailable, match="the store cannot be used now") as caught:
            store.append([], [told("t1", 0.1)])
        assert caught.value.in_doubt
        again = store.append([], [told("t1", 0.1)])
        assert again.outcomes[0].outcome == told("t1", 0.1)
        assert len(whole_journal(store)) == 3


def test_a_hanging_transaction_ends_by_itself(database: str) -> None:
    """The server ends a connection that sits in a transaction, so that it cannot stall tailers."""
    with opened(database) as store:
        ((timeout,),) = query(store, "show idle_in_transaction_session_timeout")
        assert timeout == "10s"


def test_durability_is_a_choice(database: str) -> None:
    """Commits wait for the disk unless a weaker mode is asked for by name."""
    with opened(database) as store:
        assert query(store, "show synchronous_commit") == [("on",)]
    with open_store(database, durability="off") as weaker:
        assert query(weaker, "show synchronous_commit") == [("off",)]


def test_a_restored_backup_goes_on_in_order(database: str) -> None:
    """On a server that has counted fewer transactions, earlier events are seen, and come first."""
    with opened(database) as store:
        store.append([decision("t1")], [told("t1")])
    with psycopg.connect(database) as other:  # as if a server far ahead had written them
        other.execute("update journal set turn = turn + 1000000000")
    with open_store(database) as store, open_store(database) as worker:
        store.append([decision("t2")], [])
        worker.append([], [told("t2")])
        bodies = [type(each.body).__name__ for each in whole_journal(store)]
        assert bodies == ["Note", "Decision", "Outcome", "Decision", "Outcome"]
        assert whole_journal(worker) == whole_journal(store)


def test_a_server_that_restarts_is_found_again(own_server: OwnServer) -> None:
    """While the server is away calls fail clearly; when it is back the next call works."""
    with empty_database(own_server.url) as address, opened(address) as store:
        store.append([decision("t1")], [])
        own_server.end_at_once()
        with pytest.raises(StoreUnavailable, match="the store cannot be used now"):
            store.append([decision("t2")], [])
        with pytest.raises(StoreUnavailable):
            store.tail()
        own_server.start_again()
        assert store.append([decision("t2")], [told("t1")]).outcomes[0].counted
        assert len(whole_journal(store)) == 4


def test_another_encoding_is_refused(postgres: str) -> None:
    """A database that cannot hold every name is refused when it is opened, in one sentence."""
    name = f"latin_{os.getpid()}"
    with psycopg.connect(postgres, autocommit=True) as server:
        server.execute(f"create database {name} encoding 'LATIN1' locale 'C' template template0")
        try:
            address = make_url(postgres).set(database=name).render_as_string(hide_password=False)
            with pytest.raises(ValueError, match="has the encoding LATIN1; it must be UTF8"):
                open_store(address)
        finally:
            server.execute(f"drop database {name} with (force)")


def test_passwords_stay_out_of_messages(tmp_path: Path) -> None:
    """A server that cannot be reached is reported without the password."""
    with pytest.raises(StoreUnavailable) as caught:
        open_store(f"postgresql://me:s3cret@/db?host={tmp_path}")
    assert "s3cret" not in str(caught.value)
