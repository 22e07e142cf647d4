"""belated learners and belated warmup: the list of learners, and compiling them ahead of time."""

import json
import os
import time
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from belated.asktell.loading import AnySession
    from belated.learners.contract import Learner

COMMON = (
    "practical-experts",
    "practical-bandit",
    "full-information",
    "partially-concealed",
    "concealed",
    "uniform",
)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list instead of a table.")
def learners(as_json: bool) -> None:
    """List the learners: their setting, what they must know, what they guarantee."""
    from belated.learners.registry import registered

    rows = [
        {
            "name": kind.name,
            "in Python": in_python(kind),
            "setting": kind.setting.value,
            "must be known": ", ".join(need.value for need in kind.needs) or "nothing",
            "guarantee": kind.guarantee,
            "proven for": kind.covers.value,
            "source": kind.source,
        }
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
    general = "Experts" if kind.setting is Setting.FULL_INFORMATION else "Bandit"
    return f'belated.{general}(learner="{kind.name}")'


def own_class(kind: "type[Learner]") -> "type[AnySession] | None":
    """Return the session class that is made for this learner, or None if there is none."""
    from belated.asktell.loading import SESSIONS

    return next((each for each in SESSIONS.values() if each.kinds[:1] == (kind,)), None)


@click.command()
@click.argument("names", metavar="LEARNER...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All learners, which takes minutes.")
def warmup(names: tuple[str, ...], everything: bool) -> None:
    """Compile learners and keep the code, so that later processes start quickly.

    Without a name, these are the practical learners, those of the paper and uniform play; any
    other is compiled when it is first used.
    """
    from belated.cli.console import one_line_errors
    from belated.compiled.jit import QUIET, cache_directory
    from belated.learners.registry import registered

    os.environ[QUIET] = "1"  # the command prints its own progress
    directory = cache_directory()
    kept = f"kept in {directory}" if directory else "not kept: no cache directory can be written"
    click.echo(f"Compiled code is {kept}.")
    kinds = registered()
    with one_line_errors():
        for name in names:
            if name not in kinds:
                raise ValueError(f"learner is {name!r}; `belated learners` lists them")
    for name in kinds if everything else names or COMMON:
        kind, started = kinds[name], time.perf_counter()
        compile_learner(kind)
        click.echo(f"{kind.name}: ready after {time.perf_counter() - started:.1f} s")


def compile_learner(kind: "type[Learner]") -> None:
    """Compile the verbs of a learner, its ask and tell, and the loop that plays whole games."""
    import numpy as np

    from belated.environments.files import environment_from_arrays
    from belated.learners.paper.many_arms import FEWEST_ARMS
    from belated.play import engine
    from belated.play.game import Game

    learner = kind(arms=2)
    own: Any = own_class(kind)
    if own is None:
        make_session(learner)
    else:
        for arms in (2, FEWEST_ARMS):
            own(arms).ask()
    state = learner.start()
    plays = learner.commit(state, learner.predict(state), 0)
    learner.withdraw(state, plays[0], 0)
    plays = learner.commit(state, learner.predict(state), 0)
    learner.observe(state, plays[0], 0, 0.5, 0)
    nothing = environment_from_arrays([[0.0, 0.0]], [[0, 0]])
    engine.play(learner, Game(nothing, np.random.SeedSequence(0)), np.random.SeedSequence(0))


def make_session(learner: "Learner") -> None:
    """Compile ask and tell of a learner by making a session with it."""
    from belated.asktell.bandits import Bandit
    from belated.asktell.experts import Experts
    from belated.types import Need, Setting

    known = [need for need in learner.needs if need is not Need.DELAY_AT_DECISION]
    options = {need.value: getattr(learner, need.value) for need in known}
    make: Any = Experts if learner.setting is Setting.FULL_INFORMATION else Bandit
    make(learner.arms, learner=learner.name, **options)
