"""The option `--feature`, which declares what a context has."""

from collections.abc import Callable, Sequence
from typing import Any

import click

KINDS = ("number", "optional number")


def feature_option() -> Callable[[Any], Any]:
    """The option, which may be given several times; `features_in` reads its values."""
    return click.option(
        "--feature",
        "features",
        multiple=True,
        help="For learners with contexts: NAME, NAME=number, NAME='optional number' or "
        "NAME=red,green (its categories); repeat it.  [default: any names, hashed]",
    )


def features_in(texts: Sequence[str]) -> list[str] | dict[str, str | list[str]] | None:
    """The features that were typed: names, or kinds by name; None if there are none."""
    if not texts:
        return None
    pairs = [text.partition("=") for text in texts]
    names = [name.strip() for name, _, _ in pairs]
    for name in names:
        if not name or names.count(name) > 1:
            raise ValueError(f"--feature names {name!r}; each must have a name of its own")
    with_kind = [bool(equals) for _, equals, _ in pairs]
    if not any(with_kind):
        return names
    if not all(with_kind):
        name = names[with_kind.index(False)]
        raise ValueError(
            f"--feature {name} has no kind, and others have one; give NAME=KIND for all or for none"
        )
    kinds = [kind.strip() for _, _, kind in pairs]
    return {
        name: kind if kind in KINDS else [each.strip() for each in kind.split(",")]
        for name, kind in zip(names, kinds, strict=True)
    }
