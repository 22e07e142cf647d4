"""The practical bandit plays the weights of its definition, worked out anew in every round."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from belated.environments.missing import NEVER
from belated.learners.practical.common_shift import shift_now
from belated.learners.practical.mean_loss import MIXED, STEADY
from belated.learners.practical.practical_bandit import (
    EXPECTED,
    PracticalBandit,
    PracticalBanditState,
    has_hint,
    set_index,
)
from tests.games import ARMS, Table, played, random_table
from tests.twins.practical_bandit import practical_bandit as practical_bandit_twin

CLOSE = 1e-10


class Run(NamedTuple):
    """Where the hint was trusted, and the compiled state at the end."""

    trusted: list[bool]
    state: PracticalBanditState


def compared(table: Table, withdrawn: float = 0.0, perverse: int = 0, **options: Any) -> Run:
    """Play a table in both layers, and compare every weight of every round, to ten digits.

    In perverse rounds a loss is 0 if its arm was expected to be worse than most, else 1.
    Some plays are withdrawn when their losses would have been told, or, if that would never be the
    case, forty rounds later.
    """
    rounds, arms = table.losses.shape
    learner, twin = PracticalBandit(arms, **options), practical_bandit_twin(arms, **options)
    state, literal = learner.start(), twin.start()
    given_up = np.random.default_rng(rounds).random(rounds) < withdrawn
    due: dict[int, list[Any]] = {}
    run = Run([], state)
    for t in range(rounds):
        prediction, forecast = learner.predict(state), twin.predict(literal)
        np.testing.assert_allclose(prediction.q, forecast.q, rtol=0, atol=CLOSE)
        assert abs(prediction.q.sum() - 1.0) <= 1e-12
        run.trusted.append(bool(has_hint(state)))
        mixed = np.cumsum(0.9 * prediction.q + 0.1 / arms)
        arm = min(int(np.searchsorted(mixed, table.draws[t], side="right")), arms - 1)
        plays = learner.commit(state, prediction, arm), twin.commit(literal, forecast, arm)
        delay = int(table.delays[t, arm])
        if delay != NEVER or given_up[t]:
            due.setdefault(t + (40 if delay == NEVER else delay), []).append((t, arm, *plays))
        for s, told, play, twins_play in due.pop(t, ()):
            if given_up[s]:
                learner.withdraw(state, play[0], told)
                twin.withdraw(literal, twins_play[0], told)
            else:
                loss = float(table.losses[s, told])
                if s < perverse:
                    loss = float(play[0, EXPECTED] < state.means.forecast[MIXED].mean())
                learner.observe(state, play[0], told, loss)
                twin.observe(literal, twins_play[0], told, loss)
    return run


def test_the_hint_is_dropped_and_taken_up_again() -> None:
    """Losses that are never what was expected: the repaired concealed bandit takes over, for long.

    Then losses can be foretold from the arm, and the hint is taken up again.
    """
    table = random_table(5, 200, 5, never=0.0)
    table.losses[:] = np.linspace(0.0, 1.0, 5)
    run = compared(table, withdrawn=0.03, perverse=60, patience=0.5)
    assert run.trusted.count(False) > 30
    assert all(run.trusted[:5])
    assert all(run.trusted[-40:])


@pytest.mark.parametrize("arms", ARMS)
@pytest.mark.parametrize("seed", range(2))
def test_every_weight_is_that_of_the_definition(arms: int, seed: int) -> None:
    """Losses of all kinds, delays of every arm's own, some infinite, some plays withdrawn."""
    compared(random_table(seed, 60, arms), withdrawn=0.1 * seed)


OPTIONS: list[dict[str, Any]] = [
    {"forgets": False},
    {"levels": False},
    {"listens": False},
    {"patience": 0.0},
    {"patience": float("inf"), "checks": 0.0},
    {"checks": 30.0, "width": 0.0},
    {"width": 3.0, "rate": 0.5, "forgets": False, "levels": False},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(options))
def test_every_option_means_the_same_in_both_layers(options: dict[str, Any]) -> None:
    """Each part can be turned off or up, and is then so in both."""
    compared(random_table(7, 60, 3), withdrawn=0.05, **options)


