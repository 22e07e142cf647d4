"""What one SQLite file promises: one owner, and a clean refusal when the disk cannot keep it."""

import logging
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy import text

from belated.service.store import Store, StoreInUse, StoreUnavailable, open_store, sqlite_file
from tests.service.material import decision, open_tickets, told, whole_journal
from tests.service.store.power_loss import built_recorder, recording

HOLD = """
import sys
from belated.service.store import open_store
store = open_store(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
"""

FAILING_DISK = """
import sys
from pathlib import Path
from belated.service.store import StoreUnavailable, open_store
from tests.service.material import decision, open_tickets
from tests.service.material import open_tickets, told
from tests.service.material import open_tickets, whole_journal
failing = Path(sys.argv[2])
with open_store(sys.argv[1]) as store:
    store.create_problem("ads", {}, at=0.0)
    store.append([decision("t1")], [])
    failing.touch()
    for _ in range(2):
        try:
            store.append([decision("t2")], [told("t1")])
        except StoreUnavailable as error:
            print(error, error.in_doubt)
    assert len(whole_journal(store)) == 2
    failing.unlink()
    assert store.append([decision("t2")], [told("t1")]).outcomes[0].counted
"""


def opened(path: Path) -> Store:
    """A store with a problem in it."""
    store = open_store(path)
    store.create_problem("ads", {}, at=0.0)
    return store


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    """While a process has the file, another is told which; killed, it stands in nobody's way."""
    path = tmp_path / "belated.db"
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        with pytest.raises(StoreInUse, match=f"belated.db is in use by process {holder.pid};"):
            open_store(path)
        holder.send_signal(signal.SIGKILL)
        holder.wait(600)
    with opened(path) as store:
        with pytest.raises(StoreInUse, match=f"by process {os.getpid()};"):
            open_store(path)
        assert store.append([decision("t1")], []).decisions[0].new


@pytest.mark.parametrize("other_name", [False, True])
def test_the_lock_is_on_the_file_itself(tmp_path: Path, other_name: bool) -> None:
    """Whoever deletes the lock file, or links the database to another name, is refused as well."""
    path, second = tmp_path / "belated.db", tmp_path / "second.db"
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        path.with_name("belated.db.lock").unlink()
        if other_name:
            second.hardlink_to(path)
        with pytest.raises(StoreInUse, match="is in use by process unknown;"):
            open_store(second if other_name else path)
        holder.send_signal(signal.SIGKILL)
        holder.wait(600)
    with opened(path) as store:
        path.with_name("belated.db.lock").unlink()
        with pytest.raises(StoreInUse):
            open_store(path)
        assert store.append([decision("t1")], []).decisions[0].new
    open_store(path).close()


def test_nobody_else_can_read_the_files(tmp_path: Path) -> None:
    """The database, its log and the lock are made for their owner alone."""
    with opened(tmp_path / "belated.db"):
        modes = {each.name: each.stat().st_mode & 0o777 for each in tmp_path.iterdir()}
    assert set(modes) == {f"belated.db{end}" for end in ("", "-wal", "-shm", ".lock")}
    assert set(modes.values()) == {0o600}


def test_a_link_leads_to_the_same_owner(tmp_path: Path) -> None:
    """A file that is open under one name is in use under another."""
    (tmp_path / "link.db").symlink_to(tmp_path / "belated.db")
    with opened(tmp_path / "belated.db"), pytest.raises(StoreInUse):
        open_store(tmp_path / "link.db")


def test_a_closed_store_opens_again(tmp_path: Path) -> None:
    """What was written is there, by path and by address, and the file is one's own again."""
    path = tmp_path / "belated.db"
    with opened(path) as store:
        store.append([decision("t1")], [])
    with open_store(f"sqlite:///{path}") as store:
        assert store.append([], [told("t1")]).outcomes[0].counted
        before = whole_journal(store)
    with open_store(str(path)) as store:
        assert whole_journal(store) == before


