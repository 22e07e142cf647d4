"""belated verify, export, migrate: the store of the service at rest."""

import json
import sys
from pathlib import Path

import click

from belated.cli.console import one_line_errors, show_table
from belated.cli.http import call, key_option, server_option
from belated.cli.problems import where
from belated.cli.store_options import database_option, opened_store, service_installed

PATIENCE = 3600.0  # seconds that a running service may take to fold its whole journal


@click.command()
@where
def verify(db: str, server: str | None, key: str | None, as_json: bool) -> None:
    """Fold the whole journal again and compare: with the state in use, and with its own rules.

    Ends with exit code 1 if anything is wrong. With --server it is the state of the service while
    it runs; with --db, that of the snapshots and what came after them.
    """
    if server is not None:
        found = call(server, key, "POST", "/v1/verify", seconds=PATIENCE)["problems"]
    else:
        with opened_store(db) as store:
            from belated.service.admin.verify import verified_at_rest

            found = [finding.shown() for finding in verified_at_rest(store)]
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
            click.echo(f"{each['problem']}: {complaint}", err=True)
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
        service_installed()
        from belated.service.admin.export import Row, check_format, rows_of, write_log

        check_format(file)
        if server is not None:
            found = call(server, key, "GET", f"/v1/problems/{problem}/log", seconds=PATIENCE)
            arms, rows = found["arms"], [Row(*each) for each in found["rows"]]
        else:
            with opened_store(db) as store:
                from belated.service.admin.offline import named

                arms = named(store, problem).spec["arms"]  # those it began with
                rows = rows_of(store, problem)
        write_log(rows, file)
    click.echo(
        f"{len(rows)} rows of {problem}, which began with the arms {', '.join(arms)}: {file}",
        err=True,
    )


@click.command()
@database_option
def migrate(db: str) -> None:
    """Bring a store to the newest version of its schema; `belated serve` does so by itself."""
    with opened_store(db) as store:
        click.echo(f"The store has schema version {store.schema_version} ({store.library}).")
