"""A real disk that is full: under SQLite, and under PostgreSQL for its tables or for its log."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from tests.service.postgres_server import OwnServer
from tests.service.server import SECONDS, serving

REASON = {
    "data": "No space left on device",
    "log": "cannot be used now",
}  # it ends, if it is its log


@contextmanager
def small_disk() -> Iterator[Path]:
    """A disk of its own in memory, with room for a small database, where any user can reach it."""
    with tempfile.TemporaryDirectory(prefix="belated-disk-") as folder:
        command = ["mount", "-t", "tmpfs", "-o", "size=120m", "belated", folder]
        if sys.platform != "linux" or subprocess.run(command, capture_output=True).returncode:
            pytest.skip("only root can mount a small disk")
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)


def fill(folder: Path) -> Path:
    """Fill a disk to its last byte; the file that does."""
    ballast = folder / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(b"0" * 4096)
    return ballast


def ask(http: httpx.Client, number: int) -> httpx.Response:
    """Ask for many decisions under a key of its own."""
    key = {"Idempotency-Key": f"batch {number}".replace(" ", "-")}
    return http.post("/v1/problems/ads/ask:batch", json={"count": 500}, headers=key)


def test_a_full_disk_under_sqlite_loses_nothing() -> None:
    """The same, where the service itself finds the disk full."""
    with small_disk() as disk, serving(str(disk / "belated.db")) as service:
        with service.client() as http:
            check_survives(http, lambda: None, disk, "disk is full")
        assert service.stop() == 0


@pytest.mark.check
@pytest.mark.parametrize("part", REASON)
def test_a_full_disk_loses_nothing(part: str) -> None:
    """503 with the reason, not ready, nothing acknowledged is lost; ready when there is room."""
    with small_disk() as disk:
        server = OwnServer(disk if part == "data" else None, log=disk if part == "log" else None)
        try:
            with (
                serving(server.url, "--no-auth", "--workers", "2") as service,
                service.client() as http,
            ):
                check_survives(http, server.start_again, disk, REASON[part])
        finally:
            server.close()


def check_survives(
    http: httpx.Client, start_again: Callable[[], None], disk: Path, reason: str
) -> None:
    """Fill the disk under a service, and make room again."""
    assert http.post("/v1/problems", json={"name": "ads", "arms": ["a", "b"]}).status_code == 201
    made = {0: ask(http, 0).json()}
    ballast, until = fill(disk), time.monotonic() + SECONDS
    while (answer := ask(http, len(made))).status_code == 200:
        made[len(made)] = answer.json()
        assert time.monotonic() < until
    assert answer.status_code == 503
    assert reason in answer.json()["detail"]
    wait_for(http, 503)
    assert http.get("/healthz").status_code == 200
    assert ask(http, len(made)).status_code == 503
    ballast.unlink()
    start_again()
    wait_for(http, 200)
    assert all(ask(http, number).json() == answer for number, answer in made.items())
    assert ask(http, len(made)).status_code == 200
    assert http.post("/v1/verify").json()["clean"] is True


def wait_for(http: httpx.Client, status: int) -> None:
    """Wait until `/readyz` answers so."""
    until = time.monotonic() + SECONDS
    while http.get("/readyz").status_code != status:
        assert time.monotonic() < until
        time.sleep(0.1)
