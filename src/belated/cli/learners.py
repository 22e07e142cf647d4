"""belated learners and belated warmup: the list of learners, and compiling them ahead of time."""

import json
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from belated.asktell.loading import AnySession
    from belated.compiled.entries import Entry
    from belated.learners.contract import Learner

COMMON = (
    "practical-experts",
    "practical-bandit",
    "full-information",
    "partially-concealed",
    "concealed",
    "uniform",
)
WARMED = (*COMMON, "linear")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list instead of a table.")
def learners(as_json: bool) -> None:
    """List the learners: their setting, what they must know, what they guarantee."""
    from belated.learners.registry import package_of, registered

    rows = [
        {
            "name": kind.name,
            "in Python": in_python(kind),
            "setting": kind.setting.value,
            "must be known": ", ".join(need.value for need in kind.needs) or "nothing",
            "guarantee": kind.stated_guarantee(),
            "proven for": kind.covers.value,
            "source": kind.source,
        }
        | ({"plugin of": package} if (package := package_of(kind)) else {})
        for kind in registered().values()
    ]
    if as_json:
        click.echo(json.dumps(rows))
        return
    for row in rows:
        click.secho(row.pop("name"), bold=True)
        for key, value in row.items():
            if value:
                click.echo(f"  {key + ':':<15}{value}")


def in_python(kind: "type[Learner]") -> str:
    """Return the Python expression for a session with a learner: its own class, or by its name."""
    from belated.types import Setting

    own = own_class(kind)
    if own is not None:
        return f"belated.{own.__name__}"
    if kind.setting is Setting.FULL_INFORMATION:
        return f'belated.Experts(names, learner="{kind.name}")'
    return f'belated.Bandit(arms, learner="{kind.name}")'


def own_class(kind: "type[Learner]") -> "type[AnySession] | None":
    """Return the session class that is made for this learner, or None if there is none."""
    from belated.asktell.loading import SESSIONS

    return next((each for each in SESSIONS.values() if each.only_kind is kind), None)


@click.command()
@click.argument("names", metavar="LEARNER...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All learners, which takes minutes.")
def warmup(names: tuple[str, ...], everything: bool) -> None:
    """Compile learners and keep the code, so that later processes start quickly.

    Without a name, these are the learners that we advise, those of the paper and uniform play; any
    other is compiled when it is first used.
    """
    from belated.cli.console import one_line_errors
    from belated.compiled.code_files import cache_directory
    from belated.compiled.entries import COMPILING, can_compile, leave_unsaid, obtain
    from belated.compiled.preparing import prepare
    from belated.learners.registry import registered

    kinds = registered()
    with one_line_errors():
        for name in names:
            if name not in kinds:
                raise ValueError(f"learner is {name!r}; `belated learners` lists them")
    if not can_compile():
        click.echo("Nothing is compiled here: learners run interpreted.")
        return
    directory = cache_directory()
    kept = f"kept in {directory}" if directory else "not kept: no cache directory can be written"
    click.echo(f"Compiled code is {kept}.")
    leave_unsaid(COMPILING)
    started = time.perf_counter()
    chosen = entries_by_name(kinds[name] for name in (kinds if everything else names or WARMED))
    prepare(entry for entries in chosen.values() for entry in entries)
    for name, entries in chosen.items():
        for entry in entries:
            obtain(entry)
        click.echo(f"{name}: ready after {time.perf_counter() - started:.1f} s")


def entries_by_name(kinds: "Iterable[type[Learner]]") -> "dict[str, list[Entry]]":
    """Return all that is compiled for some learners; a plugin that fails is named, and left out."""
    from belated.learners.registry import package_of

    found = {}
    for kind in kinds:
        try:
            found[kind.name] = entries_of(kind)
        except Exception as error:
            package = package_of(kind)
            if package is None:
                raise
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            click.echo(f"{kind.name} of {package} cannot be compiled: {reason}", err=True)
    return found


def entries_of(kind: "type[Learner]") -> "list[Entry]":
    """Return all that is compiled for a learner: asking, telling, and playing whole games."""
    from belated.asktell.runners import workspace_for
    from belated.compiled.ask_tell import entries_of as of_runner
    from belated.learners.paper.concealed import Concealed
    from belated.learners.paper.many_arms import FEWEST_ARMS
    from belated.numerics.random_stream import seeded
    from belated.play.engine import entry_for, first_run
    from belated.play.game import entry_for_counting

    stream, found = seeded(0), [entry_for_counting()]
    for arms in (2, FEWEST_ARMS) if kind is Concealed else (2,):
        learner = kind(arms=arms)
        found += of_runner(*workspace_for(learner, learner.start(), stream)).values()
    return [*found, entry_for(first_run(kind(arms=2), stream))]
