"""How many decimals a number has: one rule for all numbers of a column, so that they line up."""

import math
from collections.abc import Iterable, Sequence

from belated.analysis.statistics import MeanEstimate

ROUNDING = 1e-9  # relative differences up to this are due to rounding
MOST_DECIMALS = 4
DETERMINISTIC = "deterministic"  # of a mean whose interval has no width


def decimals_of(values: Iterable[float]) -> int:
    """Return the decimals of a column without intervals: its median number has four digits."""
    sizes = sorted(abs(value) for value in values if math.isfinite(value) and value != 0.0)
    if not sizes:
        return 0
    return _within(3 - _magnitude(sizes[len(sizes) // 2]))


def decimals_of_estimates(column: Sequence[MeanEstimate]) -> int:
    """Return the decimals of a column of means: the narrowest interval has two digits.

    The largest mean has at most five digits, unless they are all before the decimal point.
    """
    widths = [float(each.half_width) for each in column if varies(each)]
    means = [float(each.mean) for each in column]
    if not widths:
        return decimals_of(means)
    largest = max((abs(mean) for mean in means if mean != 0.0), default=1.0)
    return _within(min(1 - _magnitude(min(widths)), 4 - _magnitude(largest)))


def decimals_of_widths(widths: Iterable[float], usual: float = 0.01) -> int:
    """Return the decimals at which the narrowest interval has two digits; `usual` if none has."""
    return max(0, 1 - _magnitude(min((each for each in widths if each > 0.0), default=usual)))


def varies(found: MeanEstimate) -> bool:
    """Return whether a mean has an interval with a width, beyond rounding."""
    half = float(found.half_width)
    return not math.isnan(half) and half > max(ROUNDING * abs(float(found.mean)), 0.00005)


def fixed(value: float, decimals: int) -> str:
    """Write a number with these decimals and with commas between thousands; no minus before 0."""
    text = f"{value:,.{decimals}f}"
    return text.lstrip("-") if float(text.replace(",", "")) == 0.0 else text


def _magnitude(value: float) -> int:
    return math.floor(math.log10(value))


def _within(decimals: int) -> int:
    return min(max(decimals, 0), MOST_DECIMALS)
