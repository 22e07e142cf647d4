"""The HTML report of an evaluation: one page that needs no other file."""

import math
from collections.abc import Callable
from pathlib import Path

from belated import __version__
from belated.comparison.table import shown
from belated.evaluation.conversions import conversions_of
from belated.evaluation.result import Estimate, Findings, PolicyValue
from belated.report.formatting import EN_DASH, counted, number, percent
from belated.report.markup import definitions, element, escaped, paragraph, prose, table
from belated.report.page import check_report, html_head, write_page

MEANINGS = {
    None: "Nothing was declared about what silence means.",
    "missing": "Silence was declared to mean nothing: good and bad outcomes are late or lost.",
    "default": "Silence was declared to be the default: only other outcomes are ever reported.",
    "speeds": "Silence was declared to end: every outcome is reported, some later than others.",
}
COLUMNS = (
    "policy", "estimator", "value", "95 % interval", "bounds", "minus logged", "its interval",
    "rows used", "untold", "mean weight",
)  # fmt: skip
WORDS = (
    ("Value", "The mean reward of a decision if the policy had chosen instead of the logger."),
    ("Bounds", "The value if all unknown outcomes were the worst, or the best, possible. They "
     "hold whatever silence means, up to sampling error."),
    ("Rows used", "The effective sample size: the rows are worth this many decisions of it."),
    ("Untold", "The share of the policy's weight on rows without an outcome."),
    ("Mean weight", "Should be 1. If it is not, a logged probability is wrong, or the policy plays "
     "arms that the log does not have."),
)  # fmt: skip
CAPTIONS = {
    "values": "Each estimate with its interval. The pale bar goes from bound to bound; the dotted "
    "line is what the log itself earned.",
    "parts": "The value in parts of the log, with normal intervals: a policy that is good overall "
    "may be bad in some of them.",
    "sequences": "Intervals by betting, which are valid at every look and whatever silence means. "
    "You may stop when they are narrow enough.",
    "weights": "If a few rows have most of the weight, the estimate rests on these few.",
    "delays": "The share of each arm's outcomes that are known by the time on the axis. Small "
    "ticks below: the ages of decisions without an outcome.",
    "overlap": "If a policy often plays an arm that is rare in the log, its value is uncertain.",
}

CONVERSIONS = (
    "A decision converts with a rate of its arm, and reports it after an exponential delay "
    "(Chapelle 2014). Both are fitted together, because a silent decision may still convert. "
    "Delays with a heavier tail make the fitted rate too low."
)


def write_evaluation(found: Findings, path: str | Path) -> Path:
    """Write the HTML report of an evaluation; an interrupted call leaves no incomplete file."""
    path = Path(path)
    check_report(path)
    return write_page(evaluation_html(found), path)


def evaluation_html(found: Findings) -> str:
    """Return the HTML page of an evaluation; equal evaluations give an equal page."""
    headline = _headline(found)
    header = element(
        "header",
        paragraph("What other policies would have earned", class_="kicker")
        + element("h1", prose(headline))
        + paragraph(MEANINGS[found.silence], *found.notes, class_="lead"),
    )
    body = header + element("main", _main(found)) + _footer()
    return f'<!doctype html>\n<html lang="en">{html_head(headline)}<body>{body}</body></html>\n'


def _footer() -> str:
    return element("footer", f"Made by belated {__version__}. This page needs no other file.")


def _headline(found: Findings) -> str:
    """Say which policy is better than the log, as far as the intervals say so."""
    better = [
        policy.name
        for policy in found.policies.values()
        if policy.first.difference[1] is not None and policy.first.difference[1] > 0.0
    ]
    worse = [
        policy.name
        for policy in found.policies.values()
        if policy.first.difference[2] is not None and policy.first.difference[2] < 0.0
    ]
    if all(policy.first.value is None for policy in found.policies.values()):
        return f"Only bounds can be given on {found.journal.name}"
    if better:
        return f"{', '.join(better)} would have earned more than {found.journal.name}"
    if worse:
        return f"None would have earned more than {found.journal.name}"
    return f"No policy can be told apart from {found.journal.name}"


