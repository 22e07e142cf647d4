"""Named outcomes of a ticket, such as click, sale and refund, and the one reward they amount to.

An outcome may come again with a higher revision, which replaces its reward and not its place: first
and last go by when an outcome was first told. Reports may come in any order, since the highest
revision stands. A ticket closes `revise_within` seconds after its first outcome: then the learner
is told once what the rule says.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from belated.checks import as_number
from belated.service.store import NamedOutcome

RULES: Final = ("first", "last", "sum", "max", "weighted")
FIELDS: Final = frozenset({"names", "rule", "weights", "revise_within"})
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
MOST_NAMES: Final = 20
MOST_REVISION: Final = 99
MOST_REWARD: Final = 1e15  # so that no sum is infinite
MOST_WEIGHT: Final = 1e6
MOST_SECONDS: Final = 1e10


class OutcomeRule(NamedTuple):
    """The names of a problem's outcomes, the rule over them, and how long a ticket waits for more.

    `weights` has one for each name; they are 1 unless the rule is weighted.
    """

    names: tuple[str, ...]
    rule: str
    weights: tuple[float, ...]
    revise_within: float

    def reward(self, told: Iterable[NamedOutcome]) -> float:
        """What the rule says about at least one outcome; sums do not depend on their order."""
        rewards = {name: each.reward for name, each in standing(told).items()}
        in_order = list(rewards.values())
        if self.rule == "first":
            return in_order[0]
        if self.rule == "last":
            return in_order[-1]
        if self.rule == "max":
            return max(in_order)
        weights = dict(zip(self.names, self.weights, strict=True))
        return math.fsum(weights[name] * reward for name, reward in rewards.items())


def standing(told: Iterable[NamedOutcome]) -> dict[str, NamedOutcome]:
    """The highest revision of each outcome, in the order in which the outcomes were first told."""
    found: dict[str, NamedOutcome] = {}
    for each in told:
        if each.name not in found or each.revision > found[each.name].revision:
            found[each.name] = each  # a name that is there already keeps its place
    return found


def rule_of(spec: Mapping[str, Any]) -> OutcomeRule | None:
    """The rule in a specification, if it has one."""
    given = spec.get("outcomes")
    if given is None:
        return None
    names, weights = tuple(given["names"]), given["weights"] or {}
    factors = tuple(float(weights.get(name, 1.0)) for name in names)
    return OutcomeRule(names, given["rule"], factors, given["revise_within"])


def checked_rule(given: Any, tells_one_loss: bool) -> dict[str, Any]:
    """The field of a specification with a complete rule, or none; ValueError if it is wrong.

    `tells_one_loss` says whether a round has one loss, and nothing else is told with it.
    """
    if given is None:
        return {}
    if not tells_one_loss:
        raise ValueError(
            "outcomes is given for a learner that is told more than the loss of one arm; leave it "
            "out, or take another learner"
        )
    if not isinstance(given, Mapping) or not {"names", "rule"} <= given.keys() <= FIELDS:
        raise ValueError(
            f"outcomes is {given!r}; it must have names and a rule, and may have weights and "
            "revise_within"
        )
    names, rule = checked_names(given["names"]), given["rule"]
    if rule not in RULES:
        raise ValueError(f"the rule of outcomes is {rule!r}; it must be one of {', '.join(RULES)}")
    weights = checked_weights(given.get("weights"), names, rule)
    seconds = given.get("revise_within")
    if seconds is None:
        raise ValueError(
            "outcomes has no revise_within; it must say for how many seconds after the first "
            "outcome of a ticket others may come"
        )
    seconds = as_number(seconds, "revise_within")
    if not 0.0 <= seconds <= MOST_SECONDS:
        raise ValueError(f"revise_within is {seconds!r}; it must be from 0 to {MOST_SECONDS}")
    made = {"names": names, "rule": rule, "weights": weights, "revise_within": seconds}
    return {"outcomes": made}


def checked_names(names: Any) -> list[str]:
    """The names of outcomes, which must differ; ValueError otherwise."""
    if not isinstance(names, Sequence) or isinstance(names, str) or not names:
        raise ValueError(f"the names of outcomes are {names!r}; they must be a list of names")
    for name in names:
        if not isinstance(name, str) or NAME.fullmatch(name) is None:
            raise ValueError(
                f"the outcome {name!r} is no name; it must be 1 to 64 letters, digits, dots, "
                "dashes or underscores, and begin with a letter or a digit"
            )
    if len(set(names)) < len(names):
        raise ValueError(f"the names of outcomes are {names!r}; they must differ")
    if len(names) > MOST_NAMES:
        raise ValueError(f"there are {len(names)} outcomes; there may be {MOST_NAMES}")
    return list(names)


def checked_weights(weights: Any, names: Sequence[str], rule: str) -> dict[str, float] | None:
    """The weight of each outcome, for the rule that is weighted; ValueError if they do not fit."""
    if rule != "weighted":
        if weights is not None:
            raise ValueError(f"weights is {weights!r}; only the rule weighted has weights")
        return None
    if not isinstance(weights, Mapping) or set(weights) != set(names):
        raise ValueError(
            f"weights is {weights!r}; it must give a weight to each of {', '.join(names)}"
        )
    found = {name: as_number(weights[name], f"the weight of {name}") for name in names}
    for name, weight in found.items():
        if abs(weight) > MOST_WEIGHT:
            raise ValueError(
                f"the weight of {name} is {weight!r}; it must be from {-MOST_WEIGHT} to "
                f"{MOST_WEIGHT}"
            )
    return found
