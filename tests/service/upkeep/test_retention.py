"""Retention: old tickets are folded into checkpoints, and nothing else changes."""

import json
import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from sqlalchemy import text

from belated.replay.logs import read_log
from belated.service.admin.export import retained_of, rows_of, write_log
from belated.service.admin.retain import RetentionDone, retain
from belated.service.admin.verify import verified_at_rest
from belated.service.contexts import canonical
from belated.service.core import replicas as replicas_module
from belated.service.core import snapshots as snapshots_module
from belated.service.core.errors import (
    NotFoundError,
    TicketExpiredError,
    TicketRetainedError,
    UnavailableError,
)
from belated.service.core.replicas import Replicas
from belated.service.core.requests import Cancel, ReportResult
from belated.service.store import (
    START,
    Decision,
    NamedOutcome,
    Note,
    Outcome,
    Store,
    open_store,
)
from belated.service.store.checksums import checksum_of
from belated.service.upkeep import retention
from belated.service.upkeep.archive import Archive
from belated.types import Setting
from tests.service.core.thread_client import (
    ThreadClient,
    busy,
    fingerprints_in,
    take_snapshots,
    thread_client,
)
from tests.service.material import LAST

ARMS = ["red", "green", "blue"]
NAMES = ("ads", "short", "weighed", "seen", "orders")
OUTCOMES = {"names": ["sale", "refund"], "rule": "sum", "revise_within": 2.0}
NOW = 1_700_000_000.0
KINDS = {"decided": Decision, "named": NamedOutcome}
YOUNG = 10.0  # seconds; what is older is retained


class Clock:
    """A time of day that the test sets."""

    def __init__(self, now: float = NOW) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def create(thread: ThreadClient) -> None:
    """Problems of several kinds: tickets expire, decisions have contexts, outcomes have names."""
    thread.create("ads", arms=ARMS, learner="practical-bandit")
    thread.create("short", arms=ARMS, expire_after=3, default_loss=1.0)
    thread.create("weighed", arms=ARMS, learner="practical-experts")
    held = {"share": 0.3, "arm": "red"}
    features = {"age": "number"}
    seen = {"learner": "linear", "features": features, "default_loss": 1.0, "holdout": held}
    thread.create("seen", arms=ARMS, **seen)
    thread.create("orders", arms=ARMS, soft_range=[0.0, 1.0], outcomes=OUTCOMES)


def play(clients: list[ThreadClient], clock: Clock, rounds: int, seed: int) -> None:
    """Ask, and tell most of it later in another order; a round takes a second."""
    chance, waiting = random.Random(seed), list[tuple[str, str, str | None]]()
    for _ in range(rounds):
        clock.now += 1.0
        for name in NAMES:
            known = [canonical({"age": chance.random()})] if name == "seen" else []
            asked = {"key": f"{clock.now} {name}", "digest": "d", "contexts": known}
            made = chance.choice(clients).ask(name, **asked)
            waiting.append((name, made.ticket, made.arm))
        while len(waiting) > 12:
            name, ticket, arm = waiting.pop(chance.randrange(len(waiting)))
            for each in [arm] if arm else ARMS:
                with suppress(TicketExpiredError):
                    tell(chance.choice(clients), name, ticket, each, chance.random())


def tell(client: ThreadClient, name: str, ticket: str, arm: str, value: float) -> ReportResult:
    """Report on a ticket as its problem wants it."""
    if name == "orders":
        return client.tell(ticket, reward=value, outcome="sale")
    return client.tell(ticket, value, arm=arm)


@pytest.fixture
def played(address: str) -> Iterator[tuple[Store, Clock]]:
    """A store in which thirty rounds were played, and its clock."""
    clock = Clock()
    with open_store(address, "off") as store:
        with thread_client(store, clock=clock) as thread:
            create(thread)
            play([thread], clock, 30, 1)
        yield store, clock


Played = tuple[Store, Clock]


def done(store: Store, clock: Clock, folder: Path | None = None) -> RetentionDone:
    """A retention of all but the last seconds."""
    return retain(store, YOUNG, clock.now, folder)


def complaints(store: Store) -> list[str]:
    """All that verification finds wrong."""
    return [text for each in verified_at_rest(store) for text in each.complaints]


def run(store: Store, statement: str) -> list[tuple[object, ...]]:
    """What a statement gives."""
    made = text(statement)

    def work(connection):  # type: ignore[no-untyped-def]
        found = connection.execute(made)
        return [tuple(row) for row in found] if found.returns_rows else []

    return store._transactions.write(work)


