"""Stores of every kind for the tests."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from belated.service.store import Store, open_store
from tests.service.postgres_server import OwnServer, empty_database


@pytest.fixture(scope="session")
def own_server() -> Iterator[OwnServer]:
    """A PostgreSQL server that may be restarted."""
    server = OwnServer()
    yield server
    server.close()


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> str:
    """A PostgreSQL server: the one at TEST_PG_URL, or one of our own."""
    given = os.environ.get("TEST_PG_URL")
    return given or str(request.getfixturevalue("own_server").url)


@pytest.fixture
def database(postgres: str) -> Iterator[str]:
    """An empty place on the PostgreSQL server."""
    with empty_database(postgres) as address:
        yield address


@contextmanager
def address_of(kind: str, request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    """An address where no store is yet."""
    if kind == "postgresql":
        yield request.getfixturevalue("database")
    else:
        yield "memory:" if kind == "memory" else str(folder / "belated.db")


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An open store of each kind, with a problem in it."""
    with address_of(request.param, request, tmp_path) as address, open_store(address) as opened:
        opened.create_problem("ads", {"arms": ["red", "green"]}, at=0.5)
        yield opened


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a store of each kind that lasts."""
    with address_of(request.param, request, tmp_path) as found:
        yield found


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def lasting_address(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of a store of each kind that all tests of a module share."""
    if request.param == "sqlite":
        yield str(tmp_path_factory.mktemp("store") / "belated.db")
        return
    with empty_database(request.getfixturevalue("postgres")) as found:
        yield found
