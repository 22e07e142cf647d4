"""The Open Bandit Pipeline: a policy in its simulations, and logs as its dictionaries."""

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import belated
from belated.adapters.obp import ObpPolicy, bandit_feedback
from belated.evaluation.logs.journal import Journal


def feedback(rounds: int = 300) -> dict[str, Any]:
    """A log of uniform draws, in the form of OBP's synthetic data sets."""
    random = np.random.default_rng(1)
    actions = random.integers(0, 3, rounds)
    return {
        "n_rounds": rounds,
        "n_actions": 3,
        "action": actions,
        "reward": (random.random(rounds) < np.array([0.1, 0.5, 0.8])[actions]).astype(float),
        "pscore": np.full(rounds, 1 / 3),
        "context": random.normal(size=(rounds, 2)),
        "position": None,
    }


def test_its_kind_is_obps_own_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulation of OBP compares it; without OBP it is the name of earlier versions."""
    policy = ObpPolicy(2)
    assert policy.policy_type == "contextfree"
    own = SimpleNamespace(PolicyType=SimpleNamespace(CONTEXT_FREE=object()))
    monkeypatch.setitem(sys.modules, "obp.policy.policy_type", own)
    assert policy.policy_type is own.PolicyType.CONTEXT_FREE


def simulated(log: dict[str, Any], policy: ObpPolicy) -> list[int]:
    """What OBP's `run_bandit_simulation` does: select, and update if the log chose the same."""
    chosen = []
    for action, reward in zip(log["action"], log["reward"], strict=True):
        (selected,) = policy.select_action()
        chosen.append(int(selected))
        if selected == action:
            policy.update_params(action=action, reward=reward)
    return chosen


def test_a_policy_learns_in_a_simulation() -> None:
    """It finds the best action from the third of the rounds in which it chose as the log did."""
    policy = ObpPolicy(3, random_state=2)
    chosen = simulated(feedback(1500), policy)
    assert chosen[-200:].count(2) > 120
    assert 300 < policy.n_trial < 700
    policy.initialize()
    assert policy.n_trial == 0
    assert simulated(feedback(1500), policy) == chosen


def test_the_simulation_here_is_obps() -> None:
    """What `run_bandit_simulation` of OBP 0.4.1 selected on this log with this policy, recorded."""
    policy = ObpPolicy(3, random_state=2)
    chosen = simulated(feedback(600), policy)
    assert chosen[:20] == [1, 1, 2, 0, 0, 2, 2, 1, 1, 1, 2, 2, 2, 2, 1, 2, 2, 1, 2, 2]
    assert policy.n_trial == 218


def test_a_log_goes_there_and_back() -> None:
    """Actions, rewards, probabilities and contexts."""
    log = feedback()
    again = bandit_feedback(Journal.from_obp(log))
    for name in ("action", "reward", "pscore", "context"):
        np.testing.assert_array_equal(again[name], log[name])
    assert (again["n_rounds"], again["n_actions"]) == (300, 3)


def test_rounds_without_an_outcome_are_left_out() -> None:
    """And a log without probabilities is refused."""
    rows = [
        {"arm": "a", "probability": 0.5, "reward": 4.0},
        {"arm": "b", "probability": 0.5, "reward": None},
    ]
    out = bandit_feedback(belated.read_log(rows, loss_range=(0, 5)))
    assert out["n_rounds"] == 1
    assert out["reward"].tolist() == [4.0]
    with pytest.raises(ValueError, match="with which probability"):
        bandit_feedback(belated.read_log([{"arm": "a", "reward": 1.0}]))
