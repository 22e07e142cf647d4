"""The game in which eq:tricky fails for the partially concealed learner, in forty digits."""

from collections.abc import Iterator

import pytest
from mpmath import mp

from .argmin import Number
from .erratum_4 import Game, State, all_histories, both_sides, history, prediction, rates

LONG = Game(last_loses=1000, two_lose=10)
SHORT = Game(last_loses=600, two_lose=3)


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
def test_histories_that_violate_the_inequality(seed: int) -> None:
    """In 1,014 rounds: weighted > plain at every rate of the grid, and in their sum."""
    *sides, total = both_sides(history(LONG, seed), LONG.horizon)
    assert len(sides) == len(rates(LONG.horizon)) == 5
    assert all(x.weighted > x.plain for x in [*sides, total])
    assert 1e-6 < total.weighted / total.plain - 1 < 1e-5


def test_the_inequality_fails_in_expectation() -> None:
    """In 607 rounds, over all histories but some whose probability is smaller than the gap.

    No term is larger than 1, so these cannot make up for it. Not every history violates.
    """
    chances, left_out = all_histories(SHORT, mp.mpf("1e-9"))
    gaps = {state: gap(state, SHORT) for state in chances}
    mean_gap = sum(chances[state] * x for state, x in gaps.items())
    assert 0 <= left_out < mean_gap
    assert sum(chances[state] for state, x in gaps.items() if x <= 0) > 0.01


@pytest.mark.check  # takes long
def test_the_long_game_in_expectation() -> None:
    """E weighted - E plain = 3.55e-6 in 1,014 rounds; one history in 300 does not violate.

    Over all histories but a share of 5e-4; leaving out less changes no digit of these.
    """
    chances, left_out = all_histories(LONG, mp.mpf("1e-6"))
    gaps = {state: gap(state, LONG) for state in chances}
    assert 0 <= left_out < 5e-4
    assert abs(sum(chances[state] * x for state, x in gaps.items()) - mp.mpf("3.55e-6")) < 5e-9
    assert 0.002 < sum(chances[state] for state, x in gaps.items() if x <= 0) < 0.004


def gap(state: State, game: Game) -> Number:
    """Weighted - plain, in the sum over the grid."""
    total = both_sides(state, game.horizon)[-1]
    return total.weighted - total.plain
