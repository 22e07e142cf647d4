"""The estimates of all policies on one log: values, intervals, bounds and differences."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.evaluation.betting import betting_interval, known_from
from belated.evaluation.bootstrap import Progress, drawn_counts, percentile_interval
from belated.evaluation.encoding import encoded
from belated.evaluation.estimators import ESTIMATORS, MEAN, REPLAY, Chosen, Inputs, Terms
from belated.evaluation.intervals import (
    NO_INTERVAL,
    Interval,
    bernstein_interval,
    normal_interval,
)
from belated.evaluation.logs.journal import Journal
from belated.evaluation.models import cross_fitted
from belated.evaluation.parts import parts_of
from belated.evaluation.result import Estimate, PolicyValue, in_units, interval_in_units
from belated.evaluation.silence import Corrected, SilenceCorrection, filled
from belated.evaluation.tuning import tuned_parameter

INTERVALS = ("bootstrap", "normal", "bernstein", "betting")


class Measured(NamedTuple):
    """A policy to be measured: the weight of each row, and its table of probabilities.

    `only` names the estimator of the log itself and of learners, which have one.
    """

    name: str
    weights: Floats
    table: Floats | None
    only: str | None = None


@dataclass(frozen=True)
class Measuring:
    """What is to be estimated, and how."""

    journal: Journal
    chosen: Sequence[Chosen]
    correction: SilenceCorrection | None
    says: bool  # whether there are values, or bounds only
    way: str  # of the intervals
    level: float
    draws: int
    strata: Sequence[str] | None
    most_weight: float | None

    @property
    def counts(self) -> Floats:
        """How much each row counts; one that is too young for the correction does not."""
        return self.counted(self.journal.weights)

    def counted(self, weights: Floats) -> Floats:
        """Return weights of the rows with 0 for those that are too young."""
        return weights if self.correction is None else weights * self.correction.is_old

    def corrected(self, counts: Floats) -> Corrected:
        """Return the rows as the meaning of silence makes them; told rows only if there is none."""
        if self.correction is not None:
            return self.correction.corrected(counts)
        told, rewards = self.journal.told, self.journal.rewards
        return Corrected(told.astype(np.float64), np.where(told, rewards, 0.0))


class Found(NamedTuple):
    """All policies, the share of chances at the floor, and the model's rewards."""

    policies: list[PolicyValue]
    floored: float
    model: Floats | None


class _Line(NamedTuple):
    """One estimate of one policy in the making."""

    policy: Measured
    estimator: str
    parameter: float
    terms: Terms
    least: Terms
    most: Terms


class _View(NamedTuple):
    """The rows with one way to read silence, and a model that was fitted to them."""

    rows: Corrected
    model: Floats | None


def measured(
    measuring: Measuring,
    policies: Sequence[Measured],
    random: np.random.Generator,
    progress: Progress,
) -> Found:
    """Estimate the values of all policies."""
    journal = measuring.journal
    x = _coordinates(measuring)
    main, least, most = (
        _View(rows, _model(measuring, x, rows, measuring.counts))
        for rows in (
            measuring.corrected(journal.weights),
            filled(journal, 0.0),
            filled(journal, 1.0),
        )
    )
    lines = [
        _line(measuring, policy, each, (main, least, most))
        for policy in policies
        for each in (measuring.chosen if policy.only is None else [Chosen(policy.only)])
    ]
    draws = _drawn(measuring, lines, x, main, random, progress)
    found = [_policy_value(measuring, policy, lines, draws, main.rows) for policy in policies]
    return Found(found, main.rows.floored, main.model)


def _coordinates(measuring: Measuring) -> Floats | None:
    """Return the encoded contexts, if an estimator needs a model."""
    if not any(each.estimator.models for each in measuring.chosen):
        return None
    return encoded(measuring.journal.context_rows)


def _model(measuring: Measuring, x: Floats | None, rows: Corrected, counts: Floats) -> Any:
    if x is None:
        return None
    journal = measuring.journal
    weights = rows.factor * counts
    return cross_fitted(x, journal.chosen, len(journal.arms), rows.outcome, weights)


