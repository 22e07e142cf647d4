"""python -m studies evaluation: corrections and coverage on logs whose truth is known."""

import json

import click

from belated.cli.console import progress_of, show_table


@click.command("evaluation")
@click.argument("what", type=click.Choice(["table", "coverage", "journals"]))
@click.option("--logs", type=click.IntRange(2), default=200, show_default=True, help="How many.")
@click.option(
    "--draws",
    type=click.IntRange(2),
    default=200,
    show_default=True,
    help="For coverage: draws of each bootstrap.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the first.")
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def evaluation_study(
    what: str, logs: int, draws: int, seed: int, workers: int, as_json: bool
) -> None:
    """Judge the evaluation of policies on simulated logs with late and missing outcomes.

    WHAT is `table`: what each correction says where outcomes come late in different ways (the truth
    is 0.55); `coverage`: how often each interval holds the truth if silence is declared rightly,
    with a logger that does not learn and with one that does; or `journals`: journals that the
    decision service writes, and what the policy that ran next earned.
    """
    if what == "table":
        found = corrections(logs, workers, seed)
    elif what == "coverage":
        found = held(logs, workers, draws, seed)
    else:
        found = journals(logs, workers, seed)
    if as_json:
        click.echo(json.dumps(found))
        return
    columns = list(next(iter(found.values())))
    show_table([what, *columns], [[name, *row.values()] for name, row in found.items()])


def corrections(logs: int, workers: int, seed: int) -> dict[str, dict[str, str]]:
    """Return the mean and the deviation of each correction in each world."""
    from studies.evaluation.coverage import CORRECTIONS, table_study
    from studies.evaluation.late_logs import WAYS

    mean, deviation = table_study(logs, workers, seed)
    return {
        name: {
            way: f"{mean[place, row]:.4f} ({deviation[place, row]:.3f})"
            for place, way in enumerate(WAYS)
        }
        for row, name in enumerate(CORRECTIONS)
    }


def held(logs: int, workers: int, draws: int, seed: int) -> dict[str, dict[str, str]]:
    """Return the share of logs in which each interval holds the truth, in each world."""
    from studies.evaluation.coverage import LOGGERS, coverage_study
    from studies.evaluation.late_logs import WAYS

    found: dict[str, dict[str, str]] = {}
    worlds = [(logger, way) for logger in LOGGERS for way in WAYS]
    with progress_of("Playing logs") as progress:
        for done, (logger, way) in enumerate(worlds, 1):
            shares = coverage_study(way, logger, logs, workers, draws, seed)
            for name, share in shares.items():
                found.setdefault(name, {})[f"{way}, {logger}"] = f"{100.0 * share:.1f} %"
            progress(done, len(worlds))
    return found


def journals(logs: int, workers: int, seed: int) -> dict[str, dict[str, str]]:
    """Return the interval and what was earned, for each journal of the service."""
    from studies.evaluation.coverage import seeds_in_processes
    from studies.evaluation.service_journals import Found, journal_study

    found: list[Found] = seeds_in_processes(journal_study, range(seed, seed + logs), workers)
    return {
        f"{number} ({each.way})": {
            "untold": f"{100.0 * each.untold:.0f} %",
            "interval": "none" if each.low is None else f"{each.low:.3f} to {each.high:.3f}",
            "earned": f"{each.earned:.3f}",
            "held": "yes" if each.holds else "no",
        }
        for number, each in enumerate(found, seed)
    }
