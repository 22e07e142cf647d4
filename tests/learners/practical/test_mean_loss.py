"""The estimates at their ends: very late losses, very old ones, and evidence without doubt."""

import numpy as np
import pytest

from belated.learners.practical.mean_loss import (
    FAST,
    LAST,
    LONGEST,
    NEXT,
    SLOW,
    STEADY,
    add_loss,
    fade_all,
    mixture_of,
    share_out,
)
from belated.learners.practical.practical_bandit import PracticalBandit
from tests.twins.practical_imputation import renewals


def test_all_are_renewed_when_the_definition_says() -> None:
    """Every round at first, then ever more rarely, and never later than what is tabulated."""
    state = PracticalBandit(2).start()
    found = []
    while state.renewed[NEXT] <= 2000:
        fade_all(state, int(state.renewed[NEXT]))
        found.append(int(state.renewed[LAST]))
    assert found == renewals(2000)
    assert np.diff(found).max() == LONGEST


def test_what_is_long_forgotten_is_zero() -> None:
    """A memory that fades for ever must not end in numbers that the machine is slow with."""
    state = PracticalBandit(2).start()
    add_loss(state, 0, 1.0, 1)
    for round_ in range(0, 300_000, LONGEST):
        fade_all(state, round_)
    assert state.counts[STEADY, 0] == 1.0
    for kind in (SLOW, FAST):
        assert state.sums[kind, 0] == 0.0
        assert state.counts[kind, 0] == 0.0


@pytest.mark.parametrize("late", [10**3, 72_000, 10**5, 10**9])
def test_a_loss_that_comes_very_late_counts_where_nothing_is_forgotten(late: int) -> None:
    """Its weight elsewhere may underflow, and everything stays finite."""
    state = PracticalBandit(2).start()
    fade_all(state, late)
    add_loss(state, 1, 1.0, 1)
    assert state.counts[STEADY, 1] == 1.0
    assert state.counts[SLOW, 1] == pytest.approx(0.998 ** (late - 1), rel=1e-9, abs=1e-300)
    assert state.counts[FAST, 1] == pytest.approx(0.99 ** (late - 1), rel=1e-9, abs=1e-300)
    mean, count = mixture_of(state, 1, 1.0, 1.0)
    assert mean == pytest.approx(0.75, abs=0.02)
    assert 0.9 < count <= 1.0


def test_evidence_without_doubt() -> None:
    """Shares of a million to nothing are one and zero, and no exponential overflows."""
    state = PracticalBandit(1).start()
    state.evidence[:, 0] = [1e6, 0.0, 1e300]
    share_out(state.evidence, state.echo, state.shares, 0)
    assert state.shares[:, 0].tolist() == [0.0, 1.0, 0.0]
