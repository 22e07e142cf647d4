"""The game in which eq:tricky fails for the partially concealed learner, in forty digits."""

from collections.abc import Iterator

import pytest
from mpmath import mp

from .erratum_4 import HORIZON, State, all_histories, both_sides, history, prediction, rates


@pytest.fixture(autouse=True)
def forty_digits() -> Iterator[None]:
    with mp.workdps(40):
        yield


def test_a_told_loss_of_another_arm_lowers_the_first() -> None:
    """K = 3, T = 200, rho* = 1, 30 observed, Lhat = (0, 10, 1000)."""
    state = State((mp.mpf(0), mp.mpf(10), mp.mpf(1000)), 30)
    q = prediction(state, 200)
    assert [round(float(x), 5) for x in q] == [0.71213, 0.28495, 0.00292]
    assert round(float(prediction(state.told(2, q), 200)[0]), 5) == 0.71124


def test_it_is_the_rate_that_lowers_it() -> None:
    """With the rate as it was, the told loss raises q(1) (what is true of eq:tricky)."""
    state = State((mp.mpf(0), mp.mpf(10), mp.mpf(1000)), 30)
    q = prediction(state, 200)
    same_rate = state.told(2, q)._replace(observed=30)
    assert prediction(same_rate, 200)[0] > q[0]
    only_rate = state._replace(observed=31)
    assert prediction(only_rate, 200)[0] < q[0]


@pytest.mark.parametrize("seed", range(4))
def test_every_history_violates_the_inequality(seed: int) -> None:
    """Weighted > plain at every rate of the grid, and in the sum with the weights 4 gamma."""
    *sides, total = both_sides(history(seed), HORIZON)
    assert len(sides) == len(rates(HORIZON)) == 5
    assert all(x.weighted > x.plain for x in [*sides, total])
    assert 1e-6 < total.weighted / total.plain - 1 < 1e-5


@pytest.mark.check  # half a minute
def test_the_inequality_fails_in_expectation() -> None:
    """Over all histories, E weighted - E plain = 3.6e-6; what is left out has less weight."""
    chances, left_out = all_histories(mp.mpf("1e-9"))
    gaps = {state: both_sides(state, HORIZON)[-1] for state in chances}
    assert min(x.weighted - x.plain for x in gaps.values()) > 0
    gap = sum(chances[state] * (x.weighted - x.plain) for state, x in gaps.items())
    assert 0 <= left_out < 1e-6
    assert gap > 3.5e-6
