"""belated compare, belated scenarios: play learners on the same games and compare their regret."""

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from belated.cli.comparison_files import check_outputs, write_outputs
from belated.cli.console import OneLineError, one_line_errors, show_table
from belated.cli.learners import COMMON
from belated.cli.play_all import compare_all
from belated.cli.worlds import SETS, WorldChoice, compare_worlds

if TYPE_CHECKING:
    from belated.comparison.result import Comparison
    from belated.worlds.named_worlds import WorldSet


WIDEST = 24  # letters of a cell, up to which tables below each other line up


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list instead of text.")
def scenarios(as_json: bool) -> None:
    """List the scenarios: what each shows, its size and its options."""
    from belated.environments.scenarios import scenarios

    if as_json:
        keys = ("name", "shows", "real", "rounds", "arms", "options", "available", "why_not")
        rows = [{key: getattr(each, key) for key in keys} for each in scenarios()]
        click.echo(json.dumps([{**row, "options": dict(row["options"])} for row in rows]))
        return
    for each in scenarios():
        size = f"{each.rounds} rounds, {each.arms} arms" if each.available else "not available"
        data = ", real data" if each.real else ""
        click.echo(click.style(each.name, bold=True) + f"  ({size}{data})")
        click.echo(click.wrap_text(each.shows, 88, "  ", "  "))
        options = (
            name if value is None else f"{name}={value}" for name, value in each.options.items()
        )
        click.echo(click.wrap_text("options: " + ", ".join(options), 88, "  ", "           "))
        if each.why_not:
            click.echo(click.wrap_text(each.why_not, 88, "  ", "  "))


@click.command()
@click.argument("environments", metavar="SCENARIO...", nargs=-1)
@click.option(
    "--learner",
    "--learners",
    "-l",
    "learners",
    multiple=True,
    metavar="LEARNER",
    help="A learner, as concealed or concealed:variant=repaired; more after commas, or repeat it.  "
    "[default: the practical learners, those of the paper, and uniform]",
)
@click.option(
    "--loss-range", type=(float, float), help="For files: the range of losses.  [default: 0 1]"
)
@click.option(
    "--features",
    metavar="COLUMN,...",
    help="For files: the columns that are known before an arm is chosen.",
)
@click.option(
    "--worlds",
    type=click.IntRange(1),
    metavar="N",
    help="Play N random worlds instead; `belated worlds` lists their families.",
)
@click.option(
    "--set", "world_set", type=click.Choice(SETS), help="Which set of worlds.  [default: design]"
)
@click.option(
    "--family",
    "families",
    multiple=True,
    help="A family of worlds; repeat it for more.  [default: all]",
)
@click.option(
    "--repetitions",
    "--games",
    "-r",
    default=10,
    show_default=True,
    help="Games for each scenario or world.",
)
@click.option("--seed", default=1, show_default=True, help="The same seed gives the same games.")
@click.option("--workers", type=int, help="Threads to run on.  [default: one for each core]")
@click.option("--report", type=click.Path(path_type=Path), help="Write an HTML page.")
@click.option(
    "--figures",
    type=click.Path(path_type=Path),
    help="Write every figure into this folder, as PNG and SVG.",
)
@click.option(
    "--table",
    type=click.Path(path_type=Path),
    help="Write a row for each run: .csv, .json or .parquet.",
)
@click.option(
    "--lower-bounds",
    is_flag=True,
    help="Show lower bounds on the regret of any learner, as orders of growth.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the table as one JSON list.")
