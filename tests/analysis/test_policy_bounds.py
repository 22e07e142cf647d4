"""Theorems 5 and 6 in numbers, as a comparison states them: against arms, by the best policy."""

import math
from typing import Any

import numpy as np
import pytest

from belated.analysis.bounds import bound_for
from belated.analysis.game_sums import sum_up
from belated.comparison.compare import compare
from belated.environments.environment import Environment
from belated.environments.files import environment_from_arrays
from belated.environments.in_memory import GivenDelays, GivenLosses
from belated.environments.missing import NEVER
from belated.learners.advice.advice import Advice
from belated.play.game import Game
from tests.oracle.advice_full import AdviceFull
from tests.oracle.random_games import random_case
from tests.play.test_advice import GivenAdvice


def environment_of(case: dict[str, Any]) -> Environment:
    """The game of a replay case."""
    delays = np.array([[NEVER if d is None else d for d in row] for row in case["delays"]])
    losses, rounds = GivenLosses(np.array(case["losses"])), case["T"]
    advice = GivenAdvice(np.array(case["advice"]))
    return Environment("case", losses, GivenDelays(delays), rounds, advice=advice)


@pytest.mark.parametrize(("seed", "falls"), [(0, False), (1, False), (2, False), (3, True)])
def test_theorem_5(seed: int, falls: bool) -> None:
    """The number of the oracle, for the best policy; more, if even the slowest rate has to fall."""
    case = random_case("advice-full", seed, T=25)
    case.pop("prior", None)
    result = compare(["advice"], environment_of(case), repetitions=2)
    oracle, sums = AdviceFull(case).finished(), result.game_sums[0]
    policies = range(case["N"])
    assert np.allclose(
        sums.policy_losses,
        [float(sum(oracle.policy_loss(t, n) for t in range(1, 26))) for n in policies],
    )
    bounds = [float(oracle.bound(n) or math.inf) for n in policies]
    bound = result.bound(0)
    expected = min(b + y for b, y in zip(bounds, sums.policy_losses, strict=True))
    assert bound.value is not None
    assert (oracle.rates(25)[-1] < oracle.rates(1)[-1]) is falls
    assert bound.value >= (expected - sums.losses.min()) * (1.0 - 1e-12)
    if not falls:
        assert bound.value == pytest.approx(expected - sums.losses.min(), rel=1e-12)
    assert bound.applies
    certificate = result.certificate(0)
    assert certificate is not None
    assert (result.regret(0) <= certificate).all()
    assert certificate <= bound.value


def test_theorem_6() -> None:
    """From the means over runs of what was spent and of what waited."""
    case = random_case("advice-concealed", 3, T=40, K=3, N=4)
    case.pop("prior", None)
    result = compare(["advice-bandit"], environment_of(case), repetitions=5)
    traces, sums = result.traces[0], result.game_sums[0]
    logs, root = math.log(4), math.sqrt(3 * 40)
    spent = np.mean([math.sqrt(trace.spent) for trace in traces])
    waiting = np.mean([trace.most_waiting for trace in traces])
    term = 2 * root + 3 * math.sqrt(logs) * spent + math.sqrt(logs * (root / 4 + waiting))
    expected = term + sums.policy_losses.min() - sums.losses.min()
    bound = result.bound(0)
    assert bound.value == pytest.approx(expected)
    assert (bound.label, bound.applies) == ("Theorem 6", True)
    assert all(trace.spent > trace.info.spent[0] > 0.0 for trace in traces)  # the last play is in


def test_arms_in_the_place_of_policies() -> None:
    """Then Theorem 5 is the bound of the repaired learner for experts (E1)."""
    random = np.random.default_rng(2)
    environment = environment_from_arrays(random.random((60, 3)), random.integers(0, 7, (60, 3)))
    names = ["advice", "full-information:variant=repaired", "advice-bandit"]
    result = compare(names, environment, repetitions=1)
    advice, repaired, bandit = (result.bound(k) for k in range(3))
    assert advice.value is not None
    assert repaired.value is not None
    assert advice.value == pytest.approx(repaired.value, rel=1e-9)
    assert bandit.applies


def test_what_a_bound_over_policies_needs() -> None:
    """A run, a horizon that is kept, and losses told when they arrive."""
    random = np.random.default_rng(2)
    environment = environment_from_arrays(random.random((30, 2)), np.ones((30, 2), dtype=int))
    sums = sum_up(Game(environment, np.random.SeedSequence(1)))
    assert "the run is not given" in bound_for(Advice(2, horizon=30), sums, 0).why
    assert "the horizon is 9" in bound_for(Advice(2, horizon=9), sums, 0).why
    late = Advice(2, horizon=30, delivery="padded")
    assert "delivered when it arrives" in bound_for(late, sums, 0).why