def _inputs(journal: Journal, policy: Measured, view: _View) -> Inputs:
    """Return what the estimators read."""
    inputs = Inputs(policy.weights, view.rows.factor, view.rows.outcome)
    if view.model is None or policy.table is None:
        return inputs
    chances = journal.all_probabilities
    if chances is None and len(journal.arms) == 2:
        chances = np.empty((len(journal), 2))
        rows = np.arange(len(journal))
        chances[rows, journal.chosen] = journal.probability
        chances[rows, 1 - journal.chosen] = 1.0 - journal.probability
    parts = policy.table * view.model
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = None if chances is None else np.nan_to_num(policy.table / chances, posinf=math.inf)
    return replace(
        inputs,
        model=view.model[np.arange(len(journal)), journal.chosen],
        model_value=parts.sum(axis=1),
        arm_weights=ratios,
        arm_parts=parts,
    )


def _terms(chosen: str, inputs: Inputs, parameter: float) -> Terms:
    if chosen in (REPLAY, MEAN):
        return ESTIMATORS["snips"].terms(inputs, parameter)
    return ESTIMATORS[chosen].terms(inputs, parameter)


def _line(
    measuring: Measuring, policy: Measured, chosen: Chosen, views: tuple[_View, _View, _View]
) -> _Line:
    """Return an estimate in parts: as silence is declared, and with the worst and the best."""
    main, least, most = (_inputs(measuring.journal, policy, view) for view in views)
    parameter = math.inf
    if policy.only is None:
        if chosen.estimator.all_arms and main.arm_weights is None:
            raise ValueError(
                f"{chosen.name} needs the logged probabilities of all arms; the log must have a "
                "column probabilities, or use another estimator"
            )
        parameter = tuned_parameter(chosen, main, measuring.counts)
    terms = (_terms(chosen.name, inputs, parameter) for inputs in (main, least, most))
    return _Line(policy, chosen.name, parameter, *terms)


Draws = dict[tuple[str, str], Floats]


def _drawn(
    measuring: Measuring,
    lines: Sequence[_Line],
    x: Floats | None,
    main: _View,
    random: np.random.Generator,
    progress: Progress,
) -> Draws:
    """Return the values of all estimates in each draw of the bootstrap; empty without one."""
    if measuring.way != "bootstrap" or not measuring.says:
        return {}
    journal = measuring.journal
    found: list[list[Floats]] = [[] for _ in lines]
    refits = x is not None and any(each.name == "dm" for each in measuring.chosen)
    known = {line.policy.name: _inputs(journal, line.policy, main) for line in lines}
    done = 0
    for drawn in drawn_counts(len(journal), measuring.draws, random):
        counts = drawn * journal.weights
        rows = measuring.corrected(counts)
        for line, values in zip(lines, found, strict=True):
            if line.estimator == "dm" and refits:
                continue
            fixed = known[line.policy.name]  # the model and all that follows from it
            inputs = replace(fixed, factor=rows.factor, outcome=rows.outcome)
            terms = _terms(line.estimator, inputs, line.parameter)
            values.append(terms.value(measuring.counted(counts)))
        if refits:
            _draw_models(measuring, lines, found, x, rows, measuring.counted(counts))
        done += len(drawn)
        progress(done, measuring.draws)
    keys = [(line.policy.name, line.estimator) for line in lines]
    return {key: np.concatenate(values) for key, values in zip(keys, found, strict=True)}


def _draw_models(
    measuring: Measuring,
    lines: Sequence[_Line],
    found: list[list[Floats]],
    x: Floats | None,
    rows: Corrected,
    counts: Floats,
) -> None:
    """Fit the model again in each draw, for the direct method, which is nothing but the model."""
    factors, outcomes = (np.broadcast_to(part, counts.shape) for part in rows[:2])
    for draw, each in enumerate(counts):
        view = Corrected(factors[draw], outcomes[draw])
        model = _model(measuring, x, view, each)
        for line, values in zip(lines, found, strict=True):
            if line.estimator == "dm":
                inputs = _inputs(measuring.journal, line.policy, _View(view, model))
                values.append(_terms("dm", inputs, line.parameter).value(each)[None])