def test_a_full_disk_is_refused_cleanly(tmp_path: Path) -> None:
    """Nothing of a batch that does not fit is written, and what fits later is."""
    with opened(tmp_path / "belated.db") as store:
        store.append([decision("t1")], [])
        limit_pages(store, 1)  # not below what there is, says SQLite: full as it stands
        many = [decision(f"m{number}", key="k" * 500 + str(number)) for number in range(200)]
        with pytest.raises(StoreUnavailable, match="database or disk is full") as caught:
            store.append(many, [told("t1")])
        assert not caught.value.in_doubt
        assert len(whole_journal(store)) == 2
        assert [each.ticket for each in open_tickets(store)] == ["t1"]
        limit_pages(store, 1_000_000)
        assert store.append(many, [told("t1")]).outcomes[0].counted
        assert len(whole_journal(store)) == 2 + len(many) + 1


def limit_pages(store: Store, pages: int) -> None:
    """Let the file grow to so many pages."""
    statement = text(f"pragma max_page_count = {pages}")
    store._transactions.write(lambda connection: connection.execute(statement).all())


def test_a_failing_disk_is_refused_cleanly(tmp_path: Path) -> None:
    """If a commit cannot be flushed it is not acknowledged; when the disk is well, all goes on."""
    folder = tmp_path / "live"
    folder.mkdir()
    path, failing = folder / "belated.db", tmp_path / "failing"
    environment = recording(
        built_recorder(tmp_path), folder, tmp_path / "log", BELATED_FAIL_SYNC=str(failing)
    )
    command = [sys.executable, "-c", FAILING_DISK, str(path), str(failing)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "the store cannot be used now: disk I/O error True\n" * 2
    with open_store(path) as store:
        assert len(whole_journal(store)) == 4


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    """A file that is no store is refused in a sentence, and is what it was."""
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("create table mine (number)")
    connection.close()
    note = tmp_path / "note.txt"
    note.write_text("not a database at all, but long enough to be looked at\n" * 50)
    for path, sentence in (
        (other, "other.db is a database, but not a store"),
        (note, "note.txt is not a database"),
    ):
        before = path.read_bytes()
        with pytest.raises(ValueError, match=sentence):
            open_store(path)
        with pytest.raises(ValueError, match=sentence):  # and the file is free again
            open_store(path)
        assert path.read_bytes() == before


def test_bad_addresses_are_refused(tmp_path: Path) -> None:
    """An address that leads nowhere gets one sentence."""
    with pytest.raises(ValueError, match="a store cannot be at mysql://"):
        open_store("mysql://host/db")
    with pytest.raises(ValueError, match="cannot be read as a URL"):
        open_store("postgresql://me:secret@host:port/db")
    with pytest.raises(ValueError, match="No such file or directory"):
        open_store(tmp_path / "no" / "belated.db")
    with pytest.raises(ValueError, match="durability is 'high'"):
        open_store(tmp_path / "belated.db", durability="high")  # type: ignore[arg-type]


def test_only_one_connection_can_write(tmp_path: Path) -> None:
    """The connections that read refuse to write."""
    with opened(tmp_path / "belated.db") as store:
        statement = text("delete from journal")
        with pytest.raises(StoreUnavailable, match="readonly"):
            store._transactions.read(lambda connection: connection.execute(statement))
        assert len(whole_journal(store)) == 1


def test_other_threads_read_while_one_writes(tmp_path: Path) -> None:
    """Readers in other threads see whole batches only, and hold nobody up."""
    with opened(tmp_path / "belated.db") as store:
        over, odd = threading.Event(), []

        def watch() -> None:
            while not over.is_set():
                counts, events = store.counts("ads"), len(whole_journal(store, 7)) - 1
                odd.extend(number for number in (counts.of("decided"), events) if number % 10)

        watchers = [threading.Thread(target=watch) for _ in range(2)]
        for watcher in watchers:
            watcher.start()
        for batch in range(30):
            store.append([decision(f"t{batch}-{number}") for number in range(10)], [])
        over.set()
        for watcher in watchers:
            watcher.join(600)
        assert store.counts("ads").of("decided") == 300
        assert [number for number in odd if number % 10] == []


def test_an_old_library_is_mentioned_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The version can be read, and one with a known fault is logged once, where logs are read."""
    monkeypatch.setattr(sqlite_file, "SOUND", (99, 0, 0))
    sqlite_file.mention_old_library.cache_clear()
    with caplog.at_level(logging.INFO):
        for _ in range(2):
            with open_store(tmp_path / "belated.db") as store:
                assert store.library == f"SQLite {sqlite3.sqlite_version}"
    assert caplog.text.count("has a fault in its write-ahead log") == 1
