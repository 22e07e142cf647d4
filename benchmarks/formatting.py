"""Formats results as text, for the table in the terminal and for the figure."""

from benchmarks.measure import (
    BYTES,
    MEGABYTES,
    PASSES,
    PER_SECOND,
    SECONDS,
    Goal,
    Measured,
    Result,
)
from benchmarks.timing import Spread

COLUMNS = ("", "K", "ours", "theirs", "value", "quartiles", "goal", "met")
DASH = "\N{EN DASH}"
MET = {True: "yes", False: "NO", None: ""}


def rows_of(measured: Measured) -> list[tuple[str, ...]]:
    """Return a row of texts for each result."""
    return [
        (
            result.what,
            "" if result.arms is None else f"{result.arms:,}",
            time_text(result.ours),
            time_text(result.rival),
            value_text(result.value.median, result.unit),
            quartiles(result),
            goal_text(result.goal, result.unit),
            MET[result.met],
        )
        for result in measured.results
    ]


def time_text(seconds: Spread | None) -> str:
    """Format a duration with three digits."""
    return "" if seconds is None else value_text(seconds.median, SECONDS)


def value_text(value: float, unit: str) -> str:
    """Format a number with this unit, with three digits."""
    if unit == SECONDS:
        for scale, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
            if value >= scale:
                return f"{digits(value / scale)} {name}"
        return f"{digits(value / 1e-9)} ns"
    if unit in (MEGABYTES, BYTES, PER_SECOND):
        return f"{digits(value)} {unit}"
    return digits(value) if unit == PASSES else f"{digits(value)}x"


def digits(value: float) -> str:
    """Format a number with three digits, or two below 1, and with commas between thousands."""
    if value >= 100.0:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= 1.0 else f"{value:.2g}"


def quartiles(result: Result) -> str:
    """Format the two quartiles of a result that was measured repeatedly."""
    spread, unit = result.value, result.unit
    if spread.low == spread.high:
        return ""
    if unit == SECONDS:
        return f"{value_text(spread.low, unit)}{DASH}{value_text(spread.high, unit)}"
    return f"{digits(spread.low)}{DASH}{digits(spread.high)}"


def goal_text(goal: Goal | None, unit: str) -> str:
    """Format a goal: its limit, and whether values must be above or below it."""
    if goal is None:
        return ""
    return f"{'≥' if goal.at_least else '≤'} {value_text(goal.limit, unit)}"
