"""The HTML page of an uplift, as the service gives it: one page that needs no other file."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from belated import __version__
from belated.arrays import Floats
from belated.comparison.digits import decimals_of_widths, fixed
from belated.report.figure_parts import Drawing, add_title, format_thousands, new_figure
from belated.report.formatting import EN_DASH, MINUS, counted, number, percent
from belated.report.markup import definitions, element, escaped, paragraph, prose, table
from belated.report.page import html_head, write_page
from belated.report.style import COLOURS, FAINT, SMALL_SIZE, with_figure_settings
from belated.report.svg import svg_element

View = Mapping[str, Any]
MOST_TICKS = 8
CAPTIONS = {
    "over-time": "The uplift over all decisions so far, from a tenth of them on. The band is valid "
    "at every look: you may look as often as you like, and stop when it excludes 0.",
    "by-day": "The uplift of each day on its own. With many days, some intervals are wrong.",
}


def write_uplift(found: View, path: Path) -> Path:
    """Write the page; an interrupted call leaves no incomplete file."""
    return write_page(uplift_html(found), path)


def uplift_html(found: View) -> str:
    """Return the page; equal numbers give an equal page."""
    title = headline(found)
    header = element(
        "header",
        paragraph("The learner against its control", class_="kicker")
        + element("h1", prose(title))
        + paragraph(*facts(found), class_="lead"),
    )
    days = _parts(found["days"], "day", "Mean rewards of each day in UTC")
    segments = ""
    if found.get("segments"):
        said = _parts(found["segments"], "segment", "Mean rewards; each interval is by itself")
        heading = element("h2", escaped(f"By {found['by']}"))
        segments = element("section", heading + said, id="segments")
    sections = [
        element("section", element("h2", "Uplift") + _cohorts(found) + _figures(found), id="all"),
        element("section", element("h2", "By arm") + _arms(found), id="arms"),
        element("section", element("h2", "By day") + days, id="days"),
        segments,
        element("section", element("h2", "Which decisions count") + definitions(rules(found)),
                id="rules"),
    ]  # fmt: skip
    footer = element("footer", f"Made by belated {__version__}. This page needs no other file.")
    body = header + element("main", "".join(sections)) + footer
    return f'<!doctype html>\n<html lang="en">{html_head(title)}<body>{body}</body></html>\n'


def headline(found: View) -> str:
    """Say whether the learner earns more than its control, as far as the interval says so."""
    name, uplift = found["problem"], found["uplift"]
    if uplift["value"] is None:
        return f"No decision of {name} counts yet"
    if uplift["low"] > 0.0:
        return f"On {name} the learner earns more than its control"
    if uplift["high"] < 0.0:
        return f"On {name} the learner earns less than its control"
    return f"On {name} the learner cannot be told apart from its control yet"


def facts(found: View) -> list[str]:
    """Say the uplift and its interval in sentences."""
    uplift = found["uplift"]
    if uplift["value"] is None:
        return [f"It is not fixed yet what {counted(found['waiting'], 'decision')} earned."]
    relative, decimals = uplift["relative"], _decimals([uplift])
    share = "" if relative is None else f", {number(100.0 * relative)} % of the control's mean"
    return [
        f"The uplift is {_mean(uplift['value'], decimals)} per decision{share}, with the interval "
        f"{_span(uplift, decimals)}.",
        f"It is over {counted(found['decisions'], 'decision')} from {day_of(found['from'])} to "
        f"{day_of(found['until'])}.",
    ]


def rules(found: View) -> list[tuple[str, str]]:
    """Say which decisions count, and with what."""
    within = found["within"]
    fixed = (
        "when its ticket is closed, by its outcome or by expiry"
        if within is None
        else f"when it was told, or after {duration(within)} of silence"
    )
    weights = found.get("control_weights") or {}
    drawn = ", ".join(f"{arm} {percent(weight)}" for arm, weight in weights.items())
    control = found["control_arm"] or drawn or "a uniform draw"
    said = {
        "Control": f"{control}, for {percent(found['share'])} of the decisions",
        "In their order": f"A decision counts {fixed}; all that come after it wait until then.",
        "Silent": f"A silent decision counts with the reward {number(found['silent_reward'])}.",
        "Not counted": f"{counted(found['waiting'], 'decision')} waiting, and "
        f"{counted(found['cancelled'], 'decision')} cancelled.",
        "Clipped": f"{counted(found['clipped'], 'reward')} outside the soft range, counted as its "
        "nearest end.",
        "Interval": f"{percent(found['level'])}, an empirical Bernstein confidence sequence "
        "(Howard, Ramdas, McAuliffe and Sekhon, 2021), valid at every look.",
    }
    return [(term, escaped(text)) for term, text in said.items()]


def day_of(at: float) -> str:
    """Return a time as the day in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")


def duration(seconds: float) -> str:
    """Return a time in days, hours or minutes, if it is a whole number of them."""
    for word, unit in (("day", 86_400.0), ("hour", 3600.0), ("minute", 60.0)):
        if seconds >= unit and seconds % unit == 0.0:
            return counted(int(seconds / unit), word)
    return f"{number(seconds)} seconds"


