"""The store of a sweep: nothing that was put is lost, and no other file is touched."""

import itertools
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from belated.sweep.sweep_store import APPLICATION, RunResult, SweepStore

DONE = RunResult('{"regret": 1.5}', None, 0.25)
FAILED = RunResult(None, "gap is 2; it must be below 1", 0.5)

WRITING = """
import itertools, sys
from belated.sweep.sweep_store import RunResult, SweepStore
with SweepStore(sys.argv[1]) as store:
    for number in itertools.count():
        store.put(str(number), RunResult("{}" * 200, None, 0.0))
        print(number, flush=True)
"""
MAKING = """
import itertools, sys
from pathlib import Path
from belated.sweep.sweep_store import SweepStore
print("begun", flush=True)
for number in itertools.count():
    SweepStore(Path(sys.argv[1]) / str(number)).close()
"""
HOLDING = """
import sys, time
from belated.sweep.sweep_store import SweepStore
store = SweepStore(sys.argv[1])
print("held", flush=True)
time.sleep(3600)  # it is killed before
"""


def started(code: str, path: Path) -> subprocess.Popen[str]:
    """A process that runs the code."""
    command = [sys.executable, "-c", code, str(path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def kill(process: subprocess.Popen[str]) -> None:
    """The end that no process can prepare for."""
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def test_what_was_put_is_there_when_the_file_is_opened_again(tmp_path: Path) -> None:
    """Rows and failures come back as they were, for the keys that are asked for."""
    with SweepStore(tmp_path / "sweep.db") as store:
        assert store.put("a", DONE)
        assert store.put("b", FAILED)
    with SweepStore(tmp_path / "sweep.db") as store:
        assert store.outcomes(["b", "a", "c"]) == {"b": FAILED, "a": DONE}
        assert store.duplicates == 0
    assert os.listdir(tmp_path) == ["sweep.db"]


def test_a_second_outcome_of_a_run_is_refused_and_counted(tmp_path: Path) -> None:
    """The first outcome stays, and the store remembers that another came."""
    with SweepStore(tmp_path / "sweep.db") as store:
        store.put("a", DONE)
        assert not store.put("a", FAILED)
        assert store.outcomes(["a"]) == {"a": DONE}
    with SweepStore(tmp_path / "sweep.db") as store:
        assert store.duplicates == 1


def test_only_failures_are_forgotten(tmp_path: Path) -> None:
    """A run that failed can be tried again; a row stays."""
    with SweepStore(tmp_path / "sweep.db") as store:
        store.put("a", DONE)
        store.put("b", FAILED)
        store.put("c", FAILED)
        store.forget_failures(["a", "b"])
        assert store.outcomes("abc") == {"a": DONE, "c": FAILED}


def test_a_kill_loses_nothing_that_was_put(tmp_path: Path) -> None:
    """A process killed again and again while it writes: all it reported is there."""
    for count in (1, 20, 300, 1000):
        path = tmp_path / str(count)
        process = started(WRITING, path)
        assert process.stdout is not None
        told = [int(line) for line in itertools.islice(process.stdout, count)]
        kill(process)
        with SweepStore(path) as store:
            assert len(store.outcomes(map(str, told))) == count
            assert store.duplicates == 0


def test_a_kill_while_stores_are_made_leaves_every_file_usable(tmp_path: Path) -> None:
    """Whatever is left of a store, complete or not begun, can be opened."""
    for moment in (0.0, 0.01, 0.03):
        folder = tmp_path / str(moment)
        folder.mkdir()
        process = started(MAKING, folder)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(moment)
        kill(process)
        for path in [path for path in folder.iterdir() if path.name.isdigit()]:
            with SweepStore(path) as store:
                assert store.put("a", DONE)


def test_a_store_in_use_is_refused_until_its_process_ends(tmp_path: Path) -> None:
    """Two sweeps on one file: the second is told so; after a kill the file is free at once."""
    path = tmp_path / "sweep.db"
    process = started(HOLDING, path)
    assert process.stdout is not None
    process.stdout.readline()
    with pytest.raises(ValueError, match=r"^sweep\.db is in use by another sweep; wait for it"):
        SweepStore(path)
    kill(process)
    with SweepStore(path) as store:
        assert store.outcomes([]) == {}


def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path: Path) -> None:
    """Text, another program's database, and a store of a format to come."""
    text, other, later = tmp_path / "notes.txt", tmp_path / "other.db", tmp_path / "later.db"
    text.write_text("not a database, and long enough to be taken for one\n" * 50)
    for path, statements in {
        other: "create table songs (title text);",
        later: f"pragma application_id = {APPLICATION}; pragma user_version = 9;",
    }.items():
        connection = sqlite3.connect(path)
        connection.executescript(statements)
        connection.close()
    for path, told in {
        text: "notes.txt is no store of a sweep; use another file",
        other: "other.db is a database, but not a sweep's store",
        later: "later.db is a store of another format; use a new file",
    }.items():
        before = path.read_bytes()
        with pytest.raises(ValueError) as caught:
            SweepStore(path)
        assert str(caught.value) == told
        assert path.read_bytes() == before


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    """A folder, a file in a folder that is not there, and a full disk, in a sentence each."""
    for path in (tmp_path, tmp_path / "nowhere" / "sweep.db"):
        with pytest.raises(ValueError, match="cannot be used as a store: unable to open"):
            SweepStore(path)
    with SweepStore(tmp_path / "sweep.db") as store:
        store._do("pragma max_page_count = 8")
        with pytest.raises(ValueError, match=r"^sweep\.db cannot be used as a store: .*full"):
            store.put("a", RunResult("x" * 100_000, None, 0.0))
        assert store.put("b", DONE)
        assert store.outcomes("ab") == {"b": DONE}


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    """As left by a process killed in its first moment, or made by hand."""
    path = tmp_path / "sweep.db"
    path.touch()
    with SweepStore(path) as store:
        assert store.put("a", DONE)
