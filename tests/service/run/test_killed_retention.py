"""Services that retain by themselves and are killed at any moment lose and repeat nothing."""

import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from belated.service.store import Store, open_store
from tests.service.material import whole_kept
from tests.service.run.crowd import Crowd
from tests.service.run.killing import (
    CLIENTS,
    KILLS,
    Start,
    begin,
    check_clean,
    start,
    wait_for,
)

__all__ = ["start"]  # a fixture

RETAINED = "urn:belated:retained"  # a report that was sent again after its ticket was retained


def archived(folder: Path) -> Iterator[dict[str, Any]]:
    """All rows of an archive; those under way are not among them."""
    for file in sorted(folder.glob("*.parquet")):
        yield from pyarrow.parquet.read_table(file).to_pylist()


def check_kept(store: Store, folder: Path, crowd: Crowd) -> int:
    """All that was acknowledged is in the journal or in the archive, once; how much in the latter.

    The archive of a retention that was killed may still be under way; its rows are then in both.
    """
    assert [each for each in crowd.wrong if RETAINED not in each] == []
    rows = list(archived(folder))
    assert len({row["position"] for row in rows}) == len(rows)
    arms = {row["ticket"]: row["arm"] for row in rows if row["kind"] == "decided"}
    losses = {row["ticket"]: row["loss"] for row in rows if row["kind"] == "told"}
    gone = len(arms)
    for event in whole_kept(store):
        body: Any = event.body
        if hasattr(body, "probability"):
            arms[body.ticket] = body.arm
        elif getattr(body, "kind", "") == "told":
            losses[body.ticket] = body.loss
    decided, told = dict(crowd.decided), dict(crowd.told)
    assert {ticket: arms.get(ticket) for ticket in decided} == decided
    assert {ticket: losses.get(ticket) for ticket in told} == told
    assert store.counts("ads").of("decided") == len(arms)
    assert store.counts("ads").of("told") == len(losses)
    return gone


@pytest.mark.parametrize("workers", [(), ("--workers", "2")], ids=["sqlite", "postgresql"])
def test_a_killed_retention_loses_nothing(
    start: Start, request: pytest.FixtureRequest, tmp_path: Path, workers: tuple[str, ...]
) -> None:
    """Kill -9 under load while it folds, archives, commits and deletes."""
    database = str(tmp_path / "belated.db")
    if workers:
        database = request.getfixturevalue("database")
    folder, chance = tmp_path / "old", random.Random(2)
    options = ("--no-auth", *workers, "--retain", "2s", "--archive", str(folder))
    begin(database)
    crowd = Crowd(CLIENTS)
    for _ in range(KILLS):
        server = start(database, *options)
        crowd.addresses = [server.address]
        wait_for(crowd, 20)
        time.sleep(chance.uniform(0.5, 2.5))
        server.kill()
        crowd.addresses = ()
        time.sleep(0.5 if workers else 0.0)  # workers end with their parent
        check_clean(database)
    server = start(database, *options)
    crowd.addresses = [server.address]
    wait_for(crowd, 20)
    crowd.rest()
    crowd.stop()
    wait_until_swept(database if workers else None)
    time.sleep(3.0)
    assert server.stop() == 0
    check_clean(database)
    with open_store(database) as store:
        assert check_kept(store, folder, crowd) > 0


def wait_until_swept(database: str | None) -> None:
    """Until nothing is left to be deleted; of SQLite only its service could tell."""
    until = time.monotonic() + 60
    while database is not None:
        with open_store(database) as store:
            if store.checkpoints.reached().swept:
                return
        assert time.monotonic() < until
        time.sleep(0.1)
