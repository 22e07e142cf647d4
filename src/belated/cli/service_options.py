"""Code that the commands of the decision service share: options, the store, and the client."""

import importlib.util
import itertools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from belated.cli.console import OneLineError, one_line_errors, progress_of

if TYPE_CHECKING:
    from belated.client import Client
    from belated.service.store import Store

NEEDED = ("fastapi", "prometheus_client", "sqlalchemy", "uvicorn")
SECONDS = 60.0  # in which a running service must have answered
Command = Callable[..., None]

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


class Age(click.ParamType[float]):
    """A time as a number and its unit, such as 90d, 12h, 30m or 45s; its value is in seconds."""

    name = "age"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Return the seconds."""
        found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)([smhd])", str(value))
        if found is None:
            self.fail(f"{value!r} is no age; it must be a number with s, m, h or d, such as 90d")
        return float(found[1]) * UNITS[found[2]]


AGE = Age()
database_option = click.option(
    "--db",
    default="belated.db",
    show_default=True,
    envvar="BELATED_DB",
    help="A SQLite file or postgresql://...; also the variable BELATED_DB.",
)
server_option = click.option(
    "--server",
    envvar="BELATED_SERVER",
    help="The address of a running service, as http://127.0.0.1:8080, instead of --db.",
)
key_option = click.option(
    "--key", envvar="BELATED_KEY", help="The key for --server; better in the variable BELATED_KEY."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def service_options(command: Command) -> Command:
    """Add the options that select a store or a running service, and --json."""
    for option in (json_option, key_option, server_option, database_option):
        command = option(command)
    return command


def check_service_installed() -> None:
    """Raise ValueError, which says what to install, if libraries of the service are missing."""
    if any(importlib.util.find_spec(name) is None for name in NEEDED):
        raise ValueError(
            "the decision service needs more libraries: pip install 'belated[service]'"
        )


@contextmanager
def service_errors() -> Iterator[None]:
    """Turn errors of the service into messages of one line."""
    from belated.types import BelatedError

    with one_line_errors():
        check_service_installed()
        try:
            yield
        except BelatedError as error:
            raise OneLineError(" ".join(str(error).split())) from None


@contextmanager
def opened_store(db: str) -> Iterator["Store"]:
    """Open the store at --db; its errors become messages of one line."""
    with service_errors():
        from belated.service.store import open_store

        with open_store(db) as store:
            yield store


@contextmanager
def connected(server: str, key: str | None) -> Iterator["Client"]:
    """Yield a client of the service at --server; its errors become messages of one line.

    It gives up after SECONDS, and at once if no one listens at that address.
    """
    try:
        from belated.client import Client, Patience, ServiceUnavailable
        from belated.client.retrying import NOT_SENT
    except ImportError as error:
        raise OneLineError(str(error)) from None
    from belated.types import BelatedError

    try:
        with Client(server, key, patience=Patience(SECONDS, reconnects=False)) as client:
            yield client
    except ServiceUnavailable as error:
        if isinstance(error.__cause__, NOT_SENT):
            raise OneLineError(f"{server} cannot be reached: {error.__cause__}") from None
        raise OneLineError(str(error)) from None
    except (BelatedError, ValueError) as error:
        raise OneLineError(" ".join(str(error).split())) from None


@contextmanager
def advancing(title: str) -> Iterator[Callable[[float], None]]:
    """Show that work goes on, of which it is not known how much there is.

    Yields a function to call after each piece of it.
    """
    with progress_of(title) as report:
        pieces = itertools.count(1)
        yield lambda _: report(next(pieces), None)


def to_the_second(at: float | None) -> str:
    """Return a time as text, to the second, in UTC."""
    return "" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")