def compare(
    environments: Sequence[str],
    learners: Sequence[str],
    loss_range: tuple[float, float] | None,
    features: str | None,
    worlds: int | None,
    world_set: "WorldSet | None",
    families: Sequence[str],
    repetitions: int,
    seed: int,
    workers: int | None,
    report: Path | None,
    figures: Path | None,
    table: Path | None,
    lower_bounds: bool,
    as_json: bool,
) -> None:
    """Play learners on the same losses and delays, many times, and compare their regret.

    SCENARIO is a name from `belated scenarios`, with options if you like (late-best:delay=500), or
    a .csv or .parquet file with the columns round, arm, loss and delay. In one repetition all
    learners play the same game. Experts and bandits are ranked separately. With --worlds N the
    learners play N random worlds, and regrets are percentages of uniform play's regret. Ctrl-C ends
    the comparison and keeps the repetitions that are complete.
    """
    from belated.comparison.contenders import contenders
    from belated.environments.environment_specs import environment_named

    learners = split_learners(learners)
    with one_line_errors():
        if worlds is None and (world_set or families):
            raise ValueError("--set and --family choose worlds; give --worlds, too")
        if worlds is not None and any(
            (environments, loss_range, features, report, figures, lower_bounds)
        ):
            raise ValueError(
                "--worlds is without SCENARIO, --loss-range, --features, --report, --figures, "
                "--lower-bounds"
            )
    if worlds is not None:
        choice = WorldChoice(worlds, world_set or "design", families)
        compare_worlds(choice, learners, repetitions, seed, workers, table, as_json)
        return
    with one_line_errors():
        if not environments:
            raise ValueError("no SCENARIO is given; `belated scenarios` lists them")
        chosen = contenders(learners or COMMON)
        columns = [name.strip() for name in features.split(",")] if features else []
        games = [environment_named(text, loss_range, columns) for text in environments]
        check_outputs(report, figures, table)
        if as_json and lower_bounds:
            raise ValueError("--lower-bounds prints sentences; leave out --json")
    comparisons = compare_all(games, chosen, repetitions, seed, workers, keep_partial=True)
    if not comparisons:
        sys.exit(130)
    command = command_with(sys.argv[1:], repetitions, seed)
    comparisons = [replace(each, command=command) for each in comparisons]
    if as_json:
        rows = [row for each in comparisons for row in json.loads(each.table().to_json())]
        click.echo(json.dumps(rows))
    else:
        for each in comparisons:
            show_comparison(each, lower_bounds)
    failed = write_outputs(comparisons, report, figures, table)
    if failed:
        raise OneLineError("; ".join(failed))
    if len(comparisons) < len(games) or not comparisons[-1].complete:
        sys.exit(130)


def command_with(arguments: Sequence[str], repetitions: int, seed: int) -> str:
    """Return the command with its repetitions and its seed, which may be given by default."""
    given = {argument.split("=")[0] for argument in arguments}
    short = any(argument.startswith("-r") for argument in given)
    absent = (
        [] if short or given & {"--repetitions", "--games"} else [f"--repetitions={repetitions}"]
    )
    absent += [] if "--seed" in given else [f"--seed={seed}"]
    return shlex.join(["belated", *arguments, *absent])


def split_learners(given: Sequence[str]) -> list[str]:
    """Split texts at commas, except at those between the options of one learner."""
    found: list[str] = []
    for part in (part for text in given for part in text.split(",")):
        if found and "=" in part and ":" not in part:
            found[-1] += f",{part}"
        else:
            found.append(part.strip())
    return found


def show_comparison(comparison: "Comparison", lower_bounds: bool) -> None:
    """Print the table of one comparison: the learners of each setting, the best one first."""
    from belated.report.formatting import counted

    environment = comparison.environment
    click.secho(environment.name, bold=True, nl=False)
    facts = [
        counted(environment.rounds, "round"),
        counted(environment.arms, "arm"),
        counted(len(comparison.repetitions), "repetition"),
        f"seed {comparison.seed}",
    ]
    if not comparison.units.is_unit:
        facts.append(f"losses in {comparison.units}")
    click.echo(f": {', '.join(facts)}")
    if environment.shows:
        click.echo(environment.shows)
    show_summary(comparison)
    for k in range(len(comparison.contenders)):
        show_trust(comparison, k)
    if lower_bounds:
        for bound in comparison.lower_bounds():
            click.echo(
                f"Lower bound for {bound['for']} with a constant delay of {bound['delay']}: order "
                f"{bound['order of regret']:,.0f} ({bound['origin']}; the constant is unknown)."
            )


def show_summary(comparison: "Comparison") -> None:
    """Print a table for each setting, all with columns of the same width."""
    from belated.comparison.feedback import groups_of
    from belated.comparison.summary import DAGGER, DAGGER_NOTE

    summary = comparison.summary().without("feedback")
    cells = [dict(zip(summary.columns, row, strict=True)) for row in summary.rows]
    widths = [min(WIDEST, max(len(row[name]) for row in cells)) for name in summary.columns]
    rows = iter(summary.rows)
    for group in groups_of(comparison):
        click.echo(f"\n{group.feedback.title}")
        show_table(summary.columns, [next(rows) for _ in group.members], widths)
    if any(DAGGER in row["bound"] for row in cells):
        click.echo(f"{DAGGER_NOTE} to hold here; the report says why.")


def show_trust(comparison: "Comparison", k: int) -> None:
    """Print how far a certified learner was trusted, if it is one."""
    from belated.comparison.table import shown

    trust = comparison.trust(k)
    if trust is not None:
        click.echo(
            f"{comparison.labels[k]}: {100.0 * trust.share:.4g} % of the rounds were trusted; its "
            f"account C ended at {shown(trust.account)} of a budget b of {shown(trust.budget)} "
            f"(Theorem 4: at most b + {shown(comparison.units.width)})."
        )
