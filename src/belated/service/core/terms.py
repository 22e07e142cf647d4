"""The terms of a problem that may change while it is in use: when tickets expire, and with what.

A ticket keeps the deadline that it was decided with, which is in the journal; other deadlines are
for tickets to come. A play that expires takes the default loss of that moment, and its outcome says
which. So the fold needs the terms only for a learner that asks what silence means: it is told the
default loss as the note about the change is folded.

What a learner has learned rests on the rest: other arms need its help (`arms`), and another range
of losses, another learner or other options would make another problem.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from belated.checks import as_range
from belated.learners.registry import learner_named
from belated.service.core.errors import InvalidRequestError
from belated.service.core.problems import checked_expiry
from belated.service.store import Note

TERMS = "terms"  # the kind of note about a change; its payload has all terms, as they are then
FIELDS = ("expire_after", "expire_seconds", "default_loss")


def terms_of(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The terms in a specification."""
    return {field: spec[field] for field in FIELDS}


def spec_after(spec: Mapping[str, Any], notes: Iterable[Note]) -> dict[str, Any]:
    """A specification with the terms that are in force after these notes."""
    changes = [note.payload for note in notes if note.kind == TERMS]
    return {**spec, **(changes[-1] if changes else {})}


def checked_terms(
    name: str, spec: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The terms of a problem after a change of those given; None if nothing changes."""
    if not given:
        raise InvalidRequestError(f"no term is given; there are {', '.join(FIELDS)}")
    before = terms_of(spec)
    try:
        kind = learner_named(spec["learner"])
        after = checked_expiry({**before, **given}, kind, as_range(spec["loss_range"]))
    except ValueError as error:
        raise InvalidRequestError(str(error)) from None
    if expires(before) and not expires(after):
        raise InvalidRequestError(
            f"tickets of {name!r} expire, and those that are open have their deadlines; they "
            "cannot stop to expire, so give a longer time instead"
        )
    return None if after == before else after


def expires(terms: Mapping[str, Any]) -> bool:
    """Whether tickets expire under these terms."""
    return terms["expire_after"] is not None or terms["expire_seconds"] is not None


def describe_terms(terms: Mapping[str, Any]) -> str:
    """Terms as a short text, such as "expire_seconds 60.0, default_loss 1.0"."""
    return ", ".join(f"{name} {value}" for name, value in terms.items() if value is not None)
