"""What a wait of any length says of the loss to come."""

import numpy as np
import pytest

from belated.kernels.silence import POWERS, SAYS, UNRELATED, listen, note, power_of
from belated.learners.practical_bandit import PracticalBandit


@pytest.mark.parametrize(
    ("rounds", "power"),
    [(1.0, 0), (1.99, 0), (2.0, 1), (3.5, 1), (4.0, 2), (1023.9, 9), (1024.0, 10), (1e15, 38)],
)
def test_waits_are_told_apart_by_powers_of_two(rounds: float, power: int) -> None:
    """Ever longer waits share a class, and the longest of all have the last."""
    assert power_of(rounds) == power


def test_losses_that_took_longer_speak_for_a_wait() -> None:
    """A sale is known at once and no sale after a month: whoever has waited for a day sold none."""
    state = PracticalBandit(2).start()
    for _ in range(90):
        note(state.silence, 1, -0.05)
    for _ in range(10):
        note(state.silence, 30, 0.95)
    listen(state.silence, 1000)
    of_all = 5.0 / (100.0 + UNRELATED)
    assert state.silence[SAYS, 0] == 0.0
    np.testing.assert_allclose(state.silence[SAYS, 1:5], 9.5 / (10.0 + UNRELATED) - of_all)
    np.testing.assert_allclose(state.silence[SAYS, 5:9], -of_all)


def test_where_all_losses_take_equally_long_silence_says_nothing() -> None:
    """They may be worse than expected for other reasons."""
    state = PracticalBandit(2).start()
    for _ in range(50):
        note(state.silence, 40, 0.3)
    listen(state.silence, 1000)
    np.testing.assert_array_equal(state.silence[SAYS, : power_of(40.0) + 1], 0.0)


def test_silence_that_is_not_listened_to_says_nothing() -> None:
    """The option turns this part off."""
    state = PracticalBandit(2, listens=False).start()
    note(state.silence, 30, 0.9)
    listen(state.silence, 1000)
    np.testing.assert_array_equal(state.silence[SAYS], np.zeros(POWERS))


def test_an_arm_whose_plays_wait_is_worth_less_where_late_losses_are_bad() -> None:
    """Two arms of which as much is known: the one with plays on their way is the worse one."""
    worth = {}
    for listens in (True, False):
        learner = PracticalBandit(2, listens=listens)
        state = learner.start()
        for t in range(60):
            plays = learner.commit(state, learner.predict(state), t % 2)
            if t % 2 == 1 or t < 20:
                learner.observe(state, plays[0], t % 2, 0.0)
            else:
                note(state.silence, 40, 1.0)
        worth[listens] = state.worth.copy()
    assert worth[True][0] > worth[False][0] + 0.05
    assert worth[True][1] == pytest.approx(worth[False][1])
