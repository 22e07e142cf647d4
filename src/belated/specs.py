"""Names with options in text form, such as "concealed:variant=repaired,max_missing=50"."""

import difflib
from collections.abc import Iterable

MOST_LISTED, FEW = 50, 3  # names in an error message: all of them, or a few of more


def listed(names: Iterable[str], given: object) -> str:
    """Return names for an error message, and the one that was perhaps meant; of many only a few."""
    known = list(names)
    close = difflib.get_close_matches(str(given), known, FEW)
    text = ", ".join(known)
    if len(known) > MOST_LISTED:
        shown = close or known[:FEW]
        text = f"{', '.join(shown)} or {len(known) - len(shown)} others"
    return text + (f"; did you mean {close[0]!r}?" if close else "")


def named_options(text: str) -> tuple[str, dict[str, int | float | str]]:
    """Read a name and its options from text: "concealed:variant=repaired,max_missing=50"."""
    name, _, given = text.partition(":")
    options: dict[str, int | float | str] = {}
    for part in given.split(",") if given else []:
        key, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not key:
            raise ValueError(f"{name} is given {part!r}; an option must read name=value")
        if key in options:
            raise ValueError(f"{name} is given {key!r} twice; once is enough")
        options[key] = as_value(value)
    return name, options


def as_value(text: str) -> bool | int | float | str:
    """The value of an option: true or false, a whole number, a number, or the text itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