def _policy_value(
    measuring: Measuring,
    policy: Measured,
    lines: Sequence[_Line],
    draws: Draws,
    rows: Corrected,
) -> PolicyValue:
    journal, counts = measuring.journal, measuring.counts
    logged = next(line for line in lines if line.policy.table is None)
    own = [line for line in lines if line.policy is policy]
    sure = _sure_interval(measuring, policy)
    estimates = {line.estimator: _estimate(measuring, line, logged, draws, sure) for line in own}
    known = policy.weights * rows.factor * counts
    weights = policy.weights if np.isfinite(policy.weights).all() else np.zeros(len(journal))
    control = Terms(np.zeros(()), weights)
    low, high = normal_interval(control, journal.weights, 0.95)
    total = float((weights * journal.weights).sum())
    return PolicyValue(
        name=policy.name,
        estimates=estimates,
        rows_used=float(known.sum() ** 2 / (known * known).sum()) if known.any() else 0.0,
        mean_weight=float(control.value(journal.weights)),
        mean_weight_error=(high - low) / 2.0,
        untold=float((weights * journal.weights)[~journal.told].sum()) / total if total else 0.0,
        parts=parts_of(journal, own[0].terms, measuring.strata, counts, measuring.level)
        if measuring.says
        else (),
        weights=policy.weights,
        table=policy.table,
    )


def _sure_interval(measuring: Measuring, policy: Measured) -> Interval:
    """Return an interval that holds whatever silence means, if one was asked for.

    A learner has none: what it earns changes while it learns.
    """
    journal = measuring.journal
    if policy.only == REPLAY:
        return NO_INTERVAL
    if measuring.way == "betting":
        first = known_from(journal.played, journal.delays)
        return betting_interval(policy.weights, journal.rewards, first, measuring.level)
    if measuring.way == "bernstein":
        most = measuring.most_weight or largest_weight(journal, policy)
        low, high = (filled(journal, reward).outcome * policy.weights for reward in (0.0, 1.0))
        return bernstein_interval(low, high, most, measuring.level)
    return NO_INTERVAL


def largest_weight(journal: Journal, policy: Measured) -> float:
    """Return the largest weight that a row could have had, as far as the log says.

    With the probabilities of all arms it is their largest ratio; without, the largest probability
    of the policy over the least that was logged.
    """
    if policy.table is None:
        return float(policy.weights.max())
    if journal.all_probabilities is not None:
        used = policy.table > 0.0
        return float((policy.table[used] / journal.all_probabilities[used]).max())
    return float(policy.table.max() / journal.probability.min())


def _estimate(
    measuring: Measuring, line: _Line, logged: _Line, draws: Draws, sure: Interval
) -> Estimate:
    units, counts = measuring.journal.units, measuring.counts
    key, base = (line.policy.name, line.estimator), (logged.policy.name, logged.estimator)
    value, found = math.nan, sure
    change, apart = math.nan, NO_INTERVAL
    if measuring.says:
        value = float(line.terms.value(counts))
        change = value - float(logged.terms.value(counts))
    if measuring.way == "normal" and measuring.says:
        found = normal_interval(line.terms, counts, measuring.level)
        apart = _paired(line.terms, logged.terms, counts, measuring.level)
    elif key in draws:
        found = percentile_interval(draws[key], measuring.level)
        apart = percentile_interval(draws[key] - draws[base], measuring.level)
    every = measuring.journal.weights  # bounds hold for rows of any age
    least, most = sorted(float(terms.value(every)) for terms in (line.least, line.most))
    outer = Interval(
        normal_interval(line.least, every, measuring.level).low,
        normal_interval(line.most, every, measuring.level).high,
    )
    return Estimate(
        estimator=line.estimator,
        value=in_units(units, value),
        low=in_units(units, found.low),
        high=in_units(units, found.high),
        bounds=interval_in_units(units, Interval(least, most)),
        outer=interval_in_units(units, outer),
        difference=tuple(  # type: ignore[arg-type]
            units.width * each if math.isfinite(each) else None for each in (change, *apart)
        ),
        parameter=line.parameter if math.isfinite(line.parameter) else None,
    )


def _paired(terms: Terms, logged: Terms, counts: Floats, level: float) -> Interval:
    """Return the normal interval of a difference on the same rows."""
    moved = terms.residuals(counts) - logged.residuals(counts)
    change = float(terms.value(counts) - logged.value(counts))
    around = normal_interval(Terms(np.zeros(()), moved), counts, level)
    half = (around.high - around.low) / 2.0
    return Interval(change - half, change + half)
