"""What the commands of the decision service share: its store, and how they show its times."""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from belated.cli.console import OneLineError, one_line_errors

if TYPE_CHECKING:
    from belated.service.store import Store

NEEDED = ("fastapi", "prometheus_client", "sqlalchemy", "uvicorn")

database_option = click.option(
    "--db",
    default="belated.db",
    show_default=True,
    envvar="BELATED_DB",
    help="A SQLite file or postgresql://...; or the variable BELATED_DB.",
)


def service_installed() -> None:
    """Say what to install if the service's libraries are not there."""
    if any(importlib.util.find_spec(name) is None for name in NEEDED):
        raise ValueError(
            "the decision service needs more libraries: pip install 'belated[service]'"
        )


@contextmanager
def service_errors() -> Iterator[None]:
    """Errors of the service in one line."""
    from belated.types import BelatedError

    with one_line_errors():
        service_installed()
        try:
            yield
        except BelatedError as error:
            raise OneLineError(" ".join(str(error).split())) from None


@contextmanager
def opened_store(db: str) -> Iterator["Store"]:
    """The store, with its errors in one line."""
    with service_errors():
        from belated.service.store import open_store

        with open_store(db) as store:
            yield store


def to_the_second(at: float | None) -> str:
    """A time, for people."""
    return "" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")
