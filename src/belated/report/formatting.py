"""Numbers, names and lists as text for readers."""

import math
from collections.abc import Iterable, Sequence
from unicodedata import east_asian_width

from belated.analysis.bounds import Bound
from belated.analysis.statistics import MeanEstimate
from belated.comparison.digits import (
    DETERMINISTIC,
    decimals_of,
    decimals_of_estimates,
    fixed,
    varies,
)
from belated.comparison.summary import DAGGER, estimate_shown, estimates_shown
from belated.comparison.table import shown

EN_DASH, RHO = "\N{EN DASH}", "\N{GREEK SMALL LETTER RHO}"
MINUS = "\N{MINUS SIGN}"


def clean(text: str) -> str:
    """Put text on one line and replace unprintable characters by spaces."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())


def display_width(text: str) -> int:
    """Return the width of text in letters; East Asian wide characters count as two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def shorten(text: str, most: int = 34) -> str:
    """Cut text to a display width of `most` letters, with an ellipsis where it is cut."""
    text = clean(text)
    if display_width(text) <= most:
        return text
    while display_width(text) >= most:
        text = text[:-1]
    return text.rstrip() + "…"


def number(value: float) -> str:
    """Format a number with four digits, commas between thousands and a typographic minus sign."""
    return shown(float(value)).replace("-", MINUS).replace("inf", "∞")


def bound_text(bound: Bound) -> str:
    """Format the value of a bound, with a dagger if it is not proven; no value is a dash."""
    if bound.value is None:
        return EN_DASH
    return number(bound.value) + ("" if bound.applies else DAGGER)


def any_unproven(bounds: Iterable[Bound]) -> bool:
    """Return whether any of the bounds is stated but not proven, and so has a dagger."""
    return any(bound.value is not None and not bound.applies for bound in bounds)


def plus_minus(found: MeanEstimate) -> str:
    """Format a mean as "mean ± half-width of its confidence interval", if there is an interval."""
    if not varies(found):
        mean = number(float(found.mean))
        return mean if math.isnan(found.half_width) else f"{mean} ({DETERMINISTIC})"
    return estimate_shown(found, decimals_of_estimates([found])).replace("-", MINUS)


def plus_minus_column(column: Sequence[MeanEstimate]) -> list[str]:
    """Format a column of means with their intervals, all with the same decimals."""
    return [each.replace("-", MINUS) for each in estimates_shown(column)]


def number_column(values: Sequence[float | None], most: int = 4) -> list[str]:
    """Format a column of numbers, all with the same decimals, at most so many; None is a dash."""
    decimals = min(most, decimals_of([value for value in values if value is not None]))
    return [
        EN_DASH if value is None else fixed(float(value), decimals).replace("-", MINUS)
        for value in values
    ]


def percent(share: float) -> str:
    """Format a share as a percentage, with more decimals if it is small."""
    value = 100.0 * abs(share)
    if 0.0 < value < 0.01:
        return "under 0.01 %"
    sign = MINUS if share < 0.0 else ""
    return f"{sign}{value:.0f} %" if value >= 9.95 else f"{sign}{value:.2g} %"


def arm_name(label: str) -> str:
    """Return the label of an arm, with "arm" in front if the label is only a number."""
    label = clean(label)
    return f"arm {label}" if label.isdigit() else label


def counted(count: int, word: str) -> str:
    """Format a count with its noun, in the plural unless the count is 1."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def listed(names: Sequence[str], word: str = "and") -> str:
    """Join names to "a, b and c"; `word` may replace "and"."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {word} {names[-1]}"
