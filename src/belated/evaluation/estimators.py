"""The value of a policy from a log of another one: one formula for each estimator.

A row has the weight w = pi(a|x) / mu(a|x) of its arm, its probability under the policy over that
with which it was drawn, and from `silence` a factor f and an outcome y. A model says q for its
arm and dm = sum over a of pi(a|x) q(x, a). With means over all rows:

| name | value |
|---|---|
| ips | mean w f y |
| snips | sum w f y / sum w f |
| clipped-ips | mean min(w, M) f y |
| dm | mean dm |
| dr | mean dm + w f (y - q) |
| sndr | mean dm + sum w f (y - q) / sum w f |
| switch-dr | mean dm + w 1{w <= tau} f (y - q) |
| dros | mean dm + lambda w / (w^2 + lambda) f (y - q) |
| cab | mean sum over a of pi(a) q(a) (1 - min(1, M / w(a))) + min(w, M) f y |

`replay` is snips over the rows that a learner accepted (`rejection`), and `mean` over all rows of
the log itself.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.specs import listed, named_options


@dataclass(frozen=True)
class Inputs:
    """What estimators read of a policy on a log: arrays with an entry for each row.

    `factor` and `outcome` may have a first axis for draws of a bootstrap.
    """

    weights: Floats  # w
    factor: Floats  # f
    outcome: Floats  # y
    model: Floats = field(default_factory=lambda: np.zeros(()))  # q of the arm that was chosen
    model_value: Floats = field(default_factory=lambda: np.zeros(()))  # dm
    arm_weights: Floats | None = None  # w of all arms: (row, arm)
    arm_parts: Floats | None = None  # pi(a|x) q(x, a) of all arms


class Terms(NamedTuple):
    """An estimate in parts: the mean of `base`, plus that of `top`, or its sum over `bottom`'s."""

    base: Floats
    top: Floats
    bottom: Floats | None = None

    def value(self, counts: Floats) -> Floats:
        """Return the estimate with each row counted so often."""
        total = counts.sum(axis=-1)
        value = (counts * self.base).sum(axis=-1) / total
        top = (counts * self.top).sum(axis=-1)
        bottom = total if self.bottom is None else (counts * self.bottom).sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(value + top / bottom)

    def residuals(self, counts: Floats) -> Floats:
        """Return how far each row moves the estimate, times the number of rows (delta method)."""
        total = counts.sum()
        base = self.base - (counts * self.base).sum() / total
        if self.bottom is None:
            parts = self.top - (counts * self.top).sum() / total
        else:
            bottom = (counts * self.bottom).sum()
            ratio = (counts * self.top).sum() / bottom
            parts = (self.top - ratio * self.bottom) * total / bottom
        return np.asarray(base + parts)


class Estimator(NamedTuple):
    """An estimator: what it computes, what it needs, and its parameter, if it has one."""

    terms: Callable[[Inputs, float], Terms]
    parameter: str | None = None
    weighs: bool = True  # it needs the logged probabilities
    models: bool = False  # it needs a model of rewards
    all_arms: bool = False  # it needs the logged probabilities of all arms


def kept_by_clipping(weights: Floats, limit: float) -> Floats:
    """min(w, M)."""
    return np.minimum(weights, limit)


def kept_by_switching(weights: Floats, limit: float) -> Floats:
    """w where it is at most tau, else 0."""
    return np.where(weights <= limit, weights, 0.0)


def kept_by_shrinking(weights: Floats, limit: float) -> Floats:
    """lambda w / (w^2 + lambda): Su and others 2020, optimistic shrinkage."""
    return limit * weights / (weights * weights + limit)


def _ips(rows: Inputs, _: float) -> Terms:
    return Terms(np.zeros(()), rows.weights * rows.factor * rows.outcome)


def _snips(rows: Inputs, _: float) -> Terms:
    known = rows.weights * rows.factor
    return Terms(np.zeros(()), known * rows.outcome, known)


def _clipped(rows: Inputs, limit: float) -> Terms:
    return Terms(np.zeros(()), kept_by_clipping(rows.weights, limit) * rows.factor * rows.outcome)


def _dm(rows: Inputs, _: float) -> Terms:
    return Terms(rows.model_value, np.zeros(()))


def _dr(rows: Inputs, _: float) -> Terms:
    return Terms(rows.model_value, rows.weights * rows.factor * (rows.outcome - rows.model))


def _sndr(rows: Inputs, _: float) -> Terms:
    known = rows.weights * rows.factor
    return Terms(rows.model_value, known * (rows.outcome - rows.model), known)


def _switch(rows: Inputs, limit: float) -> Terms:
    kept = kept_by_switching(rows.weights, limit)
    return Terms(rows.model_value, kept * rows.factor * (rows.outcome - rows.model))


def _dros(rows: Inputs, limit: float) -> Terms:
    kept = kept_by_shrinking(rows.weights, limit)
    return Terms(rows.model_value, kept * rows.factor * (rows.outcome - rows.model))


def _cab(rows: Inputs, limit: float) -> Terms:
    assert rows.arm_weights is not None
    assert rows.arm_parts is not None
    with np.errstate(divide="ignore"):
        left = 1.0 - np.minimum(1.0, limit / rows.arm_weights)
    base = (rows.arm_parts * left).sum(axis=-1)
    return Terms(base, kept_by_clipping(rows.weights, limit) * rows.factor * rows.outcome)


ESTIMATORS = {
    "ips": Estimator(_ips),
    "snips": Estimator(_snips),
    "clipped-ips": Estimator(_clipped, "clip"),
    "dm": Estimator(_dm, weighs=False, models=True),
    "dr": Estimator(_dr, models=True),
    "sndr": Estimator(_sndr, models=True),
    "switch-dr": Estimator(_switch, "tau", models=True),
    "dros": Estimator(_dros, "shrinkage", models=True),
    "cab": Estimator(_cab, "clip", models=True, all_arms=True),
}
REPLAY, MEAN = "replay", "mean"  # of a learner, and of the log itself: both are snips
DEFAULTS = ("snips", "dr", "switch-dr")
KEPT = {
    "clipped-ips": kept_by_clipping,
    "switch-dr": kept_by_switching,
    "dros": kept_by_shrinking,
    "cab": kept_by_clipping,
}


class Chosen(NamedTuple):
    """An estimator by name, with its parameter if the user gave one."""

    name: str
    given: float | None = None

    @property
    def estimator(self) -> Estimator:
        """What it computes."""
        return ESTIMATORS[self.name]


def chosen_estimators(texts: object) -> list[Chosen]:
    """Return the estimators named by texts such as "snips" or "switch-dr:tau=10"."""
    names = [texts] if isinstance(texts, str) else texts
    if not isinstance(names, (list, tuple)) or not names:
        raise ValueError(f"estimators is {texts!r}; it must be a list of names")
    return [_chosen(str(text)) for text in names]


def _chosen(text: str) -> Chosen:
    name, options = named_options(text)
    if name not in ESTIMATORS:
        raise ValueError(f"estimator is {name!r}; it must be one of {listed(ESTIMATORS, name)}")
    parameter = ESTIMATORS[name].parameter
    for option, value in options.items():
        if option != parameter:
            has = "no options" if parameter is None else f"only {parameter}"
            raise ValueError(f"{name} has no option {option!r}; it has {has}")
        if isinstance(value, (str, bool)) or not value > 0.0:
            raise ValueError(f"{option} of {name} is {value!r}; it must be a number above 0")
        return Chosen(name, float(value))
    return Chosen(name)
