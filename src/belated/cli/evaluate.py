"""belated evaluate: what other policies would have earned, from a log with late outcomes."""

import math
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from belated.cli.console import OneLineError, one_line_errors, printable, progress_of, show_table
from belated.cli.service_options import key_option

if TYPE_CHECKING:
    from belated.evaluation.evaluate import Evaluation

COLUMNS = ["policy", "estimator", "value", "interval", "bounds", "minus logged", "rows used"]
LISTS = "Several after commas, or repeat it."


@click.command()
@click.argument("log")
@click.option(
    "--policy",
    "-p",
    "policies",
    multiple=True,
    required=True,
    help="An arm, uniform, best-arm, learner:NAME, FILE.py:FUNCTION or a saved FILE.json; "
    "repeat it.",
)
@click.option(
    "--silence",
    type=click.Choice(["missing", "default", "speeds"]),
    help="Why outcomes are missing; without it there are only bounds.",
)
@click.option("--default-loss", type=float, help="The loss that silence stands for (default).")
@click.option(
    "--estimator",
    "-e",
    "estimators",
    multiple=True,
    help=f"ips, snips, dr, ... {LISTS}  [default: snips,dr,switch-dr]",
)
@click.option(
    "--interval",
    type=click.Choice(["bootstrap", "normal", "bernstein", "betting"]),
    help="Kind of interval.  [default: bootstrap if outcomes are missing, else normal]",
)
@click.option(
    "--stratum",
    help="A column of the log, or a name in its contexts: estimate for each of its values.",
)
@click.option(
    "--now", help="When the log ends: a round, seconds or a date.  [default: its last entry]"
)
@click.option("--arms", help="All arms, if some do not occur in the log, as red,green.")
@click.option("--loss-range", type=float, nargs=2, help="The range of losses.  [default: 0 1]")
@click.option(
    "--level",
    type=float,
    default=0.95,
    show_default=True,
    help="Confidence level of the intervals.",
)
@click.option(
    "--draws", type=int, default=1000, show_default=True, help="Number of bootstrap samples."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of all random numbers.")
@key_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--report", type=click.Path(path_type=Path), help="Write an HTML page.")
def evaluate(
    log: str,
    policies: Sequence[str],
    silence: str | None,
    default_loss: float | None,
    estimators: Sequence[str],
    interval: str | None,
    stratum: str | None,
    now: str | None,
    arms: str | None,
    loss_range: tuple[float, float] | None,
    level: float,
    draws: int,
    seed: int,
    key: str | None,
    as_json: bool,
    report: Path | None,
) -> None:
    """Estimate what each --policy would have earned, from the decisions in LOG.

    LOG is a file (.csv, .parquet, .dsjson, .vw, .npz) or a problem of a running service, as
    http://127.0.0.1:8080/v1/problems/NAME. Each value has an interval, and bounds that hold
    whatever a missing outcome means.
    """
    with _clear_errors():
        from belated.evaluation.estimators import DEFAULTS
        from belated.evaluation.evaluate import evaluate as evaluated
        from belated.evaluation.policy_texts import policy_in
        from belated.report.page import check_report

        if report is not None:
            check_report(report)
        names = [name.strip() for text in estimators for name in text.split(",")]
        with progress_of("Drawing rows again") as progress:
            found = evaluated(
                log,
                {text: policy_in(text) for text in policies},
                silence=silence,
                default_loss=default_loss,
                estimators=names or DEFAULTS,
                interval=interval,
                stratum=stratum,
                level=level,
                draws=draws,
                seed=seed,
                now=now,
                arms=arms.split(",") if arms else (),
                loss_range=loss_range,
                key=key,
                progress=progress,
                command=shlex.join(["belated", *sys.argv[1:]]),
            )
        if report is not None:
            found.report(report)
    if as_json:
        click.echo(found.to_json())
    else:
        _show(found)
    if report is not None:
        click.echo(f"The report: {report}", err=True)


@contextmanager
def _clear_errors() -> Iterator[None]:
    """Turn errors of the log, of policies and of a running service into one line."""
    from belated.types import BelatedError

    with one_line_errors():
        try:
            yield
        except (BelatedError, ImportError) as error:
            raise OneLineError(" ".join(str(error).split())) from None


def _show(found: "Evaluation") -> None:
    """Print a line for each policy and estimator, and what must be said beside."""
    rows = []
    for policy in found:
        for each in policy.estimates.values():
            change, low, high = each.difference
            shown = "" if each.value is None else f"{each.value:.4g}"
            apart = "" if change is None or policy is found.logged else f"{change:+.4f}"
            rows.append(
                [
                    policy.name,
                    each.estimator,
                    shown,
                    _span(each.low, each.high),
                    _span(*each.bounds),
                    f"{apart} ({_span(low, high)})" if apart and low is not None else apart,
                    f"{policy.rows_used:,.0f}" if math.isfinite(policy.rows_used) else "",
                ]
            )
    show_table(COLUMNS, rows)
    untold = f"{found.untold:.1%} of {len(found.journal):,} rows not told"
    meant = "nothing declared" if found.silence is None else found.silence
    if not found.untold:
        meant = "nothing to declare"
    click.echo(f"{untold} ({meant}); {found.interval} intervals at {100.0 * found.level:g} %.")
    for note in found.notes:
        click.echo(printable(f"Note: {note}"), err=True)


def _span(low: float | None, high: float | None) -> str:
    if low is None or high is None or not math.isfinite(low + high):
        return ""
    return f"{low:.4f} to {high:.4f}"
