"""How many decisions convert, and how late: the model of delayed conversions (Chapelle 2014).

A decision converts with probability p, and reports it after an exponential delay of rate lambda. It
is silent if it never converts or has not yet done so, and then it counts as the default. Both
numbers are those of an arm and are fitted together, by maximum likelihood. With e the age of a
silent decision, the terms of the log-likelihood are

| decision | term |
|---|---|
| converted after d | ln p + ln lambda - lambda d |
| silent at the age e | ln(1 - p + p exp(-lambda e)) |
| told the default | ln(1 - p) |

Parameters are theta = ln(p/(1 - p)) and l = ln lambda. A silent decision will still convert with
the probability w, for which ln(w/(1 - w)) = theta - lambda e; all derivatives follow from it.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.evaluation.logs.journal import Journal
from belated.evaluation.logs.log_sources import read_log

MOST_STEPS = 2000
FLAT = 1e-9  # the largest slope of a maximum, for each decision
MOST_EXPONENT = 700.0


class Conversions(NamedTuple):
    """What is known of the conversions of an arm.

    `told` decisions of `decisions` have converted so far, a share of `told_share`. `rate` is the
    probability to convert at all, and `mean_delay` the time that it takes; both have standard
    errors. What the log cannot say is NaN: nothing converted, or it is too young.
    """

    arm: str
    decisions: float
    told: float
    rate: float
    rate_error: float
    mean_delay: float
    delay_error: float

    @property
    def told_share(self) -> float:
        """The share of decisions that have converted so far."""
        return self.told / self.decisions


class Point(NamedTuple):
    """theta and l, the parameters of an arm."""

    theta: float
    log_rate: float


@dataclass(frozen=True)
class ConversionRecord:
    """The decisions of an arm: conversions, silent decisions by age, and those told the default.

    `weights` has the number of decisions that each age stands for; `late` is the sum of the delays
    of all conversions.
    """

    converted: float
    late: float
    refused: float
    ages: Floats
    weights: Floats

    @property
    def decisions(self) -> float:
        """How many decisions there are."""
        return self.converted + self.refused + float(self.weights.sum())

    def silent(self, at: Point) -> Floats:
        """Return w, the probability that each silent decision will still convert."""
        return sigmoid(at.theta - math.exp(at.log_rate) * self.ages)

    def likelihood(self, at: Point) -> float:
        """Return the log-likelihood."""
        p, rate = float(sigmoid(np.array(at.theta))), math.exp(at.log_rate)
        never = -float(np.logaddexp(0.0, at.theta))  # ln(1 - p)
        found = self.converted * (at.theta + never + at.log_rate) - rate * self.late
        quiet = np.log1p(p * np.expm1(-rate * self.ages))
        return float(found + self.refused * never + self.weights @ quiet)

    def gradient(self, at: Point) -> Floats:
        """Return its derivatives by theta and l."""
        p, rate, w = float(sigmoid(np.array(at.theta))), math.exp(at.log_rate), self.silent(at)
        return np.array(
            [
                self.converted * (1.0 - p) - self.refused * p + self.weights @ (w - p),
                self.converted - rate * self.late - self.weights @ (w * rate * self.ages),
            ]
        )

    def information(self, at: Point) -> Floats:
        """Return minus the second derivatives by theta and l."""
        p, rate, w = float(sigmoid(np.array(at.theta))), math.exp(at.log_rate), self.silent(at)
        spread, aged = w * (1.0 - w), rate * self.ages
        by_theta = self.decisions * p * (1.0 - p) - self.weights @ spread
        both = self.weights @ (spread * aged)
        by_rate = rate * self.late + self.weights @ (w * aged - spread * aged**2)
        return np.array([[by_theta, both], [both, by_rate]])

    def expected(self, at: Point) -> Point:
        """Return the parameters if each silent decision still converts with probability w."""
        w = self.weights * self.silent(at)
        odds = (self.converted + w.sum()) / (self.refused + (self.weights - w).sum())
        return Point(math.log(odds), math.log(self.converted / (self.late + w @ self.ages)))


def sigmoid(values: Floats) -> Floats:
    """Return 1/(1 + exp(-x))."""
    return np.asarray(1.0 / (1.0 + np.exp(np.minimum(-values, MOST_EXPONENT))))


def fitted(record: ConversionRecord) -> Point:
    """Return the parameters of the largest likelihood; some decisions converted, some did not.

    Each step is Newton's, or that of expectation and maximisation where this one gains more, which
    never loses.
    """
    at = Point(
        math.log(record.converted / (record.decisions - record.converted)),
        math.log(record.converted / record.late),
    )
    for _ in range(MOST_STEPS):
        slope = record.gradient(at)
        if np.abs(slope).max() <= FLAT * record.decisions:
            return at
        options = [record.expected(at)]
        matrix = record.information(at)
        if is_positive(matrix):
            theta, log_rate = np.array(at) + np.clip(np.linalg.solve(matrix, slope), -1.0, 1.0)
            options.append(Point(float(theta), float(log_rate)))
        at = max(options, key=record.likelihood)
    return at


def is_positive(matrix: Floats) -> bool:
    """Whether a symmetric matrix of two rows is positive definite, and not nearly singular."""
    product = float(matrix[0, 0] * matrix[1, 1])
    return bool(matrix[0, 0] > 0.0 and product - float(matrix[0, 1]) ** 2 > 1e-12 * abs(product))


def conversions(
    log: Any, *, default_loss: float | None = None, **terms: Any
) -> tuple[Conversions, ...]:
    """Return how many decisions of each arm convert, and how late, from a log with silence.

    `log` and its `terms` are those of `evaluate`. A decision that is told anything but
    `default_loss` has converted; the default is the worst loss. The log must have times.
    """
    journal = read_log(log, **terms)
    default = 0.0
    if default_loss is not None:
        default = 1.0 - journal.units.loss(default_loss, "default_loss")
    return conversions_of(journal, default)


def conversions_of(journal: Journal, default: float) -> tuple[Conversions, ...]:
    """Return the conversions of each arm that was chosen; `default` is a reward in [0, 1]."""
    if not journal.timed:
        raise ValueError(
            "the log has no times of outcomes; conversions are fitted to how late they come"
        )
    arms = [arm for arm in range(len(journal.arms)) if (journal.chosen == arm).any()]
    return tuple(
        conversions_in(journal.arms[arm], record_of(journal, arm, default)) for arm in arms
    )


def record_of(journal: Journal, arm: int, default: float) -> ConversionRecord:
    """Return what a log has of the conversions of an arm."""
    rows, told = journal.chosen == arm, journal.told
    converted = rows & told & (journal.rewards != default)
    silent = rows & ~told
    return ConversionRecord(
        converted=float(journal.weights[converted].sum()),
        late=float(journal.weights[converted] @ journal.delays[converted]),
        refused=float(journal.weights[rows & told & ~converted].sum()),
        ages=journal.ages[silent],
        weights=journal.weights[silent],
    )


def conversions_in(arm: str, record: ConversionRecord) -> Conversions:
    """Fit an arm, and tell its numbers with their standard errors."""
    told, nothing = record.converted, math.nan
    if told == 0.0:
        return Conversions(arm, record.decisions, told, nothing, nothing, nothing, nothing)
    if record.late == 0.0 or told == record.decisions:  # no one can be late
        rate = told / record.decisions
        error, mean = math.sqrt(rate * (1.0 - rate) / record.decisions), record.late / told
        return Conversions(arm, record.decisions, told, rate, error, mean, mean / math.sqrt(told))
    at = fitted(record)
    p, mean = float(sigmoid(np.array(at.theta))), math.exp(-at.log_rate)
    matrix = record.information(at)
    if not is_positive(matrix):
        return Conversions(arm, record.decisions, told, p, nothing, mean, nothing)
    errors = np.sqrt(np.diag(np.linalg.inv(matrix)))
    p_error, mean_error = p * (1.0 - p) * float(errors[0]), mean * float(errors[1])
    return Conversions(arm, record.decisions, told, p, p_error, mean, mean_error)
