"""Logs of Vowpal Wabbit's decision service (dsjson) and of Personalizer: one JSON object a line.

The action that was taken is `_label_Action`, counted from 1, or `_labelIndex`, counted from 0; else
it is the first of `a`. `p` has the probabilities in the order of `a`. An action is named by its
`_tag` if the tags of a line are all different, else by its number. A line without an observation
`o` whose cost is 0 has had the default joined to it: nothing was told. `_skipLearn` is a decision
that was never shown, and `pdrop` the share of such lines that were dropped. A line with a reward
and no decision, which has found no decision to be joined to, is left out.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from belated.table_files import Batch


def read_decision_service(lines: Iterable[str]) -> Batch:
    """Return the columns of a log in dsjson."""
    records, places = [], []
    for number, line in enumerate(lines, 1):
        record = _record(line, number) if line.strip() else None
        if record is not None:
            records.append(record)
            places.append(number)
    if not records:
        raise ValueError("there are no lines; a log must have at least one")
    columns = {name: [record[name] for record in records] for name in records[0]}
    costs = columns.pop("cost")
    columns |= told_costs(costs)
    for name in ("decided_at", "probabilities"):
        if any(value is None for value in columns[name]):
            del columns[name]
    return Batch(columns, places, "line")


def told_costs(costs: list[float | None]) -> dict[str, list[float | None]]:
    """Costs as losses, or as rewards if one of them is negative, as Vowpal Wabbit writes those."""
    if any(cost is not None and cost < 0.0 for cost in costs):
        return {"reward": [None if cost is None else 0.0 - cost for cost in costs]}
    return {"loss": costs}


def _record(line: str, number: int) -> dict[str, Any] | None:
    """Return the fields of one line; None if it has no decision."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"line {number}: it is not JSON: {error}") from None
    if not isinstance(event, dict):
        raise ValueError(f"line {number}: it is {line.strip()[:40]!r}; it must be a JSON object")
    if "RewardValue" in event and "c" not in event:
        return None
    if "_outcomes" in event:
        raise ValueError(f"line {number}: it has decisions for several slots; there must be one")
    if not any(name in event for name in ("a", "_label_Action", "_labelIndex")):
        raise ValueError(
            f"line {number}: it says no action that was taken; dsjson has a, _label_Action or "
            "_labelIndex"
        )
    try:
        return _fields(event)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ValueError(f"line {number}: it is no line of dsjson: {error!r}") from None


def _fields(event: Mapping[str, Any]) -> dict[str, Any]:
    inner = event.get("c", {})
    actions = inner.get("_multi", [])
    ids = [int(each) for each in event.get("a", [])]
    names = _names(actions, ids)
    if "_label_Action" in event:
        taken = int(event["_label_Action"])
    elif "_labelIndex" in event:
        taken = int(event["_labelIndex"]) + 1
    else:
        taken = ids[0]
    shares = [float(each) for each in event.get("p", [])]
    probability = float(event.get("_label_probability", 0.0))
    if probability <= 0.0 and taken in ids and shares:
        probability = shares[ids.index(taken)]
    told = bool(event.get("o")) or float(event.get("_label_cost", 0.0)) != 0.0
    return {
        "arm": names[taken],
        "probability": probability,
        "cost": float(event["_label_cost"]) if told else None,
        "decided_at": event.get("Timestamp"),
        "outcome": "cancelled" if event.get("_skipLearn") else "",
        "weight": 1.0 / (1.0 - float(event.get("pdrop", 0.0))),
        "context": {name: value for name, value in inner.items() if not name.startswith("_")},
        "probabilities": {names[each]: share for each, share in zip(ids, shares, strict=True)}
        if shares and abs(sum(shares) - 1.0) < 1e-4
        else None,
    }


def _names(actions: list[Any], ids: list[int]) -> dict[int, str]:
    """Return the name of each action by its number from 1."""
    tags = [each.get("_tag") if isinstance(each, Mapping) else None for each in actions]
    if tags and None not in tags and len(set(tags)) == len(tags):
        return {number: str(tag) for number, tag in enumerate(tags, 1)}
    return {number: str(number) for number in [*range(1, len(actions) + 1), *ids]}
