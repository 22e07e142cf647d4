"""belated keys: who may use the service."""

import json
import time
from collections.abc import Sequence

import click

from belated.cli.console import one_line_errors, show_table
from belated.cli.http import call
from belated.cli.problems import where
from belated.cli.store_options import opened_store, to_the_second


@click.group()
def keys() -> None:
    """Make, list and revoke the keys of the decision service.

    They are in --db, as hashes only. While a service runs, a SQLite file is its own: then say
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
@where
def create(
    label: str, scopes: Sequence[str], db: str, server: str | None, key: str | None, as_json: bool
) -> None:
    """Make a key and print it, this once; LABEL says what it is for."""
    if server is not None:
        made = call(server, key, "POST", "/v1/keys", {"label": label, "scopes": list(scopes)})
    else:
        with opened_store(db) as store:
            from belated.service.admin.keys import make_key
            from belated.service.web.auth import checked_scopes

            made = make_key(store, label, checked_scopes(scopes), time.time())
    if as_json:
        click.echo(json.dumps(made))
    else:
        click.echo(made["key"])
        click.echo(f"Key {made['id']} is shown this once; keep it safe.", err=True)


@keys.command("list")
@where
def list_keys(db: str, server: str | None, key: str | None, as_json: bool) -> None:
    """List the keys, revoked ones too."""
    if server is not None:
        found = call(server, key, "GET", "/v1/keys")["keys"]
    else:
        with opened_store(db) as store:
            from belated.service.admin.keys import key_view

            found = [key_view(each) for each in store.keys.all()]
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
@where
def revoke(id: str, db: str, server: str | None, key: str | None, as_json: bool) -> None:
    """Revoke the key ID; a running service on another machine hears of it within seconds."""
    if server is not None:
        ended = call(server, key, "DELETE", f"/v1/keys/{id}")
    else:
        with opened_store(db) as store, one_line_errors():
            from belated.service.admin.keys import key_view, revoke_key

            ended = key_view(revoke_key(store, id, time.time()))
    click.echo(json.dumps(ended) if as_json else f"Key {ended['id']} is revoked.")
