"""belated problems: what the service decides."""

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import click

from belated.cli.console import one_line_errors, show_table
from belated.cli.http import call, key_option, server_option
from belated.cli.store_options import database_option, opened_store, to_the_second

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
Command = Callable[..., None]


def where(command: Command) -> Command:
    """The options that say which service is meant."""
    for option in (json_option, key_option, server_option, database_option):
        command = option(command)
    return command


@click.group()
def problems() -> None:
    """Create, list, show, pause, resume and archive problems of the decision service; change arms.

    They are in --db. While a service runs, a SQLite file is its own: then say --server instead.
    """


@problems.command()
@click.argument("name")
@click.option("--arm", "-a", "arms", multiple=True, required=True, help="An arm; repeat it.")
@click.option("--learner", "-l", help="As practical-bandit or 'concealed:max_missing=50'.")
@click.option("--kind", type=click.Choice(["bandit", "experts"]), help="Experts are all told.")
@click.option("--loss-range", type=(float, float), help="The range of losses.  [default: 0 1]")
@click.option("--expire-after", type=int, help="Rounds after which a play is given up.")
@click.option("--expire-seconds", type=float, help="Seconds after which a play is given up.")
@click.option("--default-loss", type=float, help="The loss of a play that is given up.")
@where
def create(
    name: str,
    arms: Sequence[str],
    learner: str | None,
    db: str,
    server: str | None,
    key: str | None,
    as_json: bool,
    **terms: Any,
) -> None:
    """Create the problem NAME."""
    given = {"arms": list(arms), **{k: v for k, v in terms.items() if v is not None}}
    with one_line_errors():
        from belated.specs import named_options

        if learner is not None:
            given["learner"], options = named_options(learner)
            given["options"] = options
    if "loss_range" in given:
        given["loss_range"] = list(given["loss_range"])
    if server is not None:
        made = call(server, key, "POST", "/v1/problems", {"name": name, **given})
    else:
        with opened_store(db) as store:
            from belated.service.admin import offline as administration

            made = administration.create(store, name, given, time.time())
    show_problem(made, as_json)


@problems.command("list")
@click.option("--archived", is_flag=True, help="Those that are archived, too.")
@where
def list_problems(
    archived: bool, db: str, server: str | None, key: str | None, as_json: bool
) -> None:
    """List the problems."""
    if server is not None:
        path = f"/v1/problems?archived={str(archived).lower()}"
        found = call(server, key, "GET", path)["problems"]
    else:
        with opened_store(db) as store:
            from belated.service.admin import offline as administration

            found = administration.outlines(store, archived)
    if as_json:
        click.echo(json.dumps(found))
        return
    rows = [
        [each["name"], each["status"], each["learner"], str(len(each["arms"])), str(rounds(each))]
        for each in found
    ]
    show_table(["name", "status", "learner", "arms", "rounds"], rows)


@problems.command()
@click.argument("name")
@where
def show(name: str, db: str, server: str | None, key: str | None, as_json: bool) -> None:
    """Show the problem NAME."""
    if server is not None:
        found = call(server, key, "GET", f"/v1/problems/{name}")
    else:
        with opened_store(db) as store:
            from belated.service.admin import offline as administration

            found = administration.outline(store, administration.named(store, name))
    show_problem(found, as_json)


def changing(verb: str, kind: str, text: str) -> None:
    """Add a command that changes the status of a problem."""

    @problems.command(verb, help=text)
    @click.argument("name")
    @where
    def change(name: str, db: str, server: str | None, key: str | None, as_json: bool) -> None:
        if server is not None:
            changed = call(server, key, "POST", f"/v1/problems/{name}/{verb}")
        else:
            with opened_store(db) as store:
                from belated.service.admin import offline as administration

                changed = administration.change(store, name, kind, time.time())
        status = {"name": name, "status": changed["status"]}
        click.echo(json.dumps(status) if as_json else f"{name} is {changed['status']}.")


changing("pause", "paused", "Hand out no decisions of NAME for now; outcomes still count.")
changing("resume", "resumed", "Hand out decisions of NAME again.")
changing("archive", "archived", "Hand out no decisions of NAME ever again.")


@problems.command("arms")
@click.argument("name")
@click.option("--add", "-a", multiple=True, help="An arm to be added; repeat it.")
@click.option("--remove", "-r", multiple=True, help="An arm to be removed; repeat it.")
@where
def change_arms(
    name: str,
    add: Sequence[str],
    remove: Sequence[str],
    db: str,
    server: str | None,
    key: str | None,
    as_json: bool,
) -> None:
    """Add arms to the problem NAME and remove others, where its learner can."""
    if server is not None:
        body = {"add": list(add), "remove": list(remove)}
        changed = call(server, key, "POST", f"/v1/problems/{name}/arms", body)
    else:
        with opened_store(db) as store:
            from belated.service.admin import offline as administration

            changed = administration.change_arms(store, name, add, remove, time.time())
    arms = {"name": name, "arms": changed["arms"]}
    click.echo(json.dumps(arms) if as_json else f"{name} has the arms {', '.join(arms['arms'])}.")


def rounds(problem: dict[str, Any]) -> int:
    """How many rounds were played, whoever says so."""
    number: int = problem["round"] if "round" in problem else problem["decided"]
    return number


def show_problem(problem: dict[str, Any], as_json: bool) -> None:
    """A problem in the terminal."""
    if as_json:
        click.echo(json.dumps(problem))
        return
    shown = {**problem, "created": to_the_second(problem["created"])}
    show_table(
        ["what", "value"],
        [
            [key.replace("_", " "), value if isinstance(value, str) else json.dumps(value)]
            for key, value in shown.items()
            if value is not None
        ],
    )
