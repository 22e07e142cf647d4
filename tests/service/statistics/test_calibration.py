"""Foretold and true rewards, by what was foretold."""

import statistics

import pytest

from belated.service.core.arms import ArmHistory
from belated.service.core.stats import ProblemStats
from belated.service.statistics.calibration import BINS, ForetoldRewards


def test_means_by_what_was_foretold() -> None:
    """What is foretold beyond 0 and 1 is in the first and the last bin."""
    calibration = ForetoldRewards()
    for foretold, reward in ((0.31, 0.0), (0.33, 1.0), (0.38, 1.0), (-0.2, 0.25), (1.7, 1.0)):
        calibration.add(foretold, reward)
    least, middle, most = calibration.shown()
    assert least == (1, -0.2, 0.25, None)
    assert most == (1, 1.7, 1.0, None)
    assert middle[:3] == (3, pytest.approx(0.34), pytest.approx(2 / 3))
    half = 1.96 * statistics.stdev([0.0, 1.0, 1.0]) / 3**0.5
    assert middle.half_width == pytest.approx(half)
    assert len(calibration.shown()) <= BINS


def test_a_snapshot_keeps_it() -> None:
    """Bit for bit."""
    stats, other = (ProblemStats(ArmHistory.first(["a"])) for _ in range(2))
    stats.calibration.add(0.4, 0.7)
    other.restore(stats.arrays(), 1, [])
    assert other.calibration.shown() == stats.calibration.shown() != []
