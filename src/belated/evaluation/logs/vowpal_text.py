"""Logs in Vowpal Wabbit's text format for contextual bandits, with and without action features.

With action features (`--cb_adf`) an event is a line `shared |...` and a line for each action, the
one taken with the label `id:cost:probability`, and ends with an empty line; without them (`--cb`)
an event is one line with that label. An event without a label has nothing to say and is left out.
"""

import re
from collections.abc import Iterable
from typing import Any

from belated.evaluation.logs.decision_service_lines import told_costs
from belated.table_files import Batch

LABEL = re.compile(r"^\s*(\d+):(-?[\d.eE+-]+):([\d.eE+-]+)\b")
TAG = re.compile(r"'?([^\s|':]+)\|")
Line = tuple[int, str]


def read_vowpal_text(lines: Iterable[str]) -> Batch:
    """Return the columns of a log in Vowpal Wabbit's text format."""
    rows = []
    for event in _events(lines):
        labelled = [line for line in event if LABEL.match(line[1])]
        if event[0][1].startswith("shared") or len(event) > 1 == len(labelled):
            rows += [_action_row(event, line) for line in labelled]
        else:
            rows += [_single_row(line) for line in labelled]
    if not rows:
        raise ValueError("no line has a label; an action that was taken has id:cost:probability")
    names = ("arm", "cost", "probability", "context", "place")
    columns: dict[str, Any] = {name: [row[k] for row in rows] for k, name in enumerate(names)}
    return Batch(columns | told_costs(columns.pop("cost")), columns.pop("place"), "line")


def _events(lines: Iterable[str]) -> list[list[Line]]:
    events: list[list[Line]] = [[]]
    for number, line in enumerate(lines, 1):
        if line.strip():
            events[-1].append((number, line.strip()))
        elif events[-1]:
            events.append([])
    return [event for event in events if event]


def _label(line: Line) -> tuple[str, float, float]:
    found = LABEL.match(line[1])
    assert found is not None
    try:
        return found[1], float(found[2]), float(found[3])
    except ValueError:
        raise ValueError(
            f"line {line[0]}: the label is {found[0]!r}; it must be id:cost:probability"
        ) from None


def _action_row(event: list[Line], taken: Line) -> tuple[Any, ...]:
    """Return the row of an event with action features: the arm is the tag or the place from 1."""
    actions = [line for line in event if not line[1].startswith("shared")]
    tag = TAG.search(taken[1].split("|")[0] + "|")
    arm = tag[1] if tag and not LABEL.match(tag[1]) else str(actions.index(taken) + 1)
    _, cost, probability = _label(taken)
    shared = [line for line in event if line[1].startswith("shared")]
    return arm, cost, probability, _features(shared[0][1]) if shared else {}, taken[0]


def _single_row(line: Line) -> tuple[Any, ...]:
    arm, cost, probability = _label(line)
    return arm, cost, probability, _features(line[1]), line[0]


def _features(text: str) -> dict[str, float]:
    """Return the features of a line by name: `|U age:31 phone` is U.age 31 and U.phone 1."""
    found = {}
    for part in text.split("|")[1:]:
        words = part.split()
        space = "" if part[:1].isspace() or not words else words.pop(0).split(":")[0]
        for word in words:
            name, _, value = word.partition(":")
            try:
                found[f"{space}.{name}" if space else name] = float(value) if value else 1.0
            except ValueError:
                continue
    return found
