"""What a wait of any length says of the loss to come, and what a delay explains."""

import numpy as np
import pytest

from belated.learners.practical.delay_bias import (
    EXPLAINS,
    POWERS,
    SAYS,
    UNRELATED,
    listen,
    note,
    nothing_heard,
    nothing_heard_of,
    power_of,
    says_of,
)
from belated.learners.practical.practical_bandit import PracticalBandit


class Ears:
    """Losses of two arms, noted and listened to."""

    def __init__(self) -> None:
        self.silence, self.heard = nothing_heard(), nothing_heard_of(2)

    def hear(self, arm: int, times: int, rounds: float, above: float) -> None:
        for _ in range(times):
            note(self.silence, self.heard, arm, power_of(rounds), above)
        listen(self.silence)

    def says(self, arm: int, rounds: float) -> float:
        return says_of(self.silence, self.heard, arm, power_of(rounds))


@pytest.mark.parametrize(
    ("rounds", "power"),
    [(1.0, 0), (3.99, 0), (4.0, 1), (15.9, 1), (16.0, 2), (1023.9, 4), (1024.0, 5), (1e15, 15)],
)
def test_waits_are_told_apart_by_powers_of_four(rounds: float, power: int) -> None:
    """Ever longer waits share a class, and the longest of all have the last."""
    assert power_of(rounds) == power


def test_losses_that_took_longer_speak_for_a_wait() -> None:
    """A sale is known at once and no sale after a month: whoever has waited for a day sold none."""
    ears = Ears()
    ears.hear(arm=0, times=90, rounds=1, above=-0.05)
    ears.hear(arm=0, times=10, rounds=30, above=0.95)
    of_all = 5.0 / (100.0 + UNRELATED)
    expected = [0.0, *[9.5 / (10.0 + UNRELATED) - of_all] * 2, *[-of_all] * (POWERS - 3)]
    np.testing.assert_allclose(ears.silence[SAYS], expected)
    says_to_all = 9.5 / (10.0 + UNRELATED) - of_all
    own = (9.5 + UNRELATED * says_to_all) / (10.0 + UNRELATED) - of_all
    assert ears.says(0, 1) == 0.0
    assert ears.says(0, 5) == pytest.approx(own)
    assert ears.says(1, 5) == pytest.approx(says_to_all)  # nothing has come of it itself


def test_an_arm_is_heard_for_itself() -> None:
    """Where one arm's late losses are bad and the other's good, each is soon known for its own."""
    ears = Ears()
    for arm, above in ((0, 0.5), (1, -0.5)):
        ears.hear(arm, times=100, rounds=2, above=-above)
        ears.hear(arm, times=100, rounds=100, above=above)
    np.testing.assert_allclose(ears.silence[SAYS], 0.0)
    assert ears.says(0, 64) == pytest.approx(50.0 / 110.0)
    assert ears.says(1, 64) == pytest.approx(-50.0 / 110.0)


def test_where_all_losses_take_equally_long_silence_says_nothing() -> None:
    """They may be worse than expected for other reasons, and no delay explains anything."""
    ears = Ears()
    ears.hear(arm=0, times=50, rounds=40, above=0.3)
    np.testing.assert_array_equal(ears.silence[SAYS, : power_of(40.0) + 1], 0.0)
    assert ears.says(0, 40) == 0.0
    left = 50 * 0.3 * (1.0 - 50.0 / 60.0) / 60.0  # since ten losses say that it is nothing
    assert ears.silence[EXPLAINS, power_of(40.0)] == pytest.approx(left)


def test_a_delay_explains_what_losses_with_that_delay_were_like() -> None:
    """Of those that took just as long, not of those that took longer."""
    ears = Ears()
    ears.hear(arm=0, times=40, rounds=3, above=-0.5)
    ears.hear(arm=1, times=40, rounds=20, above=0.5)
    ears.hear(arm=1, times=20, rounds=300, above=0.0)
    for rounds, mean, count in ((3, -0.5, 40), (20, 0.5, 40), (300, 0.0, 20), (5, 0.0, 0)):
        explained = count * mean / (count + UNRELATED)
        assert ears.silence[EXPLAINS, power_of(rounds)] == pytest.approx(explained)


def test_silence_that_is_not_listened_to_says_nothing() -> None:
    """The option turns this part off."""
    learner = PracticalBandit(2, listens=False)
    state = learner.start()
    for t in range(60):
        plays = learner.commit(state, learner.predict(state), t % 2)
        learner.observe(state, plays[0], t % 2, 0.9)
    np.testing.assert_array_equal(state.silence, nothing_heard())
    np.testing.assert_array_equal(state.heard, nothing_heard_of(2))


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
            elif listens:
                note(state.silence, state.heard, t % 2, power_of(40.0), 1.0)
        worth[listens] = state.worth.copy()
    assert worth[True][0] > worth[False][0] + 0.05
    assert worth[True][1] == pytest.approx(worth[False][1], abs=0.01)
