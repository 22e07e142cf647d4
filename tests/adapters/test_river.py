"""River both ways: our policy passes River's own checks, and its policies play our games."""

import inspect
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from river import bandit as river
from river.checks import common

import belated
from belated.adapters.gymnasium import DelayedBandit
from belated.adapters.river import BelatedPolicy, RiverLearner

pytestmark = pytest.mark.check
PARAMETERS = list(BelatedPolicy._unit_test_params())


def passes(check: Callable[[Any], None], policy: Any) -> bool:
    """Return whether a policy passes a check."""
    try:
        check(policy)
    except Exception:
        return False
    return True


# River's checks of single models that its own policies pass: the others are about estimators.
OF_POLICIES = [
    check
    for name, check in inspect.getmembers(common, inspect.isfunction)
    if name.startswith("check_") and list(inspect.signature(check).parameters) == ["model"]
    if passes(check, river.Exp3(gamma=0.1, seed=1))
    and passes(check, river.EpsilonGreedy(0.1, seed=1))
]


def test_some_checks_of_river_are_about_policies() -> None:
    """Clones, parameters, pickles and texts."""
    assert len(OF_POLICIES) >= 10


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
@pytest.mark.parametrize("check", OF_POLICIES, ids=lambda check: check.__name__)
def test_rivers_own_checks_pass(check: Callable[[Any], None], parameters: dict[str, Any]) -> None:
    """On a new policy, and on one that has played."""
    policy = BelatedPolicy(**parameters)
    check(policy)
    for _ in range(3):
        policy.update(policy.pull(["a", "b"]), 0.5)
    check(policy)


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_it_is_a_policy_of_river(parameters: dict[str, Any]) -> None:
    """Clones are new, rankings are by reward, and it prints itself."""
    policy = BelatedPolicy(**parameters)
    for _ in range(40):
        arm = policy.pull(["a", "b"])
        policy.update(arm, {"a": 0.2, "b": 0.9}[arm])
    assert policy.ranking[0] == "b"
    assert "Arm ID" in repr(policy)
    clone = policy.clone()
    assert clone._n == 0
    assert clone._get_params() == policy._get_params()
    assert clone.pull(["x", "y", "z"]) in ("x", "y", "z")


def test_rivers_evaluate_plays_it_on_our_environment() -> None:
    """Better than a random policy, as River's own test of policies asks; rewards are prompt."""
    env = DelayedBandit("late-best", rounds=400, delay=0)
    policies = [BelatedPolicy(reward_range=(-1, 0), seed=2), river.RandomPolicy(seed=3)]
    totals: dict[tuple[int, int], float] = {}
    for step in river.evaluate(policies, env, n_episodes=5, seed=4):
        totals[step["episode"], step["policy_idx"]] = step["reward_stat"]
    assert sum(totals[e, 0] > totals[e, 1] for e in range(5)) >= 4


def test_rivers_evaluate_offline_updates_only_some_pulls() -> None:
    """All others are given up, so that nothing is left open."""
    draws = random.Random(42)
    arms = ["A", "B", "C"]
    log = [
        (arms, None, arm, float(draws.random() < {"A": 0.2, "B": 0.5, "C": 0.8}[arm]))
        for arm in draws.choices(arms, k=1500)
    ]
    policy = BelatedPolicy(late=False, seed=1)
    total, used = river.evaluate_offline(policy, log)
    assert 400 < used < 600
    assert total.get() / used > 0.55
    assert sum(policy._bandit.is_open(arm) for arm in arms) <= 1


def test_late_rewards_are_told_to_their_own_plays() -> None:
    """Exp3 of ours divides by the probability of the play, and River's by the present one."""
    policy = BelatedPolicy("exp3", seed=3)
    hosted = belated.Bandit(["a", "b"], learner="exp3", seed=3)
    waiting = []
    for t in range(200):
        ticket = hosted.ask()
        assert policy.pull(["a", "b"]) == ticket.arm
        waiting.append(ticket)
        if t >= 20:
            late = waiting.pop(0)
            hosted.tell(late, reward=1.0 * (late.arm == "a"))
            policy.update(late.arm, 1.0 * (late.arm == "a"))


def test_what_does_not_fit_is_refused() -> None:
    """Other arms, unknown rewards, and rewards of nothing."""
    policy = BelatedPolicy()
    with pytest.raises(ValueError, match="before anything was pulled"):
        policy.update("a", 1.0)
    policy.pull(["a", "b"])
    with pytest.raises(ValueError, match="those of the first pull"):
        policy.pull(["a", "c"])
    with pytest.raises(ValueError, match="reward is 2"):
        policy.update(policy.pull(["a", "b"]), 2.0)


def test_a_policy_of_river_plays_our_games() -> None:
    """It is updated when a loss arrives; its own probability is then another than at the play."""
    policies = [
        RiverLearner(river.EpsilonGreedy(0.1, seed=1), 2, "greedy"),
        RiverLearner(river.Exp3(0.1, seed=1), 2),
    ]
    world = two_arms(300, 5)
    result = belated.compare([*policies, "exp3"], world, repetitions=2, workers=1)
    regrets = {row["learner"]: row["regret"] for row in result.runs()}
    assert set(regrets) == {"greedy", "river Exp3", "exp3"}
    assert all(np.isfinite(each) for each in regrets.values())


def two_arms(rounds: int, delay: int) -> belated.Environment:
    """Two arms with losses 0.3 and 0.6 on average, and one delay."""
    from belated.environments.delays import Constant
    from belated.environments.losses import Bernoulli

    return belated.Environment("two arms", Bernoulli([0.3, 0.6]), Constant(delay), rounds)
