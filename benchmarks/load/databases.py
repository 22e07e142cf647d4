"""Places for the stores of services that are put under load."""

import itertools
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

SERVER = "BELATED_PG_URL"  # the variable with the address of a PostgreSQL server to measure, too
SQLITE, POSTGRES = "SQLite", "PostgreSQL"
NUMBERS = itertools.count()


def kinds() -> list[str]:
    """The kinds of database that can be measured: PostgreSQL if a server is named."""
    return [SQLITE, *([POSTGRES] if os.environ.get(SERVER) else [])]


@contextmanager
def empty_database(kind: str) -> Iterator[str]:
    """The address of a database of this kind in which nothing is; it is removed in the end."""
    if kind == SQLITE:
        with tempfile.TemporaryDirectory() as folder:
            yield f"{folder}/belated.db"
        return
    with own_schema(os.environ[SERVER]) as address:
        yield address


@contextmanager
def own_schema(url: str) -> Iterator[str]:
    """Make a new schema on a server, which is removed afterwards."""
    import psycopg

    name = f"belated_bench_{os.getpid()}_{next(NUMBERS)}"
    joint = "&" if "?" in url else "?"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"create schema {name}")
        try:
            yield f"{url}{joint}options={quote(f'-csearch_path={name}')}"
        finally:
            connection.execute("set client_min_messages = warning")
            connection.execute(f"drop schema {name} cascade")
