"""Where two experts lose in turn, who learns faster loses more: the price of every rate.

Uniform play has no regret there. So a learner stays within twice the regret of a slower one in all
games only if it is hardly faster, and a search for games finds those in which it does not.
"""

import math

import numpy as np
import pytest

from belated.comparison.compare import compare
from belated.environments.environment import Environment
from belated.environments.in_memory import GivenDelays, GivenLosses

ROUNDS = 200


def in_turn(length: int) -> Environment:
    """Each expert loses for so many rounds, then the other; told when the turn is over."""
    first = np.arange(ROUNDS) // length % 2
    delays = np.full((ROUNDS, 2), length - 1)
    losses = np.stack([1.0 - first, first], axis=1)
    return Environment("in turn", GivenLosses(losses), GivenDelays(delays), ROUNDS)


def regrets_in(environment: Environment, *learners: str) -> list[float]:
    """The mean regret of each over a few draws."""
    comparison = compare(learners, environment, repetitions=10)
    return [float(comparison.regret(k).mean()) for k in range(len(learners))]


@pytest.mark.parametrize("eta", [0.01, 0.12, 3.0])
def test_the_regret_of_hedge_is_in_proportion_to_its_rate(eta: float) -> None:
    """Each pair of rounds costs 1/2 and 1/(1 + e^-eta): the regret is T/4 tanh(eta/2)."""
    (regret,) = regrets_in(in_turn(1), f"hedge:eta={eta}")
    assert regret == pytest.approx(ROUNDS / 4 * math.tanh(eta / 2), rel=1e-9)


@pytest.mark.parametrize("length", [1, 20])
def test_uniform_play_loses_as_much_as_either_expert(length: int) -> None:
    """So that not to learn would be best."""
    (regret,) = regrets_in(in_turn(length), "uniform")
    assert regret == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("practical", "repaired"),
    [
        ("practical-experts", "full-information:variant=repaired"),
        ("practical-bandit", "concealed:variant=repaired"),
    ],
)
def test_the_practical_ones_pay_for_being_faster_than_the_repaired(
    practical: str, repaired: str
) -> None:
    """By more than twice: that they never do so, in any game, cannot be."""
    faster, slower = regrets_in(in_turn(20), practical, repaired)
    assert faster > 2.0 * slower > 0.0
