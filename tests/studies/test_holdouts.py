"""Months of a holdout, looked at daily: no effect is hardly ever seen, and one of 10 % is found."""

import os

import numpy as np
import pytest

from studies.holdouts import DAYS, looked_at_daily, month, months

MONTHS = int(os.environ.get("BELATED_MONTHS", "300"))


@pytest.mark.parametrize("number", [20, pytest.param(MONTHS, marks=pytest.mark.check)])
def test_no_effect_is_hardly_ever_seen_and_one_of_ten_per_cent_is_found(number: int) -> None:
    """While the means of what was told exclude 0 in nearly every month without an effect."""
    kept, naive = months(0.0, number, 1)
    assert np.mean([each.excluded for each in kept]) <= 0.05
    assert np.mean([each.excluded for each in naive]) > 0.2
    found, _ = months(0.1, number, 1)
    assert np.mean([each.above > 0 for each in found]) >= 0.9
    assert np.mean([each.below > 0 for each in found]) <= 0.05


def test_what_counts_is_fixed() -> None:
    """No outcome from after a look changes it: a month that ends on that day looks the same."""
    played = month(0.3, 5)
    day = looked_at_daily(played).above
    assert 0 < day < DAYS
    later = played.arrivals > day
    silent = played._replace(
        arrivals=np.where(later, np.inf, played.arrivals),
        rewards=np.where(later, 1.0 - played.rewards, played.rewards),
    )
    assert looked_at_daily(silent).above == day