def _main(found: Findings) -> str:
    facts = (
        counted(len(found.journal), "row"),
        counted(len(found.journal.arms), "arm"),
        f"{percent(found.untold)} not told",
        f"{found.interval} intervals",
        f"seed {found.seed}",
    )
    made = [
        ("Command", element("pre", element("code", escaped(found.command or "In Python.")))),
        ("Version", escaped(f"belated {__version__}")),
    ]
    sections = [
        element("section", element("h2", "Policies") + paragraph(", ".join(facts), class_="facts")
                + _table(found) + _figures(found), id="policies"),
        _conversions(found),
        element("section", element("h2", "The words")
                + definitions([(term, escaped(said)) for term, said in WORDS]), id="words"),
        element("section", element("h2", "How to reproduce this") + definitions(made), id="made"),
    ]  # fmt: skip
    return "".join(sections)


def _table(found: Findings) -> str:
    rows = [_row(policy, each) for policy in found for each in policy.estimates.values()]
    heads = [each.replace("95", f"{100.0 * found.level:g}") for each in COLUMNS]
    caption = "Rewards per decision; the bounds hold whatever silence means"
    return table("values", caption, heads, rows)


def _conversions(found: Findings) -> str:
    """Show the fitted conversions by arm, where only the default never comes; else nothing."""
    if found.silence != "default" or not found.journal.timed or found.default_loss is None:
        return ""
    default = 1.0 - found.journal.units.loss(found.default_loss)
    arms = conversions_of(found.journal, default)
    clock = found.journal.clock
    rows = [
        [
            escaped(each.arm),
            number(each.decisions),
            percent(each.told_share),
            _measured(100.0 * each.rate, 100.0 * each.rate_error),
            _measured(each.mean_delay, each.delay_error),
        ]
        if each.told
        else [escaped(each.arm), number(each.decisions), percent(0.0), EN_DASH, EN_DASH]
        for each in arms
    ]
    heads = ("arm", "decisions", "converted so far", "conversion rate, %", f"mean delay, {clock}")
    caption = "The model of delayed conversions, by arm, with standard errors"
    said = paragraph(CONVERSIONS)
    return element(
        "section",
        element("h2", "Conversions") + said + table("conversion-rates", caption, heads, rows),
        id="conversions",
    )


def _measured(value: float, error: float) -> str:
    """Show a value and its standard error with two digits of the error."""
    if not math.isfinite(error) or error == 0.0:
        return number(value)
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:,.{digits}f} ± {error:,.{digits}f}"


def _row(policy: PolicyValue, found: Estimate) -> list[str]:
    change, low, high = found.difference
    return [
        escaped(policy.name),
        escaped(_with_parameter(found)),
        EN_DASH if found.value is None else element("strong", number(found.value)),
        _span(found.low, found.high),
        _span(*found.bounds),
        EN_DASH if change is None else number(change),
        _span(low, high),
        number(round(policy.rows_used)) if math.isfinite(policy.rows_used) else EN_DASH,
        percent(policy.untold),
        shown(policy.mean_weight),
    ]


def _with_parameter(found: Estimate) -> str:
    if found.parameter is None:
        return found.estimator
    return f"{found.estimator} ({shown(found.parameter)})"


def _span(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return EN_DASH
    return f"{number(low)} to {number(high)}"


def _figures(found: Findings) -> str:
    from belated.evaluation import log_figures, value_figures
    from belated.report.figure_parts import Drawing
    from belated.report.svg import svg_element

    drawn: dict[str, Callable[[Findings], Drawing | None]] = {
        "values": value_figures.values,
        "parts": value_figures.values_in_parts,
        "sequences": value_figures.confidence_sequences,
        "weights": log_figures.weights,
        "delays": log_figures.delay_laws,
        "overlap": log_figures.overlap,
    }
    parts = []
    for name, draw in drawn.items():
        figure = draw(found)
        if figure is not None:
            said = CAPTIONS[name]
            picture = svg_element(figure, f"{name}.", f"{said} {_described(found, name)}")
            caption = element("figcaption", prose(said))
            parts.append(element("figure", picture + caption, id=f"figure-{name}"))
    return element("h3", "Figures") + element("div", "".join(parts), class_="figures")


def _described(found: Findings, name: str) -> str:
    """Say the numbers of the first figure for those who cannot see it."""
    if name != "values":
        return ""
    said = [
        f"{policy.name} {number(policy.first.value)}"
        for policy in found
        if policy.first.value is not None
    ]
    return f"Values: {', '.join(said)}." if said else ""
