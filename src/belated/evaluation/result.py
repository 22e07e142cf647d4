"""What an evaluation found: a value for each policy and estimator, with intervals and bounds."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from belated.arrays import Floats
from belated.checks import LossRange
from belated.comparison.table import Table
from belated.evaluation.intervals import Interval
from belated.evaluation.logs.journal import Journal
from belated.specs import listed


class Estimate(NamedTuple):
    """The value of a policy by one estimator, in the units of the rewards.

    `value`, `low` and `high` are None if the meaning of silence was not declared, or if the log is
    too short. `bounds` are the values if all unknown outcomes are the worst, or the best, possible.
    `outer` has the bounds with their sampling error added. `difference` is the value minus that of
    the log itself, with its interval.
    """

    estimator: str
    value: float | None
    low: float | None
    high: float | None
    bounds: tuple[float, float]
    outer: tuple[float, float]
    difference: tuple[float | None, float | None, float | None]
    parameter: float | None = None


class Part(NamedTuple):
    """The value in a part of the log: a stratum, or a stretch of time."""

    label: str
    rows: int
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class PolicyValue:
    """The estimates of a policy, by the name of the estimator, and how many rows they rest on."""

    name: str
    estimates: Mapping[str, Estimate]
    rows_used: float  # effective sample size, (sum w)^2 / sum w^2
    mean_weight: float  # should be 1
    mean_weight_error: float  # half the width of its 95 % interval
    untold: float  # the share of its weight that has not been told
    parts: Sequence[Part] = ()
    weights: Floats | None = None  # of the rows
    table: Floats | None = None  # its probabilities: (row, arm)

    def __getattr__(self, name: str) -> Estimate:
        """Return an estimate by the name of its estimator, with _ for -."""
        estimates = self.__dict__.get("estimates", {})
        if name.replace("_", "-") in estimates:
            found: Estimate = estimates[name.replace("_", "-")]
            return found
        raise AttributeError(f"there is no estimate {name!r}; there are {', '.join(estimates)}")

    @property
    def first(self) -> Estimate:
        """The estimate by the first estimator."""
        return next(iter(self.estimates.values()))


@dataclass(frozen=True)
class Findings:
    """The values of all policies on one log, with what they rest on."""

    journal: Journal
    policies: Mapping[str, PolicyValue]
    logged: PolicyValue
    silence: str | None
    default_loss: float | None
    interval: str
    level: float
    seed: int
    stratum: str | None = None
    floored: float = 0.0  # the share of chances to be told that were at the floor
    notes: Sequence[str] = ()
    command: str = ""
    model: Floats | None = field(default=None, repr=False)

    def __getitem__(self, name: str) -> PolicyValue:
        every = {**self.policies, self.logged.name: self.logged}
        if name not in every:
            raise KeyError(f"there is no policy {name!r}; it must be one of {listed(every, name)}")
        return every[name]

    def __iter__(self) -> Iterator[PolicyValue]:
        return iter([self.logged, *self.policies.values()])

    @property
    def untold(self) -> float:
        """The share of the rows that have not been told."""
        return float(1.0 - self.journal.told.mean())

    def table(self) -> Table:
        """Return a row for each policy and estimator; what cannot be said is None."""
        return Table.of([_record(policy, each) for policy in self for each in _all(policy)])

    def to_dict(self) -> dict[str, Any]:
        """Return everything that was found as plain values."""
        told = {
            "log": self.journal.name,
            "rows": len(self.journal),
            "cancelled": self.journal.cancelled,
            "arms": list(self.journal.arms),
            "untold": self.untold,
            "silence": self.silence,
            "default_loss": self.default_loss,
            "interval": self.interval,
            "level": self.level,
            "seed": self.seed,
            "stratum": self.stratum,
            "floored": self.floored,
            "notes": list(self.notes),
        }
        shown: dict[str, Any] = _finite({**told, "policies": [_shown(each) for each in self]})
        return shown

    def to_json(self) -> str:
        """Return everything that was found as one JSON object."""
        return json.dumps(self.to_dict(), allow_nan=False)

    def __str__(self) -> str:
        return "\n".join([str(self.table()), *self.notes])


def _all(policy: PolicyValue) -> list[Estimate]:
    return list(policy.estimates.values())


def _record(policy: PolicyValue, found: Estimate) -> dict[str, Any]:
    difference, low, high = found.difference
    return {
        "policy": policy.name,
        "estimator": found.estimator,
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "least": found.bounds[0],
        "most": found.bounds[1],
        "minus logged": difference,
        "from": low,
        "to": high,
        "rows used": policy.rows_used,
        "untold": policy.untold,
        "mean weight": policy.mean_weight,
    }


def _shown(policy: PolicyValue) -> dict[str, Any]:
    return {
        "policy": policy.name,
        "rows_used": policy.rows_used,
        "mean_weight": policy.mean_weight,
        "mean_weight_error": policy.mean_weight_error,
        "untold": policy.untold,
        "estimates": {each.estimator: each._asdict() for each in _all(policy)},
        "parts": [part._asdict() for part in policy.parts],
    }


def _finite(value: Any) -> Any:
    """Return plain values with None in the place of numbers that JSON does not have."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def in_units(units: LossRange, unit: float) -> float | None:
    """Return a reward in [0, 1] in the units of the user; None if it is not a number."""
    return units.low + units.width * unit if math.isfinite(unit) else None


def interval_in_units(units: LossRange, found: Interval) -> tuple[float, float]:
    """Return the ends of an interval in the units of the user."""
    return units.low + units.width * found.low, units.low + units.width * found.high
