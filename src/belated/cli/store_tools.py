"""belated verify, export, retain, forget and migrate: the service's journal and its schema."""

import json
import sys
import time
from pathlib import Path

import click

from belated.cli.console import one_line_errors, printable, show_table
from belated.cli.service_options import (
    AGE,
    advancing,
    check_service_installed,
    connected,
    database_option,
    json_option,
    key_option,
    opened_store,
    server_option,
    service_options,
    to_the_second,
)


@click.command()
@service_options
def verify(db: str, server: str | None, key: str | None, as_json: bool) -> None:
    """Compute the state from the whole journal again, and compare it with the state in use.

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
        from belated.service.admin.export import (
            ExportRow,
            check_format,
            retained_of,
            rows_of,
            write_log,
        )

        check_format(file)
        if server is not None:
            with connected(server, key) as client:
                found = client.log(problem)
            columns = found["columns"]  # those of another version may be more, or fewer
            known = [place for place, name in enumerate(columns) if name in ExportRow._fields]
            rows = [
                ExportRow(**{columns[place]: each[place] for place in known})
                for each in found["rows"]
            ]
            arms, retained = found["arms"], found.get("retained")
        else:
            with opened_store(db) as store:
                from belated.service.admin.offline import named

                record = named(store, problem)
                arms, rows = record.spec["arms"], rows_of(store, record)
                retained = retained_of(store, problem)
        write_log(rows, file)
    if retained:
        click.echo(
            f"{retained['tickets']} tickets that were closed until "
            f"{to_the_second(retained['until'])} are in a checkpoint, and not in this file.",
            err=True,
        )
    click.echo(
        printable(
            f"{len(rows)} rows of {problem}, which began with the arms {', '.join(arms)}: {file}"
        ),
        err=True,
    )


@click.command()
@click.option("--older-than", type=AGE, required=True, help="An age, such as 90d or 12h.")
@click.option(
    "--archive",
    type=click.Path(path_type=Path, file_okay=False),
    help="A folder for the rows, as Parquet files; without it they are deleted.",
)
@database_option
@json_option
def retain(older_than: float, archive: Path | None, db: str, as_json: bool) -> None:
    """Fold tickets that were closed long ago into checkpoints, and delete their rows.

    The learners continue exactly as before. A running service locks its SQLite file: start it with
    --retain instead. With PostgreSQL, the service may run at the same time.
    """
    with opened_store(db) as store:
        from belated.service.admin.retain import retain as retain_in

        with advancing("folding") as pause:
            done = retain_in(store, older_than, time.time(), archive, pause)
    if as_json:
        click.echo(json.dumps(done._asdict()))
        return
    where = "dropped" if archive is None else f"archived in {archive}"
    click.echo(
        f"{done.tickets} tickets are in checkpoints until {to_the_second(done.until)}; "
        f"{done.deleted} rows were {where}."
        if done.until
        else "No closed ticket is that old."
    )


@click.command()
@click.argument("problem")
@click.option("--ticket", help="Only the decision with this ticket.")
@click.option("--older-than", type=AGE, help="An age, such as 30d: all older decisions.")
@click.option("--contexts", is_flag=True, help="Blank the contexts of these decisions, too.")
@service_options
def forget(
    problem: str,
    ticket: str | None,
    older_than: float | None,
    contexts: bool,
    db: str,
    server: str | None,
    key: str | None,
    as_json: bool,
) -> None:
    """Blank the idempotency keys and event ids of decisions of PROBLEM, which may be personal.

    The state does not need them. An ask that is repeated under such a key gets a new decision. With
    --contexts the state is kept in a checkpoint first, and contexts are blanked as well; what the
    learner has learned from them stays.
    """
    if server is not None:
        with connected(server, key) as client:
            number = client.forget(problem, ticket=ticket, older_than=older_than, contexts=contexts)
    else:
        with opened_store(db) as store, advancing("forgetting") as pause:
            from belated.service.admin.forget import forget as forget_in

            number = forget_in(store, problem, ticket, older_than, time.time(), pause, contexts)
    shown = {"name": problem, "forgotten": number}
    what = "keys and contexts" if contexts else "keys"
    click.echo(json.dumps(shown) if as_json else f"The {what} of {number} decisions are forgotten.")


@click.command()
@database_option
def migrate(db: str) -> None:
    """Upgrade a database to the newest schema; `belated serve` does this itself."""
    with opened_store(db) as store:
        click.echo(f"The store has schema version {store.schema_version} ({store.library}).")
