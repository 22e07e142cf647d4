"""Nothing that was acknowledged is lost when the power fails, and the test would notice."""

import os
import random
from pathlib import Path

import pytest

from belated.service.store import open_store
from tests.service.store.power_loss import (
    ACKNOWLEDGED,
    Disk,
    built_recorder,
    recording,
    run_writer,
    steps_of,
)
from tests.service.store.writer import complaint

CRASHES = int(os.environ.get("BELATED_CRASHES", "16"))
BATCHES = int(os.environ.get("BELATED_CRASH_BATCHES", "200"))


def complaints_after_crashes(tmp_path: Path, durability: str) -> list[str]:
    """Write under the recorder, fail the power at random moments, and look at each store."""
    folder = tmp_path / "live"
    folder.mkdir()
    with open_store(folder / "belated.db") as store:
        store.create_problem("ads", {}, at=0.0)
    disk, log = Disk(folder), tmp_path / "log"
    run_writer(
        folder / "belated.db",
        durability,
        BATCHES,
        recording(built_recorder(tmp_path), folder, log),
    )
    steps = list(steps_of(log))
    chance = random.Random(20)
    moments = sorted(chance.sample(range(len(steps)), CRASHES))
    complaints, done, acknowledged = [], 0, 0
    for number, moment in enumerate(moments):
        for step in steps[done:moment]:
            disk.take(step)
            acknowledged += step.kind == "w" and step.path.endswith(ACKNOWLEDGED)
        done = moment
        found = tmp_path / f"found-{number}"
        found.mkdir()
        disk.after_power_loss(chance, found)
        complaints.append(complaint_of(found / "belated.db", acknowledged))
    assert acknowledged > BATCHES // 2
    return complaints


def complaint_of(path: Path, acknowledged: int) -> str:
    """What is wrong with a store after the power came back; also if it cannot be read at all."""
    try:
        with open_store(path) as store:
            return complaint(store, acknowledged)
    except Exception as error:  # a damaged file may say anything
        return f"it cannot be read: {error}"


def test_full_durability_survives_power_loss(tmp_path: Path) -> None:
    """What was acknowledged is there after every crash, once, and whole."""
    assert complaints_after_crashes(tmp_path, "full") == [""] * CRASHES


@pytest.mark.parametrize("durability", ["normal", "off"])
def test_weaker_modes_lose_what_was_acknowledged(tmp_path: Path, durability: str) -> None:
    """The same crashes show the loss where commits do not wait for the disk."""
    assert any(complaints_after_crashes(tmp_path, durability))
