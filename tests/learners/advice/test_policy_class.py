"""Learners over a class of policies: against their literal twins, and what their papers promise."""

from typing import Any

import numpy as np
import pytest

import belated
from belated.arrays import Floats
from belated.learners.advice.advice_history import (
    AdviceHistory,
    kind_of,
    learn,
    nothing_played,
    with_room,
)
from belated.learners.advice.iloveto import Iloveto, floor_now
from belated.learners.advice.low_variance import ROUNDING, descend, no_work
from belated.learners.advice.policy_elimination import PolicyElimination
from belated.learners.driver import Driver
from tests.twins.policy_class import (
    ClassTwin,
    EliminationTwin,
    IlovetoTwin,
    Told,
    rewards,
    smoothed,
    variances,
)

CLOSE = 1e-9


def named_arms(random: np.random.Generator, policies: int, arms: int) -> Floats:
    """Advice of policies that name an arm each."""
    return np.eye(arms)[random.integers(0, arms, policies)]


def mixtures(random: np.random.Generator, policies: int, arms: int) -> Floats:
    """Advice of policies that draw; no two rounds have the same."""
    return random.dirichlet(np.full(arms, 0.4), policies)


def follow(driver: Any, twin: ClassTwin, advise: Any, rounds: int, seed: int) -> list[int]:
    """Play both with delays by arm and lost reports; returns how many policies were left."""
    random, arms = np.random.default_rng(seed), twin.arms
    due: dict[int, list[tuple[Any, Told]]] = {}
    left = []
    for t in range(rounds):
        advice = advise(random, twin.policies, arms)
        driver.advise(advice)
        q = driver.weights().copy()
        np.testing.assert_allclose(q, twin.ask(advice), rtol=0, atol=CLOSE)
        assert q.min() >= twin.mu * (1.0 - 1e-12)
        assert q.sum() == pytest.approx(1.0, abs=1e-12)
        arm = int(random.choice(arms, p=q / q.sum()))
        (row,) = driver.play(arm)
        reward = float(random.random() < (0.9 if advice[0, arm] > 0.5 else 0.1))
        if random.random() < 0.9:
            late = t + int(random.geometric(1.0 / (1 + 3 * arm))) - 1
            due.setdefault(late, []).append((row, Told(advice, arm, float(q[arm]), reward)))
        for row_, told in due.pop(t, []):
            driver.tell(row_, told.arm, 1.0 - told.reward)
            twin.tell(told)
        left.append(len(twin.left))
    return left


@pytest.mark.parametrize("advise", [named_arms, mixtures])
@pytest.mark.parametrize(("policies", "arms"), [(3, 2), (6, 3), (1, 2), (4, 1)])
def test_every_q_of_iloveto_is_that_of_its_twin(advise: Any, policies: int, arms: int) -> None:
    """Also after epochs in which the descent has to take steps."""
    learner = Iloveto(arms=arms, policies=policies, delta=0.5)
    twin = IlovetoTwin(policies, arms, 0.5)
    follow(Driver(learner), twin, advise, 420 if arms > 1 else 40, seed=arms)
    assert twin.descents >= 1 or arms == 1 or policies == 1


@pytest.mark.parametrize("advise", [named_arms, mixtures])
def test_every_q_of_policy_elimination_is_that_of_its_twin(advise: Any) -> None:
    learner = PolicyElimination(arms=2, policies=3, delta=0.5)
    twin = EliminationTwin(3, 2, 0.5)
    follow(Driver(learner), twin, advise, 300, seed=3)
    assert twin.descents >= 1


def test_policy_elimination_drops_policies_that_are_worse() -> None:
    """The first policy is right, the others name arms at random: after some thousand plays."""
    twin, driver = EliminationTwin(2, 2, 0.5), Driver(PolicyElimination(2, policies=2, delta=0.5))

    def opposite(random: np.random.Generator, policies: int, arms: int) -> Floats:
        return np.eye(2)[:: int(random.choice([-1, 1]))]

    left = follow(driver, twin, opposite, 2600, seed=5)
    assert left[0] == 2
    assert left[-1] == 1
    assert driver.state.epoch.left.tolist() == [1.0, 0.0]
    assert driver.state.epoch.weights.tolist() == pytest.approx([1.0, 0.0])


# -- the optimisation problem


def recorded(history: list[Told]) -> AdviceHistory:
    """The record of a history."""
    record = with_room(nothing_played(*history[0].advice.shape), len(history))
    for told in history:
        learn(record, kind_of(record, told.advice), told.arm, told.q, told.reward)
    return record


