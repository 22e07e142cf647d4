"""Lean records: what a learner seldom needs is compiled when it is first needed.

A learner may name fields of its state, `seldom`, that only rare rounds use. Its info has fields of
the same names. In a lean record they are None, so that compiled code for such a record lacks what
is done with them: it raises `LeftOut` instead, before it has changed anything but the prediction.
The step then runs as plain Python, and the compiler is asked for the whole one (`lean_steps`).
"""

from typing import Any

SELDOM: dict[type, tuple[str, ...]] = {}  # kind of state -> the fields that are seldom needed


class LeftOut(Exception):
    """A compiled step has come to something that it lacks."""


def lean(record: Any) -> Any:
    """Return a record, which has a state and a prediction, without what is seldom needed."""
    names = SELDOM.get(type(record.state), ())
    if not names:
        return record
    nothing = dict.fromkeys(names)
    info = record.prediction.info._replace(**nothing)
    prediction = record.prediction._replace(info=info)
    return record._replace(state=record.state._replace(**nothing), prediction=prediction)
