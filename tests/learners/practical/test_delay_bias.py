"""The bias of plays that have been pending for any time, and what a delay explains."""

import numpy as np
import pytest

from belated.learners.practical.delay_bias import (
    POWERS,
    UNRELATED,
    bias_of,
    no_bias,
    power_of,
    record,
    refresh,
)
from belated.learners.practical.practical_bandit import PracticalBandit
from belated.learners.states import identical


class Recorded:
    """The bias of two arms, refreshed after every batch of losses."""

    def __init__(self) -> None:
        self.bias = no_bias(2)

    def add(self, arm: int, times: int, rounds: float, residual: float) -> None:
        for _ in range(times):
            record(self.bias, arm, power_of(rounds), residual)
        refresh(self.bias)

    def of(self, arm: int, rounds: float) -> float:
        return bias_of(self.bias, arm, power_of(rounds))


@pytest.mark.parametrize(
    ("rounds", "power"),
    [(1.0, 0), (3.99, 0), (4.0, 1), (15.9, 1), (16.0, 2), (1023.9, 4), (1024.0, 5), (1e15, 15)],
)
def test_waits_are_told_apart_by_powers_of_four(rounds: float, power: int) -> None:
    """Ever longer waits share a class, and the longest of all have the last."""
    assert power_of(rounds) == power


def test_losses_that_took_longer_stand_for_a_pending_play() -> None:
    """A sale is known at once, no sale after a month: what is pending for a day is no sale."""
    found = Recorded()
    found.add(arm=0, times=90, rounds=1, residual=-0.05)
    found.add(arm=0, times=10, rounds=30, residual=0.95)
    of_all = 5.0 / (100.0 + UNRELATED)
    expected = [0.0, *[9.5 / (10.0 + UNRELATED) - of_all] * 2, *[-of_all] * (POWERS - 3)]
    np.testing.assert_allclose(found.bias.of_pending, expected)
    of_all_arms = 9.5 / (10.0 + UNRELATED) - of_all
    own = (9.5 + UNRELATED * of_all_arms) / (10.0 + UNRELATED) - of_all
    assert found.of(0, 1) == 0.0
    assert found.of(0, 5) == pytest.approx(own)
    assert found.of(1, 5) == pytest.approx(of_all_arms)  # nothing has come of it itself


def test_an_arm_has_a_bias_of_its_own() -> None:
    """Where one arm's late losses are bad and the other's good, each is soon known for its own."""
    found = Recorded()
    for arm, residual in ((0, 0.5), (1, -0.5)):
        found.add(arm, times=100, rounds=2, residual=-residual)
        found.add(arm, times=100, rounds=100, residual=residual)
    np.testing.assert_allclose(found.bias.of_pending, 0.0)
    assert found.of(0, 64) == pytest.approx(50.0 / 110.0)
    assert found.of(1, 64) == pytest.approx(-50.0 / 110.0)


def test_where_all_losses_take_equally_long_there_is_no_bias() -> None:
    """They may be worse than expected for other reasons, and no delay explains anything."""
    found = Recorded()
    found.add(arm=0, times=50, rounds=40, residual=0.3)
    np.testing.assert_array_equal(found.bias.of_pending[: power_of(40.0) + 1], 0.0)
    assert found.of(0, 40) == 0.0
    left = 50 * 0.3 * (1.0 - 50.0 / 60.0) / 60.0  # since ten losses without a residual are supposed
    assert found.bias.of_delay[power_of(40.0)] == pytest.approx(left)


def test_a_delay_explains_what_losses_with_that_delay_were_like() -> None:
    """Of those that took just as long, not of those that took longer."""
    found = Recorded()
    found.add(arm=0, times=40, rounds=3, residual=-0.5)
    found.add(arm=1, times=40, rounds=20, residual=0.5)
    found.add(arm=1, times=20, rounds=300, residual=0.0)
    for rounds, mean, count in ((3, -0.5, 40), (20, 0.5, 40), (300, 0.0, 20), (5, 0.0, 0)):
        explained = count * mean / (count + UNRELATED)
        assert found.bias.of_delay[power_of(rounds)] == pytest.approx(explained)


def test_a_bias_that_is_not_used_stays_zero() -> None:
    """The option turns this part off."""
    learner = PracticalBandit(2, listens=False)
    state = learner.start()
    for t in range(60):
        plays = learner.commit(state, learner.predict(state), t % 2)
        learner.observe(state, plays[0], t % 2, 0.9)
    assert identical(state.bias, no_bias(2))


def test_an_arm_with_pending_plays_has_a_higher_index_where_late_losses_are_bad() -> None:
    """Two arms of which as much is known: the one with pending plays is the worse one."""
    indices = {}
    for listens in (True, False):
        learner = PracticalBandit(2, listens=listens)
        state = learner.start()
        for t in range(60):
            plays = learner.commit(state, learner.predict(state), t % 2)
            if t % 2 == 1 or t < 20:
                learner.observe(state, plays[0], t % 2, 0.0)
            elif listens:
                record(state.bias, t % 2, power_of(40.0), 1.0)
        indices[listens] = state.indices.copy()
    assert indices[True][0] > indices[False][0] + 0.05
    assert indices[True][1] == pytest.approx(indices[False][1], abs=0.01)
