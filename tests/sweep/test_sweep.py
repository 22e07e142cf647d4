"""Sweeps: complete, nothing twice, and the same table, whoever is killed on the way.

With BELATED_SOAK=1 the sweeps with killed workers have 2,000 runs instead of 200.
"""

import functools
import itertools
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from belated import __version__
from belated.comparison.compare import compare
from belated.comparison.table import Table
from belated.environments.scenarios import scenario
from belated.sweep import sweep as sweeps
from belated.sweep.grid import Grid, GridRun
from belated.sweep.sweep import SweepError, SweepResult, run_sweep, sweep, work
from belated.sweep.sweep_store import RunResult, SweepStore
from belated.sweep.workers import GivenWorkers, LocalWorkers, dask_executor
from belated.types import BelatedWarning

SOAK = bool(os.environ.get("BELATED_SOAK"))
SEEDS = range(250 if SOAK else 25)
SCENARIO = "late-best:rounds=500,arms=3,delay=5|50"
LEARNERS = ("concealed:variant=paper|repaired", "partially-concealed", "full-information")

DRIVER = """
import sys
from belated.sweep.grid import Grid
from belated.sweep.sweep import sweep
grid = Grid("late-best:rounds=500,arms=3", ["concealed", "full-information"], range(40))
sweep(grid, sys.argv[1], progress=lambda stored, total: print(stored, flush=True))
"""


def small(seeds: int = 3, scenarios: Any = "late-best:rounds=60,arms=3,delay=5") -> Grid:
    """A grid of runs that take no time."""
    return Grid(scenarios, "full-information", range(seeds))


class Recording(Executor):
    """Runs everything in this thread, at once, and remembers what it was asked for."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def submit(self, function: Callable[..., Any], /, *values: Any, **options: Any) -> Any:
        self.keys.append(values[0])
        future: Future[Any] = Future()
        future.set_result(function(*values))
        return future


@functools.cache
def big() -> Grid:
    """The grid of the sweeps whose workers are killed."""
    return Grid(SCENARIO, LEARNERS, SEEDS)


@functools.cache
def one_by_one() -> Table:
    """What the grid gives when every run is simply made, one after the other, by no sweep."""
    records = []
    for run in map(GridRun.of, big().keys()):
        environment = scenario(run.scenario, **run.scenario_options)
        [row] = compare([run.contender], environment, 1, seed=run.seed, workers=1).runs()
        del row["seconds"]
        records.append({**run.columns, **row, "scenario": "late-best"})
    return Table.of(records)


class Killer:
    """Kills a worker (-9) after every 50 runs that were stored."""

    def __init__(self, workers: Callable[[], list[int]]) -> None:
        self.workers = workers
        self.killed: list[int] = []
        self.stored = 0

    def __call__(self, stored: int, total: int) -> None:
        """Watch the progress of a sweep."""
        pids = self.workers() if stored - self.stored >= 50 and stored < total else []
        if pids:
            self.killed.append(pids[len(self.killed) % len(pids)])
            os.kill(self.killed[-1], signal.SIGKILL)
            self.stored = stored


def local_workers(driver: int | None = None) -> list[int]:
    """The worker processes of a sweep: children of its fork server."""
    servers = psutil.Process(driver).children()
    return [child.pid for server in servers for child in server.children()]


def check_complete(report: SweepResult, path: Path, killer: Killer, seconds: float) -> None:
    """Every run is stored once, and the table is that of the runs made one by one."""
    with SweepStore(path) as store:
        stored = store.outcomes(big().keys())
    missing = len(big().keys()) - len(stored)
    print(
        f"\n{len(stored)} runs, {len(killer.killed)} kills, {seconds:.0f} s, {missing} missing, "
        f"{report.duplicates} duplicates, {report.resubmitted} handed in again, "
        f"tables equal: {report.table == one_by_one()}"
    )
    assert missing == 0
    assert report.duplicates == 0
    assert report.failures == {}
    assert report.table == one_by_one()
    assert report.table.to_csv() == one_by_one().to_csv()
    assert len(killer.killed) >= 3


@pytest.mark.compiled  # slow without
def test_a_sweep_whose_local_workers_are_killed_is_complete(tmp_path: Path) -> None:
    """Kill after kill, 0 missing, 0 duplicates, and the table of the runs made one by one."""
    killer, started = Killer(local_workers), time.monotonic()
    report = run_sweep(big(), tmp_path / "sweep.db", LocalWorkers(2), killer)
    check_complete(report, tmp_path / "sweep.db", killer, time.monotonic() - started)
    assert report.resubmitted >= len(killer.killed)
    assert local_workers() == []


@pytest.mark.compiled  # slow without
def test_a_sweep_whose_dask_workers_are_killed_is_complete(tmp_path: Path) -> None:
    """The same on a Dask cluster of two worker processes on loopback."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as watcher,
        dask_executor(cluster.scheduler_address) as executor,
    ):
        # Only workers that have reported to the scheduler: Dask does not start one again that is
        # killed before it has.
        killer = Killer(lambda: list(watcher.run(os.getpid, on_error="ignore").values()))
        started = time.monotonic()
        report = run_sweep(big(), tmp_path / "sweep.db", GivenWorkers(executor), killer)
        seconds = time.monotonic() - started
    check_complete(report, tmp_path / "sweep.db", killer, seconds)


