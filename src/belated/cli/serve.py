"""belated serve: the decision service."""

import gc
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from belated.cli.service_options import AGE, database_option, service_errors


@click.command()
@database_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True)
@click.option("--no-auth", is_flag=True, help="Ask for no keys; on this machine only.")
@click.option("--workers", type=click.IntRange(1, 64), default=1, help="PostgreSQL only.")
@click.option(
    "--durability",
    type=click.Choice(["full", "normal"]),
    default="full",
    show_default=True,
    help="normal is faster, and may lose the last answers when the power fails.",
)
@click.option(
    "--max-body", type=click.IntRange(1), default=1_000_000, help="Bytes in the largest request."
)
@click.option(
    "--rate",
    type=click.FloatRange(0),
    default=5000.0,
    help="Requests per second of one key; 0 for no limit.",
)
@click.option(
    "--max-lag",
    type=click.FloatRange(0),
    default=60.0,
    help="Seconds of lag behind the journal above which it is not ready.",
)
@click.option(
    "--retain",
    type=AGE,
    help="The age, such as 90d, at which closed tickets are folded into checkpoints.",
)
@click.option(
    "--archive",
    type=click.Path(),
    help="A folder for the rows of these tickets; without it they are deleted.",
)
@click.option("--seed", type=int, help="Fixes the random draws; for tests.")
@click.option(
    "--otel",
    is_flag=True,
    help="Export spans with OpenTelemetry; the variables OTEL_... configure it.",
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="info",
    show_default=True,
)
def serve(
    db: str,
    host: str,
    port: int,
    no_auth: bool,
    workers: int,
    durability: str,
    max_body: int,
    rate: float,
    max_lag: float,
    retain: float | None,
    archive: str | None,
    seed: int | None,
    otel: bool,
    log_level: str,
) -> None:
    """Serve decisions over HTTP until it is stopped with Ctrl-C or SIGTERM.

    It listens on this machine only, unless --host says otherwise, and needs a key with every
    request (`belated keys create`). All data is in --db: a SQLite file, which one process owns,
    or a PostgreSQL database for any number of processes.
    """
    with service_errors(), without_garbage_collection():
        from belated.service.run.app import Settings
        from belated.service.run.server import serve as serve_until_stopped

        settings = Settings(
            database=db,
            guarded=not no_auth,
            durability="full" if durability == "full" else "normal",
            most_bytes=max_body,
            rate=rate,
            most_lag=max_lag,
            retain=retain,
            archive=archive,
            seed=seed,
            tracing=otel,
        )
        serve_until_stopped(settings, host, port, workers, log_level, announce)


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Switch the garbage collector off, since a start makes many objects and hardly any garbage."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def announce(address: str, library: str) -> None:
    """Say that the service is ready: to a person at a terminal, or else to the log, always."""
    sentence = f"Serving on {address} with {library}; Ctrl-C stops it."
    if sys.stderr.isatty():
        click.echo(sentence, err=True)
        return
    log = logging.getLogger("belated.service")
    log.setLevel(logging.INFO)
    log.info(sentence)
