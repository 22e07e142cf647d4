"""belated problems: the problems of the decision service."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, cast

import click

from belated.cli.console import one_line_errors, printable, show_table
from belated.cli.feature_options import feature_option, features_in
from belated.cli.service_options import (
    advancing,
    connected,
    opened_store,
    service_options,
    to_the_second,
)


@click.group()
def problems() -> None:
    """Create, list, show, change, pause, archive and delete problems of the decision service.

    Problems are stored in --db. While a service runs, its SQLite file is locked: use --server.
    """


@problems.command()
@click.argument("name")
@click.option("--arm", "-a", "arms", multiple=True, required=True, help="An arm; repeat it.")
@click.option(
    "--learner", "-l", help="A learner, as 'concealed:max_missing=50'.  [default: practical-bandit]"
)
@click.option(
    "--kind",
    type=click.Choice(["bandit", "experts"]),
    help="Experts observe the losses of all arms.  [default: as the learner is]",
)
@click.option("--loss-range", type=(float, float), help="The range of losses.  [default: 0 1]")
@click.option("--expire-after", type=int, help="Rounds after which a ticket expires.")
@click.option("--expire-seconds", type=float, help="Seconds after which a ticket expires.")
@click.option("--default-loss", type=float, help="The loss of a ticket that is never reported.")
@click.option("--holdout", type=float, help="The share of decisions that the control makes.")
@click.option(
    "--control",
    help="What the control plays: an arm, or FILE.json, a saved learner.  [default: uniform]",
)
@click.option(
    "--outcome",
    "outcomes",
    multiple=True,
    help="The name of one of several outcomes, as NAME or NAME=WEIGHT; repeat it.",
)
@click.option(
    "--rule",
    type=click.Choice(["first", "last", "sum", "max", "weighted"]),
    help="How the outcomes make one reward.  [default: sum]",
)
@click.option(
    "--revise-within", type=float, help="Seconds after the first outcome when the ticket is closed."
)
@click.option(
    "--soft-range",
    type=(float, float),
    help="Clip losses and rewards to this range, in place of --loss-range.",
)
@click.option("--minimum-share", type=float, help="The smallest probability of each arm.")
@feature_option()
@click.option("--hash-bits", type=int, help="Text is hashed into 2^this coordinates.  [default: 5]")
@service_options
def create(
    name: str,
    arms: Sequence[str],
    learner: str | None,
    holdout: float | None,
    control: str | None,
    outcomes: Sequence[str],
    rule: str | None,
    revise_within: float | None,
    features: Sequence[str],
    db: str,
    server: str | None,
    key: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Create the problem NAME."""
    given = {field: value for field, value in options.items() if value is not None}
    with one_line_errors():
        from belated.specs import named_options

        if learner is not None:
            given["learner"], given["options"] = named_options(learner)
        if features:
            given["features"] = features_in(features)
        if control is not None and holdout is None:
            raise ValueError(f"--control is {control!r}; it needs --holdout, the control's share")
        if holdout is not None:
            given["holdout"] = {"share": holdout, **control_given(control)}
        given |= outcomes_given(outcomes, rule, revise_within)
    if server is not None:
        with connected(server, key) as client:
            made = asdict(client.create_problem(name, arms, **given))
    else:
        with opened_store(db) as store:
            from belated.service.admin import offline

            made = offline.create(store, name, {"arms": list(arms), **given}, time.time())
    show_problem(made, as_json)


def control_given(control: str | None) -> dict[str, Any]:
    """Return the arm of a control, or the weights of a learner that was saved with `to_json`."""
    if control is None or not control.endswith(".json"):
        return {"arm": control}
    from belated.evaluation.policy_texts import policy_in

    saved = policy_in(control)
    try:
        return {"weights": {str(arm): weight for arm, weight in saved.weights().items()}}
    except (TypeError, ValueError) as error:
        raise ValueError(f"{control} has no weights without a context: {error}") from None


def outcomes_given(
    outcomes: Sequence[str], rule: str | None, revise_within: float | None
) -> dict[str, Any]:
    """Return the field with the named outcomes from what was typed, if any was."""
    if not outcomes:
        if rule is not None or revise_within is not None:
            raise ValueError("--rule or --revise-within is given without --outcome; name one")
        return {}
    pairs = [text.partition("=") for text in outcomes]
    is_weighted = any(equals for _, equals, _ in pairs)
    made: dict[str, Any] = {"names": [name for name, _, _ in pairs]}
    made["rule"] = rule or ("weighted" if is_weighted else "sum")
    if is_weighted:
        try:
            made["weights"] = {name: float(weight) for name, _, weight in pairs}
        except ValueError:
            raise ValueError(
                f"--outcome is {', '.join(outcomes)}; each must be NAME=WEIGHT, or none"
            ) from None
    if revise_within is not None:
        made["revise_within"] = revise_within
    return {"outcomes": made}