@pytest.mark.compiled  # slow without
def test_a_killed_sweep_goes_on_where_it_stood(tmp_path: Path) -> None:
    """The driver killed (-9) twice: its workers end, and what is left is run, nothing else."""
    path = tmp_path / "sweep.db"
    grid = Grid("late-best:rounds=500,arms=3", ["concealed", "full-information"], range(40))
    for enough in (10, 30):
        command = [sys.executable, "-c", DRIVER, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
            assert driver.stdout is not None
            told = next(int(line) for line in driver.stdout if int(line) >= enough)
            workers = [psutil.Process(pid) for pid in local_workers(driver.pid)]
            driver.kill()
        assert workers
        assert psutil.wait_procs(workers, timeout=600)[1] == []
        with SweepStore(path) as store:
            stored = store.outcomes(grid.keys())
        assert told <= len(stored) < 80
    executor = Recording()
    report = run_sweep(grid, path, GivenWorkers(executor))
    assert executor.keys == list(itertools.filterfalse(stored.__contains__, grid.keys()))
    assert (report.before, report.duplicates) == (len(stored), 0)
    assert report.table == sweep(grid, tmp_path / "other.db", Recording())


def test_a_row_is_that_of_a_comparison(tmp_path: Path) -> None:
    """All columns but the time, and the options beside them, in the order of the grid."""
    grid = Grid({"late-best": {"rounds": 60, "gap": [0.1, 0.2]}}, "concealed:max_missing=9|8", [4])
    table = sweep(grid, tmp_path / "sweep.db", Recording())
    assert table.column("gap") == [0.1, 0.1, 0.2, 0.2]
    assert table.column("learner_max_missing") == [9, 8, 9, 8]
    environment = scenario("late-best", rounds=60, gap=0.2)
    [expected] = compare(["concealed:max_missing=8"], environment, 1, seed=4).runs()
    row = list(table)[3]
    assert set(expected) - set(row) == {"seconds"}
    assert set(row) - set(expected) == {"gap", "learner_max_missing"}
    assert row["scenario"] == "late-best"
    assert all(row[name] == expected[name] for name in set(expected) - {"seconds", "scenario"})


def test_the_table_does_not_depend_on_the_executor(tmp_path: Path) -> None:
    """This thread, other threads in any order, and a store that was filled backwards."""
    grid = small(6)
    first = sweep(grid, tmp_path / "first.db", Recording())
    with ThreadPoolExecutor(4) as executor:
        assert sweep(grid, tmp_path / "second.db", executor) == first
    with SweepStore(tmp_path / "third.db") as store:
        for key in reversed(grid.keys()):
            store.put(key, work(key))
    executor = Recording()
    assert sweep(grid, tmp_path / "third.db", executor) == first
    assert executor.keys == []


def test_a_larger_grid_runs_only_what_is_new(tmp_path: Path) -> None:
    """The same store serves other grids; a table has the rows of its own grid."""
    sweep(small(3), tmp_path / "sweep.db", Recording())
    executor = Recording()
    assert len(sweep(small(5), tmp_path / "sweep.db", executor)) == 5
    assert [GridRun.of(key).seed for key in executor.keys] == [3, 4]
    assert len(sweep(small(2), tmp_path / "sweep.db", executor)) == 2


def test_a_key_is_readable_and_the_same_everywhere() -> None:
    """Canonical JSON, whatever the order of options, form of numbers or seed of hashing."""
    expected = (
        '{"learner":"concealed","learner_options":{"max_missing":20,"variant":"repaired"},'
        '"scenario":"late-best","scenario_options":{"delay":50,"gap":0.25},"seed":7}'
    )
    forms: list[Any] = [
        "late-best:delay=50,gap=0.25",
        ["late-best:gap=.25,delay=50.0"],
        {"late-best": {"gap": np.float64(0.25), "delay": [np.int64(50)]}},
    ]
    for form in forms:
        learners = ["concealed:variant=repaired,max_missing=20"]
        assert Grid(form, learners, [np.int64(7)]).keys() == [expected]
    assert GridRun.of(expected).key == expected
    code = f"from belated.sweep.grid import GridRun; print(GridRun.of({expected!r}).key)"
    for seed in "12":
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", code]
        answer = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert answer.stdout.strip() == expected


def test_a_grid_is_the_product_of_all_its_values() -> None:
    """Scenarios by options by learners by seeds, the seeds turning fastest."""
    grid = Grid(
        {"late-best": {"delay": [5, 9], "rounds": 60}, "drifting": {}},
        ["full-information", "concealed:variant=paper|repaired"],
        [3, 1],
    )
    runs = list(map(GridRun.of, grid.keys()))
    assert len(runs) == len(set(map(str, runs))) == (2 + 1) * 3 * 2
    assert [run.seed for run in runs[:4]] == [3, 1, 3, 1]
    assert str(runs[2]) == "late-best delay=5 rounds=60, concealed (paper), seed 3"


@pytest.mark.parametrize(
    ("scenarios", "learners", "seeds", "told"),
    [
        ("late-bets", "concealed", [1], "late-best"),
        ("late-best:speed=3", "concealed", [1], "'speed'"),
        ("late-best:gap=0.1|7", "concealed", [1], "7"),
        ("late-best:delay", "concealed", [1], "name=value"),
        ({"late-best": {"gap": float("nan")}}, "concealed", [1], "gap is nan"),
        ({"late-best": {"gap": None}}, "concealed", [1], "gap is None"),
        ("late-best", "conceled", [1], "'concealed'"),
        ("late-best", "concealed:speed=3", [1], "'speed'"),
        ("late-best", "concealed:variant=paper|new", [1], "'new'"),
        ("late-best", "concealed:max_missing=-1", [1], "-1"),
        ("late-best", ["concealed", "concealed"], [1], "2 times"),
        ("late-best", "concealed", [1, 2, 1], "seed 1 is in the grid 2 times"),
        ("late-best", "concealed", [1, 1.5], "seed is 1.5"),
        ("late-best", "concealed", [-1], "seed is -1"),
        ("late-best", "concealed", "12", "seeds is '12'"),
        ("late-best", "concealed", 12, "seeds is 12"),
        ("late-best", "concealed", [], "0 runs"),
        ("late-best", [], [1], "0 runs"),
        ("late-best", "concealed", range(10**12), "1000000000000 runs"),
    ],
)
def test_a_bad_grid_is_refused_in_a_sentence(
    scenarios: Any, learners: Any, seeds: Any, told: str
) -> None:
    """Before anything is run, with the value in it."""
    with pytest.raises(ValueError) as caught:
        Grid(scenarios, learners, seeds)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_run_that_fails_is_recorded_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its sentence is in the table; it is not tried again unless that is asked for."""

    def failing(learners: Any, environment: Any, repetitions: int, seed: int, **more: Any) -> Any:
        if seed == 1:
            raise ValueError("the data\nhas gone")
        if seed == 2:
            raise ZeroDivisionError("nothing to divide by")
        return compare(learners, environment, repetitions, seed, **more)

    grid, path, executor = small(4), tmp_path / "sweep.db", Recording()
    monkeypatch.setattr(sweeps, "compare", failing)
    with pytest.warns(BelatedWarning, match="2 of 4 runs failed; .* seed 1: the data has gone"):
        table = sweep(grid, path, executor)
    sentences = ["the data has gone", "ZeroDivisionError: nothing to divide by"]
    assert table.column("failure") == [None, *sentences, None]
    assert table.column("seed") == [0, 1, 2, 3]
    assert [regret is None for regret in table.column("regret")] == [False, True, True, False]

    monkeypatch.undo()
    again = run_sweep(grid, path, GivenWorkers(executor))
    assert list(again.failures.values()) == sentences
    assert len(executor.keys) == 4
    mended = run_sweep(grid, path, GivenWorkers(executor), retry_failed=True)
    assert mended.failures == {}
    assert [GridRun.of(key).seed for key in executor.keys[4:]] == [1, 2]
    assert mended.table == sweep(grid, tmp_path / "other.db", Recording())


def sleep_well(awake: str) -> None:
    """Sleep for ten minutes, and leave a file at whoever waits for the end of that."""
    time.sleep(600)
    Path(awake).touch()


class Doomed(LocalWorkers):
    """Local workers that die of some runs, sleep over others, and make little of the rest."""

    def __init__(
        self, deadly: list[str], sleepy: list[str] | None = None, awake: Path | None = None
    ) -> None:
        super().__init__(2)
        self.deadly, self.sleepy, self.awake = deadly, sleepy or [], awake

    def submit(self, function: Any, key: str) -> Any:
        if key in self.deadly:
            return super().submit(os._exit, 3)
        if key in self.sleepy:
            return super().submit(sleep_well, str(self.awake))
        return super().submit(RunResult._make, ("{}", None, 0.0, __version__))


def test_workers_that_always_die_end_the_sweep(tmp_path: Path) -> None:
    """No endless loop: a few breakdowns with nothing finished, then one sentence."""
    grid = small()
    with pytest.raises(SweepError) as caught:
        run_sweep(grid, tmp_path / "sweep.db", Doomed(grid.keys()))
    assert "broke down 10 times in a row and finished nothing" in str(caught.value)
    assert "0 of 3 runs are stored" in str(caught.value)
    assert local_workers() == []


def test_a_deadly_run_does_not_keep_the_others_from_being_done(tmp_path: Path) -> None:
    """A run that kills its worker every time is left over, and all others are stored."""
    grid = small(30)
    with pytest.raises(SweepError, match="29 of 30 runs are stored"):
        run_sweep(grid, tmp_path / "sweep.db", Doomed([grid.keys()[4]]))
    executor = Recording()
    run_sweep(grid, tmp_path / "sweep.db", GivenWorkers(executor))
    assert executor.keys == [grid.keys()[4]]


def test_an_interrupt_keeps_what_is_done_and_ends_the_workers(tmp_path: Path) -> None:
    """Ctrl-C does not wait for what is running, and says that the same sweep goes on."""

    def interrupt(stored: int, total: int) -> None:
        if stored == 3:
            signal.raise_signal(signal.SIGINT)

    grid, path, awake = small(8), tmp_path / "sweep.db", tmp_path / "awake"
    with pytest.raises(KeyboardInterrupt, match="3 of 8 runs are stored; the same sweep goes on"):
        run_sweep(grid, path, Doomed([], grid.keys()[3:], awake), interrupt)
    assert not awake.exists()
    assert local_workers() == []
    report = run_sweep(grid, path, GivenWorkers(Recording()))
    assert (report.before, len(report.table)) == (3, 8)


class Unreliable(Recording):
    """An executor that loses every third run in one way or another."""

    def submit(self, function: Callable[..., Any], /, *values: Any, **options: Any) -> Any:
        future = super().submit(function, *values)
        if len(self.keys) % 3 == 0:
            future = Future()
            if len(self.keys) % 2:
                future.cancel()
                future.set_running_or_notify_cancel()
            else:
                future.set_exception(ConnectionError("the worker has gone"))
        return future


def test_runs_that_an_executor_loses_are_handed_in_again(tmp_path: Path) -> None:
    """Any error that is not the run's own counts as a loss, and so does a cancelled run."""
    executor = Unreliable()
    report = run_sweep(small(20), tmp_path / "sweep.db", GivenWorkers(executor))
    assert report.resubmitted == len(executor.keys) - 20 == 9
    assert report.table == sweep(small(20), tmp_path / "other.db", Recording())


def test_an_executor_that_takes_nothing_ends_the_sweep(tmp_path: Path) -> None:
    """An executor that was shut down cannot be mended from here."""
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(SweepError, match="cannot schedule new futures after shutdown"):
        sweep(small(), tmp_path / "sweep.db", executor)


def test_runs_of_two_versions_are_not_mixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither in one store nor from a cluster that has another version; tables stay readable."""
    path = tmp_path / "sweep.db"
    table = sweep(small(), path, Recording())
    monkeypatch.setattr(sweeps, "__version__", "99.0")
    assert sweep(small(), path) == table
    with pytest.raises(ValueError, match=r"sweep\.db was begun by belated .* and this is 99\.0"):
        sweep(small(4), path)
    monkeypatch.undo()
    monkeypatch.setattr(sweeps, "work", lambda key: RunResult("{}", None, 0.0, "98.0"))
    with pytest.raises(SweepError, match=r"a worker has belated 98\.0 and this is"):
        sweep(small(4), path, Recording())


def test_a_cluster_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody answers, no such kind of address, or Dask is not installed."""
    monkeypatch.setattr("belated.sweep.workers.CONNECT_SECONDS", 0.5)
    for address in ("tcp://127.0.0.1:9", "nothing://x"):
        told = pytest.raises(ValueError, match="no Dask scheduler answers there")
        with told, dask_executor(address):
            pass
    monkeypatch.setitem(sys.modules, "distributed", None)
    told = pytest.raises(ValueError, match=r"pip install 'belated\[cluster\]'")
    with told, dask_executor("tcp://127.0.0.1:9"):
        pass