def rows(store: Store) -> int:
    """How many rows the journal has."""
    [(number,)] = run(store, "select count(*) from journal")
    assert isinstance(number, int)
    return number


def without_snapshots(store: Store) -> None:
    """Forget all snapshots."""
    for name in NAMES:
        store.snapshots.prune(name, 0)


def states(store: Store) -> dict[str, str]:
    """The states that a start would load."""
    return fingerprints_in(Replicas.loaded(store))


def test_the_state_goes_on_bit_for_bit(played: Played) -> None:
    """The fold from checkpoints, again and again, is that of the whole journal."""
    store, clock = played
    tallies = {name: store.counts(name) for name in NAMES}
    whole, number = states(store), rows(store)
    found = done(store, clock)
    assert found.tickets > 30
    assert found.deleted == number + len(NAMES) - rows(store)  # a note for each problem
    with_notes = states(store)  # snapshots, and the notes about retention
    without_snapshots(store)
    assert states(store) == with_notes != whole
    assert {name: store.counts(name) for name in NAMES} == tallies
    assert complaints(store) == []
    for seed in (2, 3):
        with thread_client(store, clock=clock) as thread:
            play([thread], clock, 15, seed)
        assert done(store, clock).deleted > 0
        without_snapshots(store)
        assert complaints(store) == []
    assert done(store, clock).deleted == 0


def test_decisions_are_those_without_retention(tmp_path: Path) -> None:
    """The same seed makes the same decisions, whether the journal is shortened meanwhile or not."""
    made = []
    for shortened in (False, True):
        clock = Clock()
        with open_store(tmp_path / f"{shortened}.db") as store:
            for part in range(3):
                with thread_client(store, seed=part, clock=clock) as thread:
                    if part == 0:
                        create(thread)
                    play([thread], clock, 15, part)
                if shortened:
                    assert done(store, clock).deleted > 0
                    without_snapshots(store)
            with thread_client(store, seed=9, clock=clock) as thread:
                last = [thread.ask(name) for name in NAMES for _ in range(5)]
            made.append([(each.round, each.arm, each.probability, each.weights) for each in last])
    assert made[0] == made[1]


def test_a_retained_ticket_is_answered_clearly(played: Played) -> None:
    """Not as an unknown one, and nothing is written; one that never was stays unknown."""
    store, clock = played
    [(ticket,)] = run(
        store, "select ticket from journal where kind = 'told' and problem = 'ads' and seq < 80"
    )[:1]
    [(key,)] = run(store, f"select key from journal where ticket = '{ticket}' and round > 0")
    assert isinstance(ticket, str)
    assert isinstance(key, str)
    done(store, clock)
    number = rows(store)
    with thread_client(store, clock=clock) as thread:
        for _ in range(2):
            with pytest.raises(TicketRetainedError, match="only a checkpoint is kept; nothing can"):
                thread.tell(ticket, 0.5)
        with pytest.raises(TicketRetainedError):
            thread.do(Cancel(ticket))
        with pytest.raises(NotFoundError):
            thread.tell("z" * 26, 0.5)  # of a time to come
        with pytest.raises(NotFoundError):
            thread.tell("unheard-of", 0.5)
    assert store.ticket(ticket) is None
    assert rows(store) == number
    assert complaints(store) == []


def test_open_tickets_and_young_keys_are_kept(played: Played) -> None:
    """What waits can be told, whatever its age; a key of what is kept gets the same decision."""
    store, clock = played
    waiting = run(store, "select ticket, arm, problem from open_tickets order by ticket")
    [(young, key)] = run(
        store,
        "select ticket, key from journal where kind = 'decided' and problem = 'ads' "
        "order by seq desc limit 1",
    )
    clock.now += 1_000.0
    done(store, clock)
    assert run(store, "select count(*) from journal where kind = 'decided'") == [(len(waiting),)]
    with thread_client(store, clock=clock) as thread:
        again = thread.ask("ads", key=str(key).partition("\n")[0], digest="d")
        assert again.ticket == young
        for ticket, arm, problem in waiting:
            for each in [arm] if arm else ARMS:
                if problem not in ("short", "orders"):  # whose time is over
                    assert tell(thread, str(problem), str(ticket), str(each), 0.25).counted
    assert complaints(store) == []
    clock.now += 1_000.0
    done(store, clock)
    assert run(store, "select count(*) from journal where ticket is not null") != [(0,)]  # short
    assert complaints(store) == []


