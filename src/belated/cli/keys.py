"""belated keys: the API keys of the decision service."""

import json
import time
from collections.abc import Sequence

import click

from belated.cli.console import one_line_errors, show_table
from belated.cli.service_options import connected, opened_store, service_options, to_the_second


@click.group()
def keys() -> None:
    """Make, list and revoke the keys of the decision service.

    They are in --db, as hashes only. While a service runs, it owns its SQLite file: then use
    --server instead, with a key that allows admin:*.
    """


@keys.command()
@click.argument("label")
@click.option(
    "--scope",
    "-s",
    "scopes",
    multiple=True,
    required=True,
    metavar="VERB:PROBLEM",
    help="What it allows: ask, tell or admin of a problem, as ask:ads or 'tell:*'; repeat it.",
)
@service_options
def create(
    label: str, scopes: Sequence[str], db: str, server: str | None, key: str | None, as_json: bool
) -> None:
    """Make a key and print it, this once; LABEL says what it is for."""
    if server is not None:
        with connected(server, key) as client:
            made = client.create_key(label, scopes)
    else:
        with opened_store(db) as store:
            from belated.service.admin.keys import checked_scopes, make_key

            made = make_key(store, label, checked_scopes(scopes), time.time())
    if as_json:
        click.echo(json.dumps(made))
    else:
        click.echo(made["key"])
        click.echo(f"Key {made['id']} is shown this once; keep it safe.", err=True)


@keys.command("list")
@service_options
def list_keys(db: str, server: str | None, key: str | None, as_json: bool) -> None:
    """List the keys, including revoked ones."""
    if server is not None:
        with connected(server, key) as client:
            found = client.keys()
    else:
        with opened_store(db) as store:
            from belated.service.admin.keys import key_details

            found = [key_details(each) for each in store.keys.all()]
    if as_json:
        click.echo(json.dumps(found))
        return
    rows = [
        [
            each["id"],
            each["label"],
            " ".join(each["scopes"]),
            *(to_the_second(each[name]) for name in ("created", "revoked")),
        ]
        for each in found
    ]
    show_table(["id", "label", "scopes", "made", "revoked"], rows)


@keys.command()
@click.argument("id")
@click.option("--forget", is_flag=True, help="Blank its label, too.")
@service_options
def revoke(
    id: str, forget: bool, db: str, server: str | None, key: str | None, as_json: bool
) -> None:
    """Revoke the key ID.

    A service that runs on another machine knows it within seconds.
    """
    if server is not None:
        with connected(server, key) as client:
            revoked = client.revoke_key(id, forget=forget)
    else:
        with opened_store(db) as store, one_line_errors():
            from belated.service.admin.keys import key_details, revoke_key

            revoked = key_details(revoke_key(store, id, time.time(), forget))
    click.echo(json.dumps(revoked) if as_json else f"Key {revoked['id']} is revoked.")
