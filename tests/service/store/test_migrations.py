"""The schema comes step by step, whatever version a database has."""

import gzip
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, inspect, text, update

from belated.learners.practical.practical_bandit import PracticalBandit
from belated.service.admin import offline
from belated.service.admin.verify import verified_at_rest
from belated.service.core.errors import StateConflictError
from belated.service.core.problems import checked_spec
from belated.service.core.replicas import Replicas
from belated.service.core.requests import RunOnThread
from belated.service.store import ApiKey, Decision, Note, Outcome, Store, open_store
from belated.service.store.migrations import STEPS, migrate, schema_version
from belated.service.store.schema import FACTS, METADATA
from tests.service.core.thread_client import thread_client
from tests.service.material import decision, open_tickets, told, whole_journal

UPGRADE = Path(__file__).with_name("upgrade")
FIRST_RELEASE, IN_USE = UPGRADE / "version_1.sql", UPGRADE / "version_1_in_use.sql"
WITH_SNAPSHOTS = UPGRADE / "version_1_with_snapshots.db.gz"


def test_a_new_store_has_the_newest_version(store: Store) -> None:
    """Every table is there, with the columns that queries ask for."""
    assert store._transactions.read(schema_version) == len(STEPS)

    def columns(connection):  # type: ignore[no-untyped-def]
        found = inspect(connection)
        return {
            name: {column["name"] for column in found.get_columns(name)} for name in METADATA.tables
        }

    asked = {name: set(table.c.keys()) for name, table in METADATA.tables.items()}
    assert store._transactions.read(columns) == asked


def test_steps_are_taken_once_and_in_order(address: str) -> None:
    """A further step changes a store that has data, once; a step that fails changes nothing."""
    more = [*STEPS, ["alter table problems add column colour text"]]
    broken = [*more, ["update problems set colour = 'red'", "this is no statement"]]
    with open_store(address) as store:
        store.create_problem("ads", {}, at=0.0)
        store.append([decision("t1")], [])
        assert store._transactions.write(lambda each: migrate(each, more)) == len(STEPS)
        assert store._transactions.write(lambda each: migrate(each, more)) == len(more)
        with pytest.raises(Exception, match="this"):
            store._transactions.write(lambda each: migrate(each, broken))
        assert store._transactions.read(schema_version) == len(more)
        colour = text("select colour from problems")
        assert store._transactions.read(lambda each: each.execute(colour).all()) == [(None,)]
        assert len(whole_journal(store)) == 2


def test_a_newer_store_is_refused(address: str) -> None:
    """An older belated does not touch what a newer one wrote."""
    with open_store(address) as store:
        newer = update(FACTS).where(FACTS.c.name == "schema_version").values(value="99")
        store._transactions.write(lambda connection: connection.execute(newer))
    with pytest.raises(ValueError, match="the store has schema version 99, and this belated knows"):
        open_store(address)


def restored(dump: Path, folder: Path) -> Path:
    """A database out of a dump."""
    connection = sqlite3.connect(folder / "belated.db")
    connection.executescript(dump.read_text())
    connection.close()
    return folder / "belated.db"


def test_the_first_release_can_be_read(tmp_path: Path) -> None:
    """A store as version 1 wrote it is opened with all that is in it, and goes on."""
    with open_store(restored(FIRST_RELEASE, tmp_path)) as store:
        assert store._transactions.read(schema_version) == len(STEPS)
        bodies = [event.body for event in whole_journal(store)]
        assert len(bodies) == 6
        record = store.ticket("t1")
        assert record is not None
        assert record.decision == Decision(
            "t1", "ads", 1, "red", 0.1 + 0.2, None, "v1", 10.25, "k1", "d1", 99.5, 7
        )
        assert record.outcomes == (Outcome("t1", "red", "told", 1 / 3, 20.5, 2, -1.5),)
        assert [each.ticket for each in open_tickets(store)] == ["t2"]
        assert store.counts("ads").by_arm["red"] == {"decided": 1, "told": 1}
        snapshot = store.snapshots.latest("ads")
        assert snapshot is not None
        assert snapshot.blob == b"\x00state\xff"
        assert store.keys.all() == [ApiKey("abc", "shop", ("ads:ask",), 1.5, None)]
        assert store.append([], [told("t2", arm="b"), told("t1")]).outcomes[0].counted
        assert store.record_in_turn(Note("ads", "arms", {"add": ["blue"], "remove": []}, 2.0), 0)
        assert offline.outlines(store, True)[0]["arms"] == ["red", "green", "blue"]


