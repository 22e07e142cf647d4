"""Logs whose truth is known: what each correction says of them, and how often intervals hold it."""

import math

import numpy as np
import pytest

from studies.evaluation.coverage import CORRECTIONS, coverage_study, table_study
from studies.evaluation.late_logs import (
    TRUTH,
    WAYS,
    draws_of,
    known_log,
    learning_logger,
    policy_of,
)

# Means and deviations over 200 logs, by other code: independent, lost, slow zeros, never zeros.
TABLE = {
    "all known, IPS": ((0.5505,) * 4, (0.018,) * 4),
    "told rows only, SNIPS": ((0.5390, 0.5306, 0.5986, 1.0), (0.013, 0.015, 0.013, 0.0)),
    "untold as 0, IPS": ((0.4436, 0.3413, 0.4436, 0.4436), (0.016, 0.014, 0.016, 0.016)),
    "window of 500, untold as 0, IPS": (
        (0.3367, 0.2774, 0.3367, 0.3367),
        (0.015, 0.013, 0.015, 0.015),
    ),
    "missing, IPS": ((0.5476, 0.5488, 0.7629, 1.56), (0.030, 0.035, 0.050, 0.06)),
    "missing, SNIPS": ((0.5488, 0.5498, 0.6697, 1.0), (0.018, 0.021, 0.021, 0.0)),
    "default, IPS": ((0.5275, 0.3929, 0.5275, 0.5275), (0.029, 0.025, 0.029, 0.029)),
    "speeds, SNIPS": ((0.5471, 0.5378, 0.6033, 1.0), (0.018, 0.020, 0.020, 0.0)),
}
RIGHTLY = ("bootstrap, ips", "bootstrap, snips", "bootstrap, dr", "normal, snips")


def assert_as_in_the_table(logs: int, first: int) -> None:
    """Every mean is within three standard errors of the table's, of both samples together."""
    mean, _ = table_study(logs, first=first)
    far = {}
    for row, name in enumerate(CORRECTIONS):
        for column, way in enumerate(WAYS):
            wanted, deviation = (part[column] for part in TABLE[name])
            error = max(deviation * np.sqrt(1.0 / logs + 1.0 / 200.0), 1e-9)
            if abs(mean[column, row] - wanted) > 3.0 * error:
                far[name, way] = (mean[column, row], wanted, error)
    assert not far


def test_the_table_of_corrections() -> None:
    """With fewer logs than the study, and so with wider errors."""
    assert_as_in_the_table(16, first=1)


@pytest.mark.check
def test_the_table_of_corrections_with_200_logs() -> None:
    """As many logs as the table has."""
    assert_as_in_the_table(200, first=1001)


def test_the_policy_earns_the_truth() -> None:
    """In a log of everything, weights have the mean 1 and the value is 0.55, for both loggers."""
    logs = [known_log(draws_of(1, 200_000)), known_log(draws_of(2, 1500), learning_logger)]
    for log, near in zip(logs, (0.01, 0.15), strict=True):
        rows = np.arange(len(log.chosen))
        weights = policy_of(log)[rows, log.chosen] / log.probability
        assert weights.mean() == pytest.approx(1.0, abs=near)
        assert (weights * log.rewards).mean() == pytest.approx(TRUTH, abs=near)


@pytest.mark.parametrize("way", WAYS)
def test_intervals_hold_the_truth(way: str) -> None:
    """A quick look: of 30 logs, 95 % leave fewer than 24 in less than 1 of 1,000 cases."""
    shares = coverage_study(way, "fixed", logs=30, draws=60)
    for name in (*RIGHTLY, "outer bounds, snips", "betting, every look", "bernstein"):
        assert shares[name] >= 24 / 30, (name, shares[name])


@pytest.mark.check
@pytest.mark.parametrize(("logger", "logs"), [("fixed", 300), ("learner", 100)])
@pytest.mark.parametrize("way", WAYS)
def test_intervals_hold_the_truth_in_many_logs(way: str, logger: str, logs: int) -> None:
    """Within four errors of 95 %, as 32 shares are looked at; bounds hold as often."""
    shares = coverage_study(way, logger, logs=logs, draws=150)
    least = 0.95 - 4.0 * math.sqrt(0.95 * 0.05 / logs)
    for name in RIGHTLY:
        assert least <= shares[name] < 1.0, (name, shares[name])
    for name in ("outer bounds, ips", "outer bounds, snips", "betting, every look", "bernstein"):
        assert shares[name] >= least, (name, shares[name])