@problems.command("list")
@click.option("--archived", is_flag=True, help="Include archived problems.")
@service_options
def list_problems(
    archived: bool, db: str, server: str | None, key: str | None, as_json: bool
) -> None:
    """List the problems."""
    if server is not None:
        with connected(server, key) as client:
            found = [asdict(each) for each in client.problems(archived=archived)]
    else:
        with opened_store(db) as store:
            from belated.service.admin import offline

            found = offline.outlines(store, archived)
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
@service_options
def show(name: str, db: str, server: str | None, key: str | None, as_json: bool) -> None:
    """Show the problem NAME."""
    if server is not None:
        with connected(server, key) as client:
            found = asdict(client.problem(name))
    else:
        with opened_store(db) as store:
            from belated.service.admin import offline

            found = offline.outline(store, offline.named(store, name))
    show_problem(found, as_json)


def add_status_command(verb: str, kind: str, text: str) -> None:
    """Add a command that sets the status of a problem; `kind` is the kind of its note."""

    @problems.command(verb, help=text)
    @click.argument("name")
    @service_options
    def set_status(name: str, db: str, server: str | None, key: str | None, as_json: bool) -> None:
        if server is not None:
            with connected(server, key) as client:
                status = getattr(client, verb)(name)
        else:
            with opened_store(db) as store:
                from belated.service.admin import offline

                status = offline.set_status(store, name, kind, time.time())["status"]
        shown = {"name": name, "status": status}
        click.echo(json.dumps(shown) if as_json else f"{name} is {status}.")


add_status_command("pause", "paused", "Issue no decisions of NAME for now; outcomes still count.")
add_status_command("resume", "resumed", "Issue decisions of NAME again.")
add_status_command("archive", "archived", "Issue no decisions of NAME ever again.")


@problems.command()
@click.argument("name")
@service_options
def delete(name: str, db: str, server: str | None, key: str | None, as_json: bool) -> None:
    """Delete the archived problem NAME, and free its name.

    All its decisions and outcomes are deleted for good.
    """
    if server is not None:
        with connected(server, key) as client:
            client.delete_problem(name)
    else:
        with opened_store(db) as store, advancing("deleting") as pause:
            from belated.service.admin.delete import delete_offline

            delete_offline(store, name, time.time(), pause)
    shown = {"name": name, "status": "deleted"}
    click.echo(json.dumps(shown) if as_json else f"{name} is deleted.")


@problems.command("arms")
@click.argument("name")
@click.option("--add", "-a", multiple=True, help="An arm to be added; repeat it.")
@click.option("--remove", "-r", multiple=True, help="An arm to be removed; repeat it.")
@service_options
def change_arms(
    name: str,
    add: Sequence[str],
    remove: Sequence[str],
    db: str,
    server: str | None,
    key: str | None,
    as_json: bool,
) -> None:
    """Add arms to the problem NAME and remove others.

    Not every learner can change its arms.
    """
    if server is not None:
        with connected(server, key) as client:
            arms = list(client.change_arms(name, add=add, remove=remove))
    else:
        with opened_store(db) as store:
            from belated.service.admin import offline

            arms = offline.change_arms(store, name, add, remove, time.time())["arms"]
    shown = {"name": name, "arms": arms}
    sentence = printable(f"{name} has the arms {', '.join(arms)}.")
    click.echo(json.dumps(shown) if as_json else sentence)


def term(name: str, text: str) -> float | None:
    """Return the value of a term from what was typed: a number, or none."""
    if text == "none":
        return None
    try:
        number = float(text)
    except ValueError:
        option = name.replace("_", "-")
        raise ValueError(f"--{option} is {text!r}; it must be a number or none") from None
    return int(number) if number.is_integer() else number


@problems.command("terms")
@click.argument("name")
@click.option("--expire-after", help="Rounds after which a ticket expires.")
@click.option("--expire-seconds", help="Seconds after which a ticket expires.")
@click.option("--default-loss", help="The loss of a ticket that expires.")
@service_options
def change_terms(
    name: str, db: str, server: str | None, key: str | None, as_json: bool, **options: Any
) -> None:
    """Change when tickets of NAME expire, and with which loss.

    "none" takes a term away. A new deadline is for decisions to come, a new default loss for plays
    that expire from now on.
    """
    with one_line_errors():
        given = {each: term(each, text) for each, text in options.items() if text is not None}
    if server is not None:
        with connected(server, key) as client:
            found = asdict(client.change_terms(name, **cast(Any, given)))
    else:
        with opened_store(db) as store:
            from belated.service.admin import offline

            found = offline.change_terms(store, name, given, time.time())
    show_problem(found, as_json)


def rounds(problem: dict[str, Any]) -> int:
    """Return the number of rounds played, from a service's answer or from a stored outline."""
    number: int = problem["round"] if "round" in problem else problem["decided"]
    return number


def show_problem(problem: dict[str, Any], as_json: bool) -> None:
    """Print a problem as JSON or as a table."""
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
