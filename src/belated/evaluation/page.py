"""The HTML report of an evaluation: one page that needs no other file."""

import math
from collections.abc import Callable
from pathlib import Path

from belated import __version__
from belated.comparison.digits import decimals_of_widths, fixed
from belated.evaluation.conversions import conversions_of
from belated.evaluation.estimators import REPLAY
from belated.evaluation.result import Estimate, Findings, PolicyValue
from belated.report.formatting import EN_DASH, MINUS, counted, number, percent
from belated.report.markup import (
    definitions,
    element,
    escaped,
    grouped_table,
    paragraph,
    prose,
    table,
)
from belated.report.page import check_report, html_head, write_page

MEANINGS = {
    None: "Nothing was declared about what silence means.",
    "missing": "Declared: a silent outcome is late or lost, whatever it is.",
    "default": "Declared: lasting silence is a loss of {}, and all other outcomes come in the end.",
    "speeds": "Declared: all outcomes come in the end, good and bad ones at different speeds.",
}
COLUMNS = ("estimator", "value", "95 % interval", "bounds", "minus logged", "its interval")
WORDS = (
    ("Value", "The mean reward of a decision if the policy had chosen instead of the logger."),
    ("Bounds", "The value if all unknown outcomes were the worst, or the best, possible. They "
     "hold whatever silence means, up to sampling error."),
    ("Minus logged", "The value less what the log itself earned. If its interval is above 0, the "
     "policy would have earned more."),
    ("Worth rows", "The effective sample size: the rows are worth this many decisions of it."),
    ("Untold", "The share of the policy's weight on rows without an outcome."),
    ("Mean weight", "Should be 1. If it is not, a logged probability is wrong, or the policy plays "
     "arms that the log does not have."),
)  # fmt: skip
CAPTIONS = {
    "values": "Each estimate with its interval. The pale bar goes from bound to bound, and may "
    "leave the picture; the dotted line is what the log itself earned.",
    "parts": "The value in parts of the log, with normal intervals. A policy that is good on "
    "average may be bad in some of them.",
    "sequences": "Lower and upper ends of intervals by betting after so many rows. They are valid "
    "at every look and whatever silence means: you may stop when they are narrow enough. They stay "
    "wide while many outcomes are unknown.",
    "weights": "How many rows have which weight. An estimate that rests on few rows of large "
    "weight is rough.",
    "delays": "Solid: the share of all decisions of an arm whose outcome has been told by an age. "
    "Dashed: the same share of those outcomes that come at all. Ticks below: the ages of decisions "
    "that have not been told.",
    "overlap": "Bars are the shares of the arms in the log, marks those under each policy. If a "
    "policy often plays an arm that is rare in the log, its value is uncertain.",
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
        + paragraph(_declared(found), *found.notes, class_="lead"),
    )
    body = header + element("main", _main(found)) + _footer()
    return f'<!doctype html>\n<html lang="en">{html_head(headline)}<body>{body}</body></html>\n'


def _declared(found: Findings) -> str:
    """Say what silence was declared to mean, if there is any."""
    if not found.untold:
        return "All outcomes were told."
    loss = 0.0 if found.default_loss is None else found.default_loss
    return MEANINGS[found.silence].format(number(loss))


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
    every = [each for policy in found for each in policy.estimates.values()]
    widths = [(each.high or 0.0) - (each.low or 0.0) for each in every]
    decimals = decimals_of_widths(widths, 0.01 * found.journal.units.width)
    groups = [
        (_policy_line(policy), [_row(policy, each, decimals) for each in policy.estimates.values()])
        for policy in found
    ]
    heads = [each.replace("95", f"{100.0 * found.level:g}") for each in COLUMNS]
    caption = "Rewards per decision; the bounds hold whatever silence means"
    return grouped_table("values", caption, heads, groups)


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


def _policy_line(policy: PolicyValue) -> str:
    """Name a policy, and say how far the log can speak about it."""
    said = []
    if math.isfinite(policy.rows_used):
        said.append(f"worth {counted(round(policy.rows_used), 'row')}")
    said.append(f"{percent(policy.untold)} untold")
    if policy.table is not None and REPLAY not in policy.estimates:
        said.append(f"mean weight {_fixed(policy.mean_weight, 3)}")
    return f"{policy.name}: {', '.join(said)}"


def _row(policy: PolicyValue, found: Estimate, decimals: int) -> list[str]:
    change, low, high = found.difference
    if policy.table is None:  # the log itself
        change, low, high = None, None, None
    return [
        escaped(_with_parameter(found)),
        EN_DASH if found.value is None else element("strong", _fixed(found.value, decimals)),
        _span(found.low, found.high, decimals),
        _span(*found.bounds, decimals),
        EN_DASH if change is None else _fixed(change, decimals),
        _span(low, high, decimals),
    ]


def _fixed(value: float, decimals: int) -> str:
    return fixed(value, decimals).replace("-", MINUS)


def _with_parameter(found: Estimate) -> str:
    if found.parameter is None:
        return found.estimator
    return f"{found.estimator} ({found.parameter:.3g})"


def _span(low: float | None, high: float | None, decimals: int) -> str:
    if low is None or high is None:
        return EN_DASH
    return f"{_fixed(low, decimals)} to {_fixed(high, decimals)}"


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
