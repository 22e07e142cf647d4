"""Learners whose arms can change: which they are, and what a change must leave as it is."""

import math
from typing import Any

import numpy as np
import pytest

from belated.learners.contract import Learner
from belated.learners.paper.concealed import Concealed
from belated.learners.registry import registered
from belated.learners.states import leaves
from belated.types import Setting

OPTIONS: dict[str, dict[str, Any]] = {
    "d-ucb": {"delay_law": (0.2, 0.7, 1.0)},
    "d-klucb": {"delay_law": (0.2, 0.7, 1.0)},
    "concealed": {"max_missing": 5, "variant": "repaired"},
}
ABLE = sorted(name for name, kind in registered().items() if kind.can_change_arms)


def learner_of(name: str, arms: int) -> Learner:
    """A learner with the options it needs."""
    return registered()[name](arms, **OPTIONS.get(name, {}))


def played(learner: Learner, rounds: int) -> tuple[Any, list[tuple[int, Any]]]:
    """The state after some rounds, and the plays that wait, with their arms."""
    chance, state = np.random.default_rng(2), learner.reserved(learner.start(), rounds)
    waiting: list[tuple[int, Any]] = []
    for _ in range(rounds):
        prediction = learner.predict(state)
        if learner.setting is Setting.FULL_INFORMATION:
            waiting += enumerate(learner.commit(state, prediction))
        else:
            arm = int(chance.choice(learner.arms, p=prediction.q / prediction.q.sum()))
            waiting.append((arm, learner.commit(state, prediction, arm)[0]))
        while len(waiting) > 2 * learner.arms:
            arm, play = waiting.pop(int(chance.integers(len(waiting))))
            learner.observe(state, play, arm, 0.1 + 0.2 * arm)
    return state, waiting


def assert_same(found: Any, wanted: Any) -> None:
    """Two states are equal bit for bit."""
    parts = leaves(found)
    for name, part in leaves(wanted).items():
        np.testing.assert_array_equal(parts[name], part, err_msg=name)


def test_those_that_can_are_known() -> None:
    """A further learner that says so has to be thought about: docs/service.md."""
    assert ABLE == [
        "concealed", "d-klucb", "d-ucb", "delayed-ucb1", "exp3", "leading-arm", "leading-expert",
        "linear", "linear-shared", "linear-thompson", "linear-ucb", "otflints", "otflinucb",
        "practical-bandit", "practical-experts", "squarecb", "thompson", "uniform",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="learner tsallis-inf cannot change its arms"):
        learner_of("tsallis-inf", 2).with_arms(None, [0], 1)


@pytest.mark.parametrize("name", ABLE)
def test_before_the_first_round_it_is_another_start(name: str) -> None:
    """Two of three arms kept and three added: as made for five."""
    learner = learner_of(name, 3)
    assert_same(learner.with_arms(learner.start(), [0, 2], 3), learner_of(name, 5).start())


@pytest.mark.parametrize("name", ABLE)
def test_the_order_of_changes_does_not_matter(name: str) -> None:
    """Arms are taken out one by one or at once; and the arms that stay keep what they have."""
    learner = learner_of(name, 4)
    state, waiting = played(learner, 20)
    for arm, play in waiting:
        if arm in (1, 3):
            learner.withdraw(state, play, arm)
    at_once = learner.with_arms(state, [0, 2], 0)
    by_one = learner_of(name, 3).with_arms(learner.with_arms(state, [0, 2, 3], 0), [0, 1], 0)
    assert_same(at_once, by_one)
    fewer = learner_of(name, 2)
    for part in fewer.losses(at_once).T, learner.losses(state)[[0, 2]].T:
        assert np.isfinite(part).all()
    np.testing.assert_array_equal(fewer.losses(at_once), learner.losses(state)[[0, 2]])
    q = fewer.predict(at_once).q
    assert abs(q.sum() - 1.0) <= 1e-12
    for arm, play in waiting:  # what is still waited for is learned where it belongs
        if arm in (0, 2):
            fewer.observe(at_once, play, arm // 2, 0.5)
    assert np.isfinite(fewer.predict(at_once).q).all()


def test_a_new_arm_of_a_leader_enters_at_what_is_played() -> None:
    """<q, L> of those who stay: not the best, not the worst."""
    learner = learner_of("exp3", 3)
    state, _ = played(learner, 60)
    other = learner.with_arms(state, [0, 1, 2], 1)
    expected = float(learner.predict(state).q @ state.losses)
    assert other.losses[3] == pytest.approx(expected, rel=1e-12)
    assert state.losses.min() < expected < state.losses.max()


def test_the_arm_played_last_is_looked_for_at_its_new_place() -> None:
    """A new arm of the repaired bandit enters at the weights of those who stay, wherever they are.

    What the arm played last waits for bounds its rate, and the old place may not exist any more.
    """
    learner = Concealed(4, variant="repaired")
    state = learner.start()
    for arm in (0, 2, 2, 3, 3, 3):
        learner.commit(state, learner.predict(state), arm)
    other = learner.with_arms(state, [0, 2, 3], 1)
    assert other.last_arm[0] == 2
    stay = learner.with_arms(state, [0, 2, 3], 0)
    expected = float(Concealed(3, variant="repaired").predict(stay).q @ stay.losses)
    assert other.losses[3] == expected


def test_a_new_expert_has_lost_what_the_steady_strategy_has() -> None:
    """So its drift account hardly moves by the entry, and the rates stay about what they were."""
    learner = learner_of("practical-experts", 3)
    state, _ = played(learner, 60)
    before = learner.predict(state)
    other = learner.with_arms(state, [0, 1, 2], 1)
    after = learner_of("practical-experts", 4).predict(other)
    drift = before.info.steady.drift[0]
    assert after.info.steady.drift[0] == pytest.approx(drift, rel=0.05)
    np.testing.assert_allclose(after.eta / before.eta, [math.log(4) / math.log(3), 1.0], rtol=0.05)
    assert 0.0 < after.q[3] < 0.5
