"""What pending plays count as where it is known beforehand, and when the arms change."""

from typing import Any

import numpy as np
import pytest

from belated.learners.delay_law import HERE, PASSED, ZEROS
from belated.learners.driver import Driver
from belated.learners.following import ENDED, NO_MEANING
from belated.learners.practical.certified_trust import estimated_regret
from belated.learners.practical.memories import MEMORIES
from belated.learners.practical.practical_bandit import PracticalBandit, remembered
from belated.learners.practical.silence import BY_OUTCOME

ROUNDS = 400


def played(driver: Driver, losses: Any, delays: Any) -> list[Any]:
    """Play arms in turn; returns the plays that wait, with their arms.

    `losses(arm)` is a loss, and `delays(loss)` its delay, None if it never comes.
    """
    due: dict[int, list[Any]] = {}
    waiting = []
    for t in range(1, ROUNDS + 1):
        for arm, loss, play in due.pop(t, ()):
            driver.tell(play, arm, loss)
        arm = t % driver.learner.arms
        loss = losses(arm)
        delay, play = delays(loss), driver.play(arm)[0]
        if delay is None or t + delay >= ROUNDS:
            waiting.append((arm, play))
        else:
            due.setdefault(t + delay + 1, []).append((arm, loss, play))
    return waiting


def test_silence_without_a_meaning_counts_for_nothing() -> None:
    """High losses take longer, but nobody has said what a play that never reports has lost."""
    chance = np.random.default_rng(1)
    driver = Driver(PracticalBandit(3), room=64)
    losses = lambda arm: float(chance.random() < 0.5)  # noqa: E731
    played(driver, losses, lambda loss: int(chance.geometric(0.3 - 0.25 * loss)))
    silence = driver.state.silence
    assert silence.meaning[0] == NO_MEANING
    assert silence.pending.sum() > 5.0
    assert (silence.weight == 0.0).all()
    assert (silence.counts == 0.0).all()


@pytest.mark.parametrize("late", [0.0, 1.0])
def test_silence_means_the_kind_that_reports_later(late: float) -> None:
    """Losses of a kind that all come after 40 rounds; the other kind comes within six.

    So the first reports are all alike. Pending plays that are older than six rounds are of the late
    kind, and from 64 rounds on there are none, so that they count for little.
    """
    chance = np.random.default_rng(7)
    driver = Driver(PracticalBandit(2), room=64)
    means = [0.3, 0.6]
    played(
        driver,
        lambda arm: float(chance.random() < means[arm]),
        lambda loss: 40 if loss == late else int(chance.integers(0, 6)),
    )
    silence = driver.state.silence
    assert silence.meaning[0] == BY_OUTCOME
    assert silence.weight[4].min() > 0.7
    np.testing.assert_allclose(silence.loss, late * silence.weight)
    np.testing.assert_allclose(driver.state.estimates.means, means, atol=0.1)


@pytest.mark.parametrize("default", [0.0, 1.0])
def test_silence_of_a_kind_that_never_comes_becomes_that_kind(default: float) -> None:
    """The other kind comes soon: the older a pending play, the more it is one of this kind."""
    chance = np.random.default_rng(2)
    driver = Driver(PracticalBandit(2, default_loss=default), room=64)
    means = [0.3, 0.6]
    played(
        driver,
        lambda arm: float(chance.random() < means[arm]),
        lambda loss: None if loss == default else int(chance.integers(0, 6)),
    )
    weight = driver.state.silence.weight
    assert (np.diff(weight, axis=0) >= -1e-12).all()
    assert weight[1].max() < 0.5
    assert weight[-1].min() > 0.99
    assert driver.state.silence.meaning[0] == default
    np.testing.assert_allclose(driver.state.estimates.means, means, atol=0.1)


def test_silence_means_what_was_declared_once_a_loss_should_have_come() -> None:
    """With a default of 0.3, a play counts as 1 - S losses of 0.3; in the end as a whole one."""
    chance = np.random.default_rng(3)
    driver = Driver(PracticalBandit(2, default_loss=0.3), room=64)
    played(driver, lambda arm: float(arm), lambda loss: int(chance.integers(0, 6)))
    silence = driver.state.silence
    np.testing.assert_allclose(silence.weight[4:], 1.0)
    np.testing.assert_allclose(silence.loss, 0.3 * silence.weight)
    assert (silence.weight[1] < 0.6).all()


def test_other_arms() -> None:
    """Arm 1 of three goes, its pending plays withdrawn, and two come."""
    chance = np.random.default_rng(5)
    driver = Driver(PracticalBandit(3, default_loss=1.0), room=64)
    waiting = played(
        driver,
        lambda arm: float(chance.random() < 0.2 + 0.2 * arm),
        lambda loss: int(chance.geometric(0.35 - 0.3 * loss)) if chance.random() < 0.9 else None,
    )
    for arm, play in [each for each in waiting if each[0] == 1]:
        driver.withdraw(play, arm)
    before = driver.state
    driver.change_arms([2, 0], 2)
    state, estimates = driver.state, driver.state.estimates
    for place, arm in enumerate([2, 0]):
        for k in range(MEMORIES):
            assert remembered(state, k, place) == remembered(before, k, arm)
        assert state.outstanding[place] == before.outstanding[arm] > 0
        np.testing.assert_array_equal(
            state.silence.law.counts[:, :, place], before.silence.law.counts[:, :, arm]
        )
        sum_, count = remembered(state, 0, place)
        assert estimates.means[place] == (estimates.pooled[0] + sum_) / (1.0 + count)
        assert estimated_regret(state.account, place) == estimated_regret(before.account, arm)
    assert (estimates.means[2:] == estimates.pooled[0]).all()
    assert (estimates.counts[2:] == 1.0).all()
    highest = max(0.0, *(estimated_regret(before.account, arm) for arm in (2, 0)))
    assert [estimated_regret(state.account, u) for u in (2, 3)] == pytest.approx([highest] * 2)


def test_followed_plays_go_on_in_their_new_places() -> None:
    """A play of the arm that moves is still counted when it passes its bin, at the new place."""
    driver = Driver(PracticalBandit(3), room=64)
    plays = [driver.play(arm)[0] for arm in (0, 1, 2, 2)]
    driver.tell(plays[2], 2, 1.0)  # at the age of 2: in bin 1, which it has not passed
    driver.withdraw(plays[1], 1)
    driver.change_arms([2, 0], 1)
    silence = driver.state.silence
    followed = [(int(silence.followed_arm[s]), int(silence.followed_bin[s])) for s in range(1, 5)]
    assert [followed[0], *followed[2:]] == [(1, -1), (0, 1), (0, -1)]
    assert followed[1][1] == ENDED
    assert silence.law.counts[PASSED, 1, 0] == 0.0
    for _ in range(2):
        driver.play(2)
    # Both plays of the arm have passed bin 0, the first of them and that of arm 0 also bin 1.
    counts, sums = driver.state.silence.law.counts, driver.state.silence.law.sums
    np.testing.assert_array_equal(counts[PASSED, :2, :2], [[2.0, 1.0], [1.0, 1.0]])
    assert counts[HERE + ZEROS, 1, 0] == counts[ZEROS, 1, 0] == 1.0
    assert sums[HERE + ZEROS, 1] == 1.0