def test_a_start_does_not_read_what_lies_before(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where superfluous rows were not deleted yet, and no snapshot helps."""
    store, clock = played
    monkeypatch.setattr("belated.service.admin.retain.sweep", lambda store, pause: iter(()))
    assert done(store, clock).deleted == 0
    without_snapshots(store)
    after = run(store, f"select count(*) from journal where at > {clock.now - YOUNG}")
    read = []
    tail = type(store).tail

    def counted(self, *args, **named):  # type: ignore[no-untyped-def]
        events, position = tail(self, *args, **named)
        read.extend(events)
        return events, position

    monkeypatch.setattr(type(store), "tail", counted)
    loaded = Replicas.loaded(store)
    monkeypatch.undo()
    assert [(len(read),)] == after
    assert loaded.by_name["ads"].round == 30
    assert complaints(store) == []  # rows that wait to be deleted are no fault
    assert done(store, clock).deleted > 0
    assert complaints(store) == []


def test_a_damaged_checkpoint_is_noticed(played: Played) -> None:
    """Its problem is not served with another state than it had, and verification says why."""
    store, clock = played
    done(store, clock)
    run(store, "update checkpoints set sums = sums || ' ' where problem = 'ads'")
    without_snapshots(store)
    assert "its checkpoint is damaged" in str(complaints(store))
    with thread_client(store, clock=clock) as thread:
        with pytest.raises(UnavailableError, match="its checkpoint is damaged"):
            thread.ask("ads")
        assert thread.ask("short").round == 31
    assert done(store, clock).deleted == 0  # it keeps all that it has


@pytest.mark.parametrize(
    ("statement", "complaint"),
    [
        ("delete from journal where kind = 'decided' and at < {old}", "open tickets are lacking"),
        ("update journal set at = at + 1 where kind = 'decided' and at < {old}", "as it was writ"),
        ("update tallies set count = count + 1 where kind = 'told'", "tallies"),
    ],
)
def test_what_lies_before_checkpoints_is_verified(
    played: Played, statement: str, complaint: str
) -> None:
    """The rows that are kept there, and the sums."""
    store, clock = played
    done(store, clock)
    run(store, statement.format(old=clock.now - YOUNG))
    assert complaint in str(complaints(store))


def test_rows_are_archived_once(played: Played, tmp_path: Path) -> None:
    """Whatever is killed when, a row is deleted only if it is in the archive, once."""
    store, clock = played
    before = {row[0] for row in run(store, "select seq from journal")}
    lost = retention.prepared(store, YOUNG, clock.now, Archive(tmp_path / "old"))
    assert lost is not None  # and killed before the commit
    assert archived(tmp_path / "old") == []
    found = retention.prepared(store, YOUNG - 1.0, clock.now, Archive(tmp_path / "old"))
    assert found is not None
    assert retention.commit(store, None, found)  # and killed after it
    assert archived(tmp_path / "old") == []
    assert done(store, clock, tmp_path / "old").deleted > 0
    left = {row[0] for row in run(store, "select seq from journal")}
    gone = archived(tmp_path / "old")
    assert len(gone) == len(set(gone)) == len(before - left)
    assert set(gone) == before - left
    play_more(store, clock)
    done(store, clock, tmp_path / "old")
    assert len(archived(tmp_path / "old")) > len(gone)
    assert len(list((tmp_path / "old").iterdir())) == 2
    assert complaints(store) == []


def test_an_archived_row_is_all_there(played: Played, tmp_path: Path) -> None:
    """From its columns the very record can be made that its checksum is of."""
    store, clock = played
    done(store, clock, tmp_path)
    [file] = tmp_path.glob("*.parquet")
    found, kinds = pyarrow.parquet.read_table(file).to_pylist(), set[type]()
    for row in found:
        kind: Any = Note if row["ticket"] is None else KINDS.get(row["kind"], Outcome)
        row |= {"name": row["outcome"], "reward": row["raw"]}  # as a named outcome calls them
        said = {name: row[name] for name in kind._fields}
        for name in ("weights", "payload"):
            if said.get(name) is not None:
                said[name] = json.loads(said[name])
        assert checksum_of(kind(**said)) == row["checksum"]
        kinds.add(kind)
    assert kinds >= {Decision, Outcome, NamedOutcome}
    assert any(row["branch"] is not None for row in found)


def test_an_archive_is_never_overwritten(played: Played, tmp_path: Path) -> None:
    """Two databases may reach the same position, and somebody may give them one folder."""
    store, clock = played
    found = retention.prepared(store, YOUNG, clock.now, Archive(tmp_path / "other"))
    assert found is not None
    position = found.retention.position
    (tmp_path / "old").mkdir()
    theirs = tmp_path / "old" / f"journal-{position}-0001.parquet"
    theirs.write_text("of another database")
    before = rows(store)
    with pytest.raises(UnavailableError, match="give another folder"):
        done(store, clock, tmp_path / "old")
    assert theirs.read_text() == "of another database"
    assert rows(store) == before
    assert store.checkpoints.reached().position == START
    assert done(store, clock, tmp_path / "mine").deleted > 0


def play_more(store: Store, clock: Clock) -> None:
    """Twenty rounds more."""
    with thread_client(store, clock=clock) as thread:
        play([thread], clock, 20, 4)


def archived(folder: Path) -> list[int]:
    """The numbers of all rows in an archive."""
    files = sorted(folder.glob("*.parquet"))
    positions = [
        each for file in files for each in pyarrow.parquet.read_table(file)["position"].to_pylist()
    ]
    return [int(each.partition("-")[2], 16) for each in positions]


def test_export_says_what_is_left_out(played: Played, tmp_path: Path) -> None:
    """What is left can be replayed; how much is not there is said."""
    store, clock = played
    assert retained_of(store, "ads") is None
    done(store, clock)
    problem = store.problem("ads")
    assert problem is not None
    found = retained_of(store, "ads")
    exported = rows_of(store, problem)
    assert found is not None
    assert found["until"] == clock.now - YOUNG
    assert found["tickets"] + len(exported) == 30
    write_log(exported, tmp_path / "log.csv")
    assert len(read_log(tmp_path / "log.csv", Setting.CONCEALED).rounds) == len(exported)


def test_retention_beside_workers(database: str) -> None:
    """Two workers play while a third process retains; one of them is stopped meanwhile.

    It finds that the journal was shortened beyond what it has read, and loads all again.
    """
    clock = Clock()
    with open_store(database) as store, open_store(database) as other:
        with (
            thread_client(store, 1, clock=clock) as one,
            thread_client(other, 2, clock=clock) as two,
        ):
            create(one)
            play([one, two], clock, 10, 1)
            go_on = busy(two)
            play([one], clock, 10, 2)
            clock.now += 100.0
            with open_store(database) as third:
                assert done(third, clock).deleted > 0
            go_on.set()
            play([one, two], clock, 10, 3)
            one.catch_up(), two.catch_up()
            assert one.states() == two.states()
        assert complaints(store) == []
        without_snapshots(store)
        assert complaints(store) == []


def test_one_retains_at_a_time(address: str) -> None:
    """Who comes second is told so; and checkpoints that others have overtaken are refused."""
    with open_store(address) as store, store.retaining() as alone:
        assert alone
        with pytest.raises(UnavailableError, match="somebody else retains"):
            retain(store, 0.0, NOW, None)
        assert not store.retain([], store.checkpoints.reached(), LAST, [], {})
        assert store.checkpoints.reached().position == START


def test_checkpoints_of_another_version_are_gone_on_from(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by who has a snapshot: the state in use is the fold from the checkpoints."""
    store, clock = played
    with monkeypatch.context() as other:
        other.setattr(retention, "code_version", lambda: "other")
        done(store, clock)
    loaded = Replicas.loaded(store)
    assert "folded again" not in str(loaded.broken)
    assert complaints(store) == []
    if not store.one_owner:
        take_snapshots(store, loaded, loaded.position)
        assert complaints(store) == []


def test_checkpoints_of_another_version_day_after_day(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an upgrade the notes about earlier checkpoints lie behind the newest one."""
    store, clock = played
    with monkeypatch.context() as other:
        for module in (retention, replicas_module, snapshots_module):
            other.setattr(module, "code_version", lambda: "other")
        for seed in (2, 3):
            done(store, clock)
            with thread_client(store, clock=clock) as thread:
                play([thread], clock, 4, seed)
    loaded = Replicas.loaded(store)
    assert set(loaded.by_name) == set(NAMES)
    assert loaded.broken == {}
    assert complaints(store) == []