@pytest.mark.parametrize("mu", [0.01, 0.05, 1.0 / 6.0])
@pytest.mark.parametrize("advise", [named_arms, mixtures])
def test_the_constraints_hold_after_the_descent(advise: Any, mu: float) -> None:
    """Sum Q b <= 2K, sum Q <= 1, and V(n) <= 2K + b(n): of their (OP), for any regrets."""
    random = np.random.default_rng(4)
    for policies, arms in ((2, 3), (8, 3), (20, 3)):
        history = [Told(advise(random, policies, arms), 0, 1.0, 1.0) for _ in range(60)]
        allowances = random.random(policies) * random.choice([0.0, 1.0, 9.0])
        weights, work = np.zeros(policies), no_work(policies, arms)
        descend(recorded(history), allowances, np.ones(policies), mu, weights, work)
        assert (weights >= 0.0).all()
        assert weights.sum() <= 1.0 + 1e-12
        assert weights @ allowances <= 2.0 * arms + 1e-9
        excess = variances(history, weights, mu) - 2.0 * arms - allowances
        assert excess.max() <= 2.0 * arms * ROUNDING * 1.01
        if mu < 0.02:
            assert weights.any()
            even = np.zeros(policies)
            assert (variances(history, even, mu) - 2.0 * arms - allowances).max() > 0.0


def test_the_floor_is_that_of_the_paper() -> None:
    """min(1/(2K), sqrt(ln(16 n^2 N/delta)/(K n)))."""
    doubt = np.log(10 / 0.05)
    assert floor_now(4, 1, doubt) == 1.0 / 8.0
    expected = (np.log(16.0 * 20000.0**2 * 10 / 0.05) / (4 * 20000.0)) ** 0.5
    assert floor_now(4, 20000, doubt) == pytest.approx(expected, rel=1e-14)


def test_advice_that_was_given_before_is_kept_once() -> None:
    """Sums and counts are those of all plays."""
    random = np.random.default_rng(1)
    tables = [mixtures(random, 3, 2) for _ in range(4)]
    history = [
        Told(tables[int(random.integers(4))], int(random.integers(2)), 0.3, float(random.random()))
        for _ in range(50)
    ]
    record = recorded(history)
    assert record.used[0] == 4
    assert record.counts.sum() == record.told[0] == 50
    np.testing.assert_allclose(record.rewards.sum(axis=0) / 50, rewards(history), rtol=1e-14)


# -- in the hand


@pytest.mark.parametrize("name", ["iloveto", "policy-elimination"])
def test_saved_and_resumed_with_advice_that_is_always_new(name: str) -> None:
    """The record grows with the advice, and the learner goes on exactly."""
    random = np.random.default_rng(2)
    whole = belated.Bandit(["a", "b"], learner=name, policies=["x", "y"], seed=1)
    parts = belated.Bandit(["a", "b"], learner=name, policies=["x", "y"], seed=1)
    late: list[Any] = []
    for t in range(150):
        advice = mixtures(random, 2, 2)
        if t % 7 == 0:
            parts = belated.from_json(parts.to_json())
        assert parts.weights(advice=advice) == whole.weights(advice=advice)
        ticket = whole.ask(advice=advice)
        assert parts.ask(advice=advice) == ticket
        late.append(ticket)
        if t % 2:
            told = late.pop(int(random.integers(len(late))))
            for session in (whole, parts):
                session.tell(told, reward=float(told.arm == "a"))
    assert parts.to_json() == whole.to_json()
    assert whole._runner.workspace.state.history.used[0] == 150
    assert sum(whole.policy_weights().values()) == pytest.approx(1.0)


def test_a_saved_play_with_advice_that_is_not_there_is_refused() -> None:
    session = belated.Bandit(2, learner="iloveto", seed=1)
    session.ask()
    state = session._runner.workspace.state
    with pytest.raises(ValueError, match="the advice of a play is 1"):
        Iloveto(2).check_saved(state, [[1.0, 0.5]])


@pytest.mark.parametrize("delta", [0.0, 1.0, -1.0])
def test_a_delta_that_is_no_probability_is_refused(delta: float) -> None:
    with pytest.raises(ValueError, match=r"delta is .*; it must be above 0 and below 1"):
        Iloveto(2, delta=delta)


def test_it_learns_the_right_policy() -> None:
    """Advice of ten policies, one of them right; its weight passes that of all others together."""
    random, driver = np.random.default_rng(3), Driver(Iloveto(3, policies=10))
    tables = [named_arms(random, 10, 3) for _ in range(20)]
    for _ in range(1100):
        advice = tables[int(random.integers(20))]
        driver.advise(advice)
        q = driver.weights()
        arm = int(random.choice(3, p=q / q.sum()))
        (row,) = driver.play(arm)
        driver.tell(row, arm, float(advice[4, arm] == 0.0))
    assert driver.state.epoch.weights[4] > 0.5
    assert smoothed(driver.state.epoch.weights, np.eye(3)[[0] * 10], 0.0)[0] == pytest.approx(1.0)
