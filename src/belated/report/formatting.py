"""Numbers, names and lists as people read them."""

import math
from collections.abc import Iterable, Sequence
from unicodedata import east_asian_width

from belated.analysis.bounds import Bound
from belated.analysis.statistics import MeanEstimate
from belated.comparison.table import shown

NOISE = 1e-9  # what is smaller than this, relatively, is rounding
NONE, RHO = "\N{EN DASH}", "\N{GREEK SMALL LETTER RHO}"
MINUS = "\N{MINUS SIGN}"
UNPROVEN = "\N{DAGGER}"
UNPROVEN_NOTE = f"{UNPROVEN} stated, not proven"


def clean(text: str) -> str:
    """Text in one line, without characters that no page can hold."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())


def width(text: str) -> int:
    """How many letters wide text is; those of East Asia take two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def short(text: str, most: int = 34) -> str:
    """Clean text of at most such a width, cut off at the end."""
    text = clean(text)
    if width(text) <= most:
        return text
    while width(text) >= most:
        text = text[:-1]
    return text.rstrip() + "…"


def number(value: float) -> str:
    """Four digits, commas between the thousands, a true minus sign."""
    return shown(float(value)).replace("-", MINUS).replace("inf", "∞")


def bound_text(bound: Bound) -> str:
    """The value of a bound, marked if it is stated but not proven to hold; a dash for none."""
    if bound.value is None:
        return NONE
    return number(bound.value) + ("" if bound.applies else UNPROVEN)


def unproven(bounds: Iterable[Bound]) -> bool:
    """Whether one of the bounds bears the mark."""
    return any(bound.value is not None and not bound.applies for bound in bounds)


def plus_minus(found: MeanEstimate) -> str:
    """A mean with half the width of its interval, if that is known."""
    mean, half = float(found.mean), float(found.half_width)
    if math.isnan(half):
        return number(mean)
    if half <= max(NOISE * abs(mean), 0.00005):
        return f"{number(mean)} ± 0"
    digits = min(4, max(0, 1 - math.floor(math.log10(half))))
    return f"{mean:,.{digits}f} ± {half:,.{digits}f}".replace("-", MINUS)


def percent(share: float) -> str:
    """A share as a percentage, with a digit more where it is small."""
    value = 100.0 * abs(share)
    if 0.0 < value < 0.01:
        return "under 0.01 %"
    sign = MINUS if share < 0.0 else ""
    return f"{sign}{value:.0f} %" if value >= 9.95 else f"{sign}{value:.2g} %"


def arm_named(label: str) -> str:
    """What to call an arm; a bare number becomes arm so and so."""
    label = clean(label)
    return f"arm {label}" if label.isdigit() else label


def counted(count: int, word: str) -> str:
    """So many of something."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def listed(names: Sequence[str], word: str = "and") -> str:
    """a, b and c."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {word} {names[-1]}"
