"""The estimates at their ends: very late losses, very old ones, and evidence without doubt."""

import numpy as np
import pytest

from belated.learners.practical.mean_loss import (
    FAST,
    LONGEST,
    SLOW,
    STEADY,
    add_loss,
    mixed_estimate,
    nothing_known,
    refresh,
    set_weights,
)
from tests.twins.practical_imputation import renewals


def test_all_are_refreshed_when_the_definition_says() -> None:
    """Every round at first, then ever more rarely, and never later than what is tabulated."""
    means = nothing_known(2)
    found = []
    while means.next_refresh[0] <= 2000:
        refresh(means, int(means.next_refresh[0]))
        found.append(int(means.last_refresh[0]))
    assert found == renewals(2000)
    assert np.diff(found).max() == LONGEST


def test_what_is_long_forgotten_is_zero() -> None:
    """A memory that fades for ever must not end in numbers that the machine is slow with."""
    means = nothing_known(2)
    add_loss(means, 0, 1.0, 1)
    for round_ in range(0, 300_000, LONGEST):
        refresh(means, round_)
    assert means.counts[STEADY, 0] == 1.0
    for kind in (SLOW, FAST):
        assert means.sums[kind, 0] == 0.0
        assert means.counts[kind, 0] == 0.0


@pytest.mark.parametrize("late", [10**3, 72_000, 10**5, 10**9])
def test_a_loss_that_comes_very_late_counts_where_nothing_is_forgotten(late: int) -> None:
    """Its weight elsewhere may underflow, and everything stays finite."""
    means = nothing_known(2)
    refresh(means, late)
    add_loss(means, 1, 1.0, 1)
    assert means.counts[STEADY, 1] == 1.0
    assert means.counts[SLOW, 1] == pytest.approx(0.998 ** (late - 1), rel=1e-9, abs=1e-300)
    assert means.counts[FAST, 1] == pytest.approx(0.99 ** (late - 1), rel=1e-9, abs=1e-300)
    mean, count = mixed_estimate(means, 1, 1.0, 1.0)
    assert mean == pytest.approx(0.75, abs=0.02)
    assert 0.9 < count <= 1.0


def test_evidence_without_doubt() -> None:
    """Weights of a million to nothing are one and zero, and no exponential overflows."""
    means = nothing_known(1)
    means.evidence[:, 0] = [1e6, 0.0, 1e300]
    set_weights(means, 0)
    assert means.weights[:, 0].tolist() == [0.0, 1.0, 0.0]