def test_problems_in_use_go_on(tmp_path: Path) -> None:
    """As written before arms could change: the journal is folded anew, and its plays end.

    Every probability in it is the one that this code predicts, too.
    """
    with open_store(restored(IN_USE, tmp_path)) as store:
        assert [finding.complaints for finding in verified_at_rest(store)] == [[], [], []]
        waiting = [store.ticket("000003vd71fr0c2t5ahcezx8pc"), store.ticket("0" * 26)]
        assert [each and each.decision.arm for each in waiting] == ["green", None]
        with thread_client(store) as thread:
            assert thread.change_arms("weather", ["icon"], ["ecmwf"]) == ("gfs", "icon")
            assert thread.change_arms("ads", [], ["green"]) == ("red",)
            assert thread.tell("000003vd71fr0c2t5ahcezx8pc", 0.5).counted
            again = thread.ask("ads", key="k1", digest="d")
            assert (again.ticket, again.arm) == ("000003tvmgqsxs990atnpb7jdw", "green")
            assert thread.ask("ads").round == 10
            with pytest.raises(StateConflictError, match="for good"):
                thread.change_arms("over", ["c"])
        assert [finding.complaints for finding in verified_at_rest(store)] == [[], [], []]


def seen_in(replicas: Replicas) -> dict[str, Any]:
    """What a store's problems look like, as the version before wrote it down."""
    return {
        name: {
            "round": replica.round,
            "status": replica.status,
            "late": replica.late_reports,
            "pending": len(replica.open),
            "weights": dict(zip(replica.problem.arms, replica.weights().tolist(), strict=True)),
        }
        for name, replica in replicas.by_name.items()
    }


def test_a_store_with_snapshots_goes_on_with_the_same_numbers(tmp_path: Path) -> None:
    """A store of schema version 1, killed after its snapshots: migrated, verified, continued.

    It has bandits and experts, changed arms, cancelled, expired and late tickets. All numbers and
    the next decisions are those that the version that wrote it gave. Only the practical bandit is
    another learner since: it has learned from the same journal, and weighs the arms otherwise.
    """
    db = tmp_path / "belated.db"
    db.write_bytes(gzip.decompress(WITH_SNAPSHOTS.read_bytes()))
    wanted = json.loads(WITH_SNAPSHOTS.with_name("version_1_with_snapshots.json").read_text())
    with open_store(db) as store:
        assert store.schema_version == len(STEPS)
        assert store.snapshots.latest("practical") is not None
        results = verified_at_rest(store)
        assert [result.complaints for result in results] == [[]] * len(results)
        events = {each.problem: [each.events, each.rounds, each.pending] for each in results}
        assert events == wanted["verified"]
        with thread_client(store, seed=5) as thread:
            seen = thread.do(RunOnThread(lambda store, replicas: seen_in(replicas)))
            weights, before = (
                each["practical"].pop("weights") for each in (seen, wanted["problems"])
            )
            assert (list(weights), weights == before) == (list(before), False)
            assert seen == wanted["problems"]
            for name, decisions in wanted["next"].items():
                made = [thread.ask(name) for _ in decisions]
                if name == "practical":
                    assert made[0].probability == weights[str(made[0].arm)]
                    assert [d.round for d in made] == [round_ for round_, *_ in decisions]
                    continue
                assert [[d.round, d.arm, d.probability, d.weights] for d in made] == decisions
            for decision in made:
                if decision.arm is not None:
                    assert thread.tell(decision.ticket, 0.5).counted
        assert all(result.is_clean for result in verified_at_rest(store))
    with open_store(db) as store:  # the snapshots of this version
        assert all(result.is_clean for result in verified_at_rest(store))


