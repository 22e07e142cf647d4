"""belated verify, export and migrate: the journal of the service and its schema."""

import json
import sys
from pathlib import Path

import click

from belated.cli.console import one_line_errors, printable, show_table
from belated.cli.service_options import (
    check_service_installed,
    connected,
    database_option,
    key_option,
    opened_store,
    server_option,
    service_options,
)


@click.command()
@service_options
def verify(db: str, server: str | None, key: str | None, as_json: bool) -> None:
    """Fold the whole journal again and compare: with the state in use, and with its own rules.

    Ends with exit code 1 if anything is wrong. With --server the state in use is that of the
    running service; with --db it is that of the snapshots and the events after them.
    """
    if server is not None:
        with connected(server, key) as client:
            found = client.verify()["problems"]
    else:
        with opened_store(db) as store:
            from belated.service.admin.verify import verified_at_rest

            found = [result.shown() for result in verified_at_rest(store)]
    if as_json:
        click.echo(json.dumps({"clean": all(each["clean"] for each in found), "problems": found}))
    else:
        rows = [
            [
                each["problem"],
                *(str(each[name]) for name in ("events", "rounds", "pending")),
                f"{each['gap']:.1e}",
                "clean" if each["clean"] else "WRONG",
            ]
            for each in found
        ]
        show_table(["problem", "events", "rounds", "pending", "gap in q", "found"], rows)
    for each in found:
        for complaint in each["complaints"]:
            click.echo(printable(f"{each['problem']}: {complaint}"), err=True)
    if not all(each["clean"] for each in found):
        sys.exit(1)


@click.command()
@click.argument("problem")
@click.argument("file", type=click.Path(path_type=Path))
@database_option
@server_option
@key_option
def export(problem: str, file: Path, db: str, server: str | None, key: str | None) -> None:
    """Write the journal of PROBLEM to FILE (.csv or .parquet), as `belated replay` reads it."""
    with one_line_errors(file):
        check_service_installed()
        from belated.service.admin.export import ExportRow, check_format, rows_of, write_log

        check_format(file)
        if server is not None:
            with connected(server, key) as client:
                found = client.log(problem)
            arms, rows = found["arms"], [ExportRow(*each) for each in found["rows"]]
        else:
            with opened_store(db) as store:
                from belated.service.admin.offline import named

                record = named(store, problem)
                arms, rows = record.spec["arms"], rows_of(store, record)
        write_log(rows, file)
    click.echo(
        printable(
            f"{len(rows)} rows of {problem}, which began with the arms {', '.join(arms)}: {file}"
        ),
        err=True,
    )


@click.command()
@database_option
def migrate(db: str) -> None:
    """Migrate a store to the newest version of its schema; `belated serve` does so by itself."""
    with opened_store(db) as store:
        click.echo(f"The store has schema version {store.schema_version} ({store.library}).")
