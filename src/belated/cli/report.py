"""belated report: what a problem's learner has earned more than the control of its holdout."""

import json
import time
from pathlib import Path
from typing import Any

import click

from belated.cli.console import one_line_errors, printable, show_table
from belated.cli.service_options import AGE, connected, opened_store, service_options


@click.command()
@click.argument("problem")
@click.option("--within", type=AGE, help="Silence of this age is final, if none expires.  [7d]")
@click.option("--by", help="A field of the context: also show each segment.")
@click.option("--html", type=click.Path(path_type=Path), help="Write it as a page, too.")
@service_options
def report(
    problem: str,
    within: float | None,
    by: str | None,
    html: Path | None,
    db: str,
    server: str | None,
    key: str | None,
    as_json: bool,
) -> None:
    """Show how much more the learner of PROBLEM earns than the control of its holdout.

    The interval is valid at every look: you may look daily and stop when it excludes 0.
    """
    if html is not None:
        with one_line_errors(html):
            from belated.report.page import check_report

            check_report(html)
    if server is not None:
        with connected(server, key) as client:
            found = client.uplift(problem, within=within, by=by)
    else:
        with opened_store(db) as store:
            from belated.service.admin.offline import named
            from belated.service.admin.uplift import uplift_of

            found = uplift_of(store, named(store, problem), time.time(), within, by)
    if html is not None:
        with one_line_errors(html):
            from belated.evaluation.uplift_page import write_uplift

            write_uplift(found, html)
    click.echo(json.dumps(found)) if as_json else show(found)


def show(found: dict[str, Any]) -> None:
    """Print the two cohorts, the uplift, and the days."""
    rows = [
        [name, str(each["decisions"]), str(each["told"]), shown(each["mean"])]
        for name, each in (("learner", found["treatment"]), ("control", found["control"]))
    ]
    show_table(["cohort", "decisions", "told", "mean reward"], rows)
    for name, parts in (("day", found["days"]), ("segment", found["segments"])):
        rows = [
            [each[name], str(each["decisions"]), *(shown(each[number]) for number in NUMBERS)]
            for each in parts
        ]
        if rows:
            show_table([name, "decisions", "learner", "control", "uplift", "low", "high"], rows)
    click.echo(printable(sentence(found)))


NUMBERS = ("treatment", "control", "value", "low", "high")


def shown(value: float | None) -> str:
    """Return a number with four digits; none is empty."""
    return "" if value is None else f"{value:.4g}"


def sentence(found: dict[str, Any]) -> str:
    """Say the uplift and what follows from it."""
    uplift = found["uplift"]
    rest = f"{found['waiting']} decisions wait, {found['cancelled']} were cancelled."
    if uplift["value"] is None:
        return f"No decision of {found['problem']} counts yet; {rest}"
    low, high = uplift["low"], uplift["high"]
    says = "cannot be told apart from its control yet"
    if low > 0.0 or high < 0.0:
        says = f"earns {'more' if low > 0.0 else 'less'} than its control"
    return (
        f"The learner {says}: uplift {shown(uplift['value'])} per decision, from {shown(low)} to "
        f"{shown(high)}, at every look. {rest}"
    )