def test_options_of_the_practical_bandit_of_before_are_ignored(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A line of the log names them; the problem is served, and nothing of it is changed."""
    spec = {
        "kind": "bandit", "arms": ["red", "green"], "learner": "practical-bandit",
        "options": {"rate": 4.0, "listens": False, "forgets": False}, "loss_range": [0.0, 1.0],
        "expire_after": 9, "expire_seconds": None, "default_loss": 1.0,
    }  # fmt: skip
    with open_store(tmp_path / "belated.db") as store:
        store.create_problem("ads", spec, at=0.0)
        store.append([decision("t1"), decision("t2", round=2, arm="green")], [told("t1", 0.25)])
        with thread_client(store) as thread:
            assert (
                caplog.text.count("which has no option rate and no listens; this is ignored") == 1
            )
            replica = thread.do(RunOnThread(lambda store, replicas: replicas.named("ads")))
            assert replica.learner == PracticalBandit(2, forgets=False, default_loss=1.0)
            assert thread.ask("ads").round == 3
            assert thread.tell("t2", 0.5).counted
        assert store.problem("ads").spec == spec
        assert [finding.complaints for finding in verified_at_rest(store)] == [[]]
    with pytest.raises(ValueError, match="practical-bandit has no option 'rate'"):
        checked_spec({"arms": ["red"], "options": {"rate": 4.0}})


def test_indexes_come_and_go(address: str) -> None:
    """Schema version 2 drops the indexes on deadlines, 3 makes the one of PostgreSQL again."""

    def indexes(connection: Connection) -> set[str | None]:
        return {each["name"] for each in inspect(connection).get_indexes("open_tickets")}

    def undo(connection: Connection) -> None:
        for name in ("journal_note_place", "open_until", "journal_named"):
            connection.exec_driver_sql(f"drop index if exists {name}")
        connection.exec_driver_sql("alter table journal drop column checksum")
        connection.exec_driver_sql("alter table journal drop column branch")
        connection.exec_driver_sql("alter table journal drop column cohort")
        connection.exec_driver_sql("alter table journal drop column outcome")
        connection.exec_driver_sql("alter table journal drop column revision")
        connection.exec_driver_sql("alter table journal drop column context")
        connection.exec_driver_sql("alter table journal drop column actions")
        connection.exec_driver_sql("drop table checkpoints")
        for name in ("generation", "deleted_at"):
            connection.exec_driver_sql(f"alter table problems drop column {name}")
        for statement in STEPS[0]:
            if statement.startswith("create index open_"):
                connection.exec_driver_sql(statement)
        version = update(FACTS).where(FACTS.c.name == "schema_version").values(value="1")
        connection.execute(version)

    with open_store(address) as store:
        store.create_problem("ads", {}, at=0.0)
        store.append([decision("t1", expires_at=5.0, expires_round=3)], [])
        store._transactions.write(undo)
        assert store._transactions.read(indexes) == {"open_until", "open_rounds"}
    with open_store(address) as store:
        assert store.schema_version == len(STEPS)
        kept = set() if address.endswith(".db") else {"open_until"}
        assert store._transactions.read(indexes) == kept
        assert [(each.expires_at, each.expires_round) for each in open_tickets(store)] == [(5.0, 3)]


def test_checkpoints_of_earlier_formats_are_read(tmp_path: Path) -> None:
    """A checkpoint cannot be made again, so every later version goes on from it.

    If this fails because a learner has got another state, or a replica other bytes, the reading
    must learn to take the old ones: see `core.snapshots`.
    """
    db = tmp_path / "belated.db"
    db.write_bytes(gzip.decompress((UPGRADE / "checkpoints_6.db.gz").read_bytes()))
    wanted = json.loads((UPGRADE / "checkpoints_6.json").read_text())
    with open_store(db) as store:
        results = verified_at_rest(store)
        assert [result.complaints for result in results] == [[]] * len(results)
        found = {r.problem: [r.retained, r.events, r.rounds, r.pending] for r in results}
        assert found == wanted["verified"]
        assert all(retained > 30 for retained, *_ in found.values())
        with thread_client(store, seed=5, clock=lambda: 1_700_000_040.0) as thread:
            seen = thread.do(RunOnThread(lambda store, replicas: seen_in(replicas)))
            assert seen == wanted["problems"]
            for name, decisions in wanted["next"].items():
                made = [thread.ask(name) for _ in decisions]
                assert [[d.round, d.arm, d.probability, d.weights] for d in made] == decisions
        assert all(result.is_clean for result in verified_at_rest(store))
