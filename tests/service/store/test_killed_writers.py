"""A process that is killed at any moment loses nothing that it acknowledged."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

from belated.service.store import open_store
from tests.service.store.writer import SIZE, acknowledged_in, complaint

KILLS = int(os.environ.get("BELATED_KILLS", "2"))
SECONDS = 120


def test_a_killed_writer_loses_nothing(address: str, tmp_path: Path) -> None:
    """Kill -9 while it writes, again and again: all acknowledged batches are there, once."""
    chance, file, first = random.Random(9), tmp_path / "acknowledged", 0
    for _ in range(KILLS):
        acknowledged = first
        file.unlink(missing_ok=True)
        arguments = [address, "full", str(file), str(first), "1000000"]
        with subprocess.Popen(
            [sys.executable, "-m", "tests.service.store.writer", *arguments]
        ) as writer:
            try:
                wait_for_one(file, writer)
                time.sleep(chance.uniform(0.0, 0.3))
            finally:
                writer.kill()
        acknowledged += acknowledged_in(file)
        with open_store(address) as store:
            assert complaint(store, acknowledged) == ""
            first = store.counts("ads").of("decided") // SIZE
            assert first in (acknowledged, acknowledged + 1)  # the last may lack only its answer


def wait_for_one(file: Path, writer: "subprocess.Popen[bytes]") -> None:
    """Until the first acknowledgement."""
    until = time.monotonic() + SECONDS
    while not acknowledged_in(file):
        assert writer.poll() is None
        assert time.monotonic() < until
        time.sleep(0.01)
