"""Measure 32: a simulated round against the same round of an earlier version, in turns."""

import os
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.load.under_load import BEFORE
from benchmarks.measure import Effort, Result, at_most
from benchmarks.timing import Race

LEARNERS = ("exp3", "concealed", "partially-concealed", "full-information")
GAMES = {10: (5_000, 18), 100: (2_000, 12)}  # rounds in a batch, and batches, by number of arms
SMALL = {10: (100, 2)}

# Plays a game for each line that it reads, and prints the processor time of a round.
PLAYER = """
import sys, time
from pathlib import Path
import belated
sys.path.insert(0, str(Path(belated.__file__).parents[2]))  # the clone that this version is in
from benchmarks.workload import Players

for line in sys.stdin:
    name, *sizes = line.split()
    arms, batch, batches = map(int, sizes)
    players, spent = Players([name], arms, batch), 0
    work = players.contestant(name).work
    for _ in range(batches):
        players.draw()
        begun = time.process_time_ns()
        work(batch)
        spent += time.process_time_ns() - begun
    print(spent * 1e-9 / (batch * batches), flush=True)
"""


class Version:
    """A process that plays games with the version of some Python."""

    def __init__(self, python: str) -> None:
        self.process = subprocess.Popen(
            [python, "-c", PLAYER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def seconds(self, name: str, arms: int, batch: int, batches: int) -> float:
        """Play a game from its start; returns the processor time of a round."""
        told, answers = self.process.stdin, self.process.stdout
        assert told is not None
        assert answers is not None
        print(name, arms, batch, batches, file=told, flush=True)
        answer = answers.readline()
        if not answer:
            raise RuntimeError(f"a version cannot play {name}")
        return float(answer)

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


def earlier_rounds(effort: Effort) -> Iterator[Result]:
    """Measure 32: whole games of some learners, if BELATED_BEFORE names another version's Python.

    A quick benchmark compares this version with itself.
    """
    before = sys.executable if effort.quick else os.environ.get(BEFORE)
    if before is None:
        return
    versions = {"now": Version(sys.executable), "before": Version(before)}
    try:
        for name in LEARNERS[:1] if effort.quick else LEARNERS:
            for arms, (batch, batches) in effort.choose(GAMES, SMALL).items():
                seconds = {version: list[float]() for version in versions}
                for turn in range(effort.turns + 1):
                    for version in sorted(versions, reverse=turn % 2 == 0):
                        spent = versions[version].seconds(name, arms, batch, batches)
                        if turn > 0:  # the first one compiles
                            seconds[version].append(spent)
                race = Race(seconds)
                yield Result(
                    f"{name}, before",
                    race.ratio("now", to="before"),
                    arms=arms,
                    goal=at_most(1.03),
                    ours=race.time("now"),
                    rival=race.time("before"),
                )
    finally:
        for each in versions.values():
            each.close()