def _mean(value: float | None, decimals: int) -> str:
    return EN_DASH if value is None else fixed(value, decimals).replace("-", MINUS)


def _span(found: View, decimals: int) -> str:
    return " to ".join(_mean(found[end], decimals) for end in ("low", "high"))


def _decimals(parts: Sequence[View]) -> int:
    """Return the decimals at which the narrowest interval of some parts has two digits."""
    return decimals_of_widths(
        each["high"] - each["low"] for each in parts if each["low"] is not None
    )


def _cohorts(found: View) -> str:
    decimals = _decimals([found["uplift"]])
    rows = [
        [name, f"{each['decisions']:,}", f"{each['told']:,}", _mean(each["mean"], decimals)]
        for name, each in (("learner", found["treatment"]), ("control", found["control"]))
    ]
    heads = ["cohort", "decisions", "told", "mean reward"]
    return table("cohorts", "The two cohorts", heads, rows)


def _arms(found: View) -> str:
    decimals = _decimals([found["uplift"]])
    rows = [
        [escaped(each["arm"])]
        + [
            text
            for name in ("treatment", "control")
            for text in (f"{each[name]['decisions']:,}", _mean(each[name]["mean"], decimals))
        ]
        for each in found["by_arm"]
    ]
    heads = ["arm", "learner played", "its mean", "control played", "its mean"]
    return table("by-arm", "What each cohort has played and earned", heads, rows)


def _parts(found: Sequence[View], name: str, caption: str) -> str:
    decimals = _decimals(found)
    names = ("treatment", "control", "value")
    rows = [
        [escaped(each[name]), f"{each['decisions']:,}"]
        + [_mean(each[part], decimals) for part in names]
        + [_span(each, decimals)]
        for each in found
    ]
    heads = [name, "decisions", "learner", "control", "uplift", f"interval of the {name}"]
    return table(f"by-{name}", caption, heads, rows)


def _figures(found: View) -> str:
    if not found["over_time"]:
        return ""
    parts = []
    for name, drawn in (("over-time", over_time(found)), ("by-day", by_day(found))):
        described = f"{CAPTIONS[name]} {' '.join(facts(found))}"
        picture = svg_element(drawn, f"{name}.", described)
        caption = element("figcaption", prose(CAPTIONS[name]))
        parts.append(element("figure", picture + caption))
    return element("div", "".join(parts), class_="figures")


@with_figure_settings
def over_time(found: View) -> Drawing:
    """Draw the uplift over all decisions so far with its band, from a tenth of them on."""
    points = found["over_time"][len(found["over_time"]) // 10 :]  # the first are as wide as all
    counts, value, low, high = (
        np.array([each[name] for each in points], dtype=np.float64)
        for name in ("decisions", "value", "low", "high")
    )
    figure = new_figure(2.7)
    axes = figure.add_subplot()
    axes.axhline(0.0, color=FAINT, linewidth=1.0, linestyle=(0, (1.0, 2.0)))
    axes.fill_between(counts, low, high, color=COLOURS[0], alpha=0.15, linewidth=0.0)
    axes.plot(counts, value, color=COLOURS[0], linewidth=1.4)
    axes.set(ylim=_limits(low, high), xlim=(0.0, max(counts[-1], 1.0)))
    axes.set_yticks(MaxNLocator(6).tick_values(*axes.get_ylim())[1:-1])  # no later ones are longer
    axes.set(xlabel="decisions", ylabel="uplift in reward")
    format_thousands(axes.xaxis)
    format_thousands(axes.yaxis)
    axes.grid(visible=True, axis="y")
    add_title(figure, found["problem"], "uplift at every look")
    return figure


@with_figure_settings
def by_day(found: View) -> Drawing:
    """Draw the uplift of each day with its interval."""
    days = found["days"]
    places = np.arange(len(days))
    figure = new_figure(2.7)
    axes = figure.add_subplot()
    axes.axhline(0.0, color=FAINT, linewidth=1.0, linestyle=(0, (1.0, 2.0)))
    low, high = (np.array([each[name] for each in days]) for name in ("low", "high"))
    axes.vlines(places, low, high, color=COLOURS[0], linewidth=1.2, alpha=0.7)
    axes.plot(places, [each["value"] for each in days], "o", color=COLOURS[0], markersize=4.5)
    ticks = places[:: 1 + len(days) // MOST_TICKS]
    axes.set_xticks(ticks, [days[place]["day"][5:] for place in ticks], fontsize=SMALL_SIZE)
    axes.set(xlim=(-0.6, len(days) - 0.4), xlabel="day (UTC)", ylabel="uplift in reward")
    axes.grid(visible=True, axis="y")
    add_title(figure, found["problem"], "uplift of each day by itself")
    return figure


def _limits(low: Floats, high: Floats) -> tuple[float, float]:
    """Return limits that show all of a band, and 0."""
    bottom, top = min(0.0, float(np.min(low))), max(0.0, float(np.max(high)))
    room = 0.05 * (top - bottom) or 1.0
    return bottom - room, top + room
