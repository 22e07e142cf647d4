"""What is said of contextual learners: the order of reports, withdrawals, frequencies, regrets."""

from typing import Any

import numpy as np
import pytest

from belated.analysis.contextual_goals import TRUE_MEANS
from belated.comparison.compare import compare
from belated.learners.contextual.contextual_learner import ContextualLearner
from belated.learners.contextual.linear import Linear
from belated.learners.contextual.linear_shared import LinearShared
from belated.learners.contextual.linear_thompson import LinearThompson
from belated.learners.contextual.squarecb import SquareCb
from belated.learners.driver import Driver
from belated.learners.states import leaves
from belated.numerics.packed_symmetric import packed_identity
from belated.numerics.random_stream import draw, seeded

KINDS: list[type[ContextualLearner]] = [Linear, LinearShared]
SMALL: dict[str, Any] = {"features": 2}
SLOTS = {"model.plays.free", "model.plays.x", "model.plays.fate"}
UNORDERED = {*SLOTS, "model.renewal.lead", "model.renewal.gained", "model.renewal.errors"}


def small(kind: type[ContextualLearner], **options: Any) -> Driver:
    """A learner of three arms and few coordinates."""
    own = {"action_features": 2, "cross_bits": 2} if kind is LinearShared else {}
    return Driver(kind(3, **SMALL, **own, **options))


def used(driver: Driver, rounds: int, random: np.random.Generator, reverse: bool) -> None:
    """Rounds whose reports come late, four at a time, in the order of play or in the reverse."""
    learner: Any = driver.learner
    waiting: list[tuple[Any, int, float]] = []
    for _ in range(rounds):
        context = random.normal(size=2)
        actions = (random.normal(size=(3, 2)),) if learner.takes_actions else ()
        learner.consider(driver.state, context, None, *actions)
        driver.predict()
        arm = int(random.integers(3))
        loss = float(random.random() < 0.5 + 0.3 * np.tanh(context[0] * (arm - 1)))
        waiting.append((driver.play(arm)[0], arm, loss))
        if len(waiting) == 8:
            told, waiting = waiting[:4], waiting[4:]
            for row, of_arm, its_loss in reversed(told) if reverse else told:
                driver.tell(row, of_arm, its_loss)


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_reports_of_a_round_does_not_matter(kind: type[ContextualLearner]) -> None:
    """Up to rounding: all that is known is the same to 1e-9, except the lead of late."""
    states = []
    for reverse in (False, True):
        driver = small(kind, default_loss=1.0)
        used(driver, 60, np.random.default_rng(5), reverse)
        states.append(leaves(driver.state))
    for name, part in states[0].items():
        if name not in UNORDERED:
            other = states[1][name]
            if name in ("model.plays.weight", "model.plays.reward", "model.plays.played"):
                part, other = np.sort(part), np.sort(other)
            np.testing.assert_allclose(part, other, rtol=0, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_withdrawing_what_silence_said_restores_the_model(kind: type[ContextualLearner]) -> None:
    """Of 90 plays, many of which count as zeros, nothing is left: P is the identity to 1e-8."""
    driver, random = small(kind, default_loss=1.0), np.random.default_rng(6)
    learner: Any = driver.learner
    rows = []
    for t in range(90):
        actions = (random.normal(size=(3, 2)),) if learner.takes_actions else ()
        learner.consider(driver.state, random.normal(size=2), None, *actions)
        driver.weights()
        rows.append((driver.play(t % 3)[0], t % 3))
    model = driver.state.model
    assert model.plays.weight.sum() > 20.0
    for row, arm in rows:
        driver.withdraw(row, arm)
    identity = packed_identity(learner.width)
    for inverse in model.ridge.inverse:
        np.testing.assert_allclose(inverse, identity, rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.ridge.rewards, 0.0, atol=1e-8)
    np.testing.assert_allclose(model.ridge.weights, 0.0, atol=1e-8)


@pytest.mark.check
@pytest.mark.parametrize("kind", [*KINDS, LinearThompson, SquareCb])
def test_arms_are_drawn_as_often_as_is_logged(kind: type[ContextualLearner]) -> None:
    """In 250,000 draws from fifty states the frequency is within four standard errors of q.

    There are a million draws for the four learners together.
    """
    driver, stream, random = small(kind), seeded(7), np.random.default_rng(8)
    expected, variance, seen = np.zeros((3, 3))
    for _ in range(50):
        used(driver, 4, random, reverse=False)
        q = driver.weights()
        drawn = [draw(stream, q) for _ in range(5_000)]
        seen += np.bincount(drawn, minlength=3)
        expected += 5_000 * q
        variance += 5_000 * q * (1.0 - q)
    assert (np.abs(seen - expected) <= 4.0 * np.sqrt(variance)).all()


@pytest.mark.compiled
def test_idle_contexts_cost_little_and_conversions_are_learned() -> None:
    """At most six times the regret of a bandit without contexts, and 15 % of uniform play's."""
    idle = compare(["linear", "practical-bandit"], "idle-contexts", 2, seed=900)
    own, without = (idle.regret_to(k, TRUE_MEANS).mean() for k in range(2))
    assert own <= 6.0 * without
    silent = compare(["linear", "uniform"], "conversions", 2, seed=901)
    own, chance = (silent.regret_to(k, TRUE_MEANS).mean() for k in range(2))
    assert own <= 0.15 * chance