def test_a_long_game_in_which_arms_drift() -> None:
    """Rounds enough that all arms are renewed every sixteenth only, and forgetting pays."""
    table = random_table(11, 310, 3)
    means = 0.5 + 0.5 * np.sin(np.arange(310)[:, None] / 40.0 + 2.0 * np.arange(3))
    run = compared(table._replace(losses=np.round(means)), withdrawn=0.03)
    assert run.state.means.weights[STEADY].min() < 0.01


def test_a_game_in_which_all_arms_drift_together() -> None:
    """The common shift gets weight, and is taken out."""
    table = random_table(12, 160, 3)
    level = 0.5 + 0.35 * np.sin(np.arange(160)[:, None] / 8.0)
    run = compared(table._replace(losses=level + np.array([-0.1, 0.0, 0.1])))
    assert run.state.means.shift.weight[0] > 0.5


@pytest.mark.parametrize("loss", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("arms", [1, 2, 40])
def test_constant_losses(arms: int, loss: float) -> None:
    """Nothing to be told apart: weights, none of them NaN, that stay near even."""
    table = random_table(arms, 150, arms, never=0.0)
    table.losses[:] = loss
    q = played(PracticalBandit(arms), table).q
    assert np.abs(q.sum(axis=1) - 1.0).max() <= 1e-12
    assert q.min() > 0.1 / arms**2


def test_nothing_ever_arrives() -> None:
    """Play goes on over all arms alike, and a very late loss is still learned from."""
    learner = PracticalBandit(3)
    state, first = learner.start(), None
    for t in range(600):
        prediction = learner.predict(state)
        assert abs(prediction.q.sum() - 1.0) <= 1e-12
        plays = learner.commit(state, prediction, t % 3)
        first = plays[0] if first is None else first
    np.testing.assert_allclose(prediction.q, 1.0 / 3.0, atol=0.1)
    assert first is not None
    before = learner.predict(state).q[0]
    learner.observe(state, first, 0, 1.0)
    assert learner.predict(state).q[0] < before


@pytest.mark.parametrize("checks", [0.0, 1.5])
def test_an_arm_of_hardly_any_probability_is_played(checks: float) -> None:
    """A replay may ask for it, in every round: its loss is divided by what can be divided by."""
    learner = PracticalBandit(4, checks=checks, rate=1e6)
    state = learner.start()
    for t in range(200):
        prediction = learner.predict(state)
        assert np.isfinite(prediction.q).all()
        assert abs(prediction.q.sum() - 1.0) <= 1e-12
        arm = int(prediction.q.argmin())
        plays = learner.commit(state, prediction, arm)
        learner.observe(state, plays[0], arm, float(t % 2))
    assert np.isfinite(state.fallback.losses).all()


@pytest.mark.parametrize(
    ("option", "value"),
    [("rate", 0.0), ("rate", 1e10), ("width", -1.0), ("checks", float("nan")), ("patience", -1.0),
     ("patience", "long"), ("patience", float("nan")), ("rate", None)],
)  # fmt: skip
def test_an_option_that_is_none(option: str, value: Any) -> None:
    """One sentence that names the option and its value."""
    with pytest.raises(ValueError, match=f"^{option} is .*; it must be "):
        PracticalBandit(2, **{option: value})


def test_an_arm_not_played_since_the_shift_rose_may_have_stayed_where_it_was() -> None:
    """Two arms lose half, then the one that is played loses all: the other may be better.

    Half of the rise of the common shift, times its weight, is taken off its index.
    """
    learner = PracticalBandit(2, checks=0.0)
    state = learner.start()
    for t in range(120):
        arm = t % 2 if t < 60 else 0
        play = learner.commit(state, learner.predict(state), arm)
        learner.observe(state, play[0], arm, 1.0 if t >= 60 else float(t // 2 % 2))
    shift, weight = shift_now(state.means.shift), state.means.shift.weight[0]
    rise = shift - state.shift_met[1]
    assert min(rise, weight) > 0.1
    set_index(state, 1)
    lowered = float(state.indices[1])
    state.shift_met[1] = shift
    set_index(state, 1)
    assert state.indices[1] - lowered == pytest.approx(0.5 * weight * rise)
