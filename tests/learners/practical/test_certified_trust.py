"""The account of Theorem 4, in fractions over all draws of small games, and its floor.

The kernels are plain Python, and so compute with fractions if the account holds fractions: what is
enumerated here is the product's own code, without any rounding.
"""

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from mpmath import mp

from belated.learners import states
from belated.learners.practical.certified_trust import (
    TrustAccount,
    begin_round,
    estimated_regret,
    explore_on_demand,
    is_certified,
    largest_regret,
    no_trusted_plays,
    tell_trusted,
    trust_budget,
)
from tests.oracle.certified_trust import with_floor
from tests.oracle.random_games import distribution, random_case


def in_fractions(arms: int) -> TrustAccount:
    """An account of fractions instead of doubles."""
    empty = no_trusted_plays(arms)
    return states.mapped(lambda _, array: np.array([Fraction(0)] * array.size, object), empty)


class Path(NamedTuple):
    """One way that the draws of a game can go: its probability, and what came of it.

    `regret` has sum_t (l_t(i_t) - l_t(u)) over the trusted rounds for every arm u, `estimate`
    C_{T+1}(u), `budget` b_T, and `trusted` the number of trusted rounds.
    """

    chance: Fraction
    regret: list[Fraction]
    estimate: list[Fraction]
    budget: Fraction
    trusted: int


class Play(NamedTuple):
    """A play that waits for its loss: its arm, its q, and whether its round was trusted."""

    round: int
    arm: int
    loss: Fraction
    probability: Fraction
    trusted: bool


class AnyBehaviour:
    """A learner whose weights and budget are any function of what it has been told."""

    def __init__(self, case: dict[str, Any], seed: int) -> None:
        self.arms, self.rounds, self.seed = case["K"], case["T"], seed
        self.losses = [[Fraction(x) for x in row] for row in case["losses"]]
        self.delays = case["delays"]

    def chance(self, what: str, history: list[Any]) -> random.Random:
        return random.Random(f"{self.seed} {what} {history}")

    def budget(self, before: Fraction, history: list[Any]) -> Fraction:
        """b_t after what has been told, which is not below that of the round before."""
        return before + Fraction(self.chance("b", history).randint(0, 7), 8)

    def weights(self, trusted: bool, history: list[Any]) -> list[Fraction]:
        """q_t after what has been told."""
        return [Fraction(x) for x in distribution(self.chance("q", history), self.arms)]

    def paths(self) -> Iterator[Path]:
        """All draws of the game."""
        first = Path(Fraction(1), [Fraction(0)] * self.arms, [], Fraction(0), 0)
        yield from self.from_round(1, first, in_fractions(self.arms), {}, [])

    def from_round(
        self,
        t: int,
        path: Path,
        before: TrustAccount,
        due: dict[int, list[Play]],
        history: list[Any],
    ) -> Iterator[Path]:
        """All draws from round t on. The pathwise statement is asserted in every round."""
        account, history = states.copied(before), list(history)
        for play in due.get(t, []):
            history.append((t, play))
            if play.trusted:
                tell_trusted(account, play.arm, play.loss, play.probability)
        assert t == 1 or largest_regret(account) <= path.budget + 1
        if t > self.rounds:
            yield path._replace(estimate=[estimated_regret(account, u) for u in range(self.arms)])
            return
        budget = self.budget(path.budget, history)
        trusted = is_certified(account, budget)
        q = self.weights(trusted, history)
        begin_round(account, trusted)
        for arm in [i for i in range(self.arms) if q[i] > 0]:
            row, delay = self.losses[t - 1], self.delays[t - 1][arm]
            play = Play(t, arm, row[arm], q[arm], trusted)
            later = dict(due)
            if delay is not None:
                at = t + 1 + delay
                later[at] = [*due.get(at, []), play]
            regret = [x + trusted * (row[arm] - y) for x, y in zip(path.regret, row, strict=True)]
            chance, number = path.chance * q[arm], path.trusted + trusted
            ahead = path._replace(chance=chance, regret=regret, budget=budget, trusted=number)
            yield from self.from_round(t + 1, ahead, account, later, [*history, (t, arm)])


@pytest.mark.parametrize("seed", range(12))
def test_theorem_4_in_fractions(seed: int) -> None:
    arms = 2 + seed % 2
    case = random_case("certified-trust", seed, K=arms, T=6 - seed % 2 * 2)
    assert_theorem_4(arms, list(AnyBehaviour(case, seed).paths()))


def assert_theorem_4(arms: int, paths: list[Path]) -> None:
    """E regret of the trusted rounds <= E C_{T+1}(u) <= E b_T + 1, and C_t <= b_t + 1 always."""
    assert sum(path.chance for path in paths) == 1
    budget = sum(path.chance * path.budget for path in paths)
    for u in range(arms):
        regret = sum(path.chance * path.regret[u] for path in paths)
        estimate = sum(path.chance * path.estimate[u] for path in paths)
        assert regret <= estimate <= budget + 1


def test_some_paths_lose_trust() -> None:
    shares = [
        path.trusted
        for seed in range(0, 12, 2)
        for path in AnyBehaviour(random_case("certified-trust", seed, K=2, T=6), seed).paths()
    ]
    assert min(shares) < 4
    assert max(shares) > 4


def test_the_budget_counts_what_is_outstanding_at_the_start_of_a_round() -> None:
    """Not the play just made; and it remembers the most, also through rounds without trust."""
    account = no_trusted_plays(4)
    assert trust_budget(account, 3.0, 1) == 6.0
    begin_round(account, True)
    begin_round(account, True)
    assert account.most_outstanding[0] == 1  # at the start of the second round
    assert trust_budget(account, 3.0, 9) == 18.0 + 2.0
    begin_round(account, False)
    tell_trusted(account, 0, 0.5, 0.25)
    tell_trusted(account, 1, 1.0, 0.5)
    assert account.outstanding[0] == 0
    assert trust_budget(account, 3.0, 9) == 18.0 + 2.0
    assert [estimated_regret(account, u) for u in range(4)] == [-0.5, -0.5, 1.5, 1.5]


def test_plays_that_are_withdrawn_end_trust() -> None:
    """Arm 0 always loses 1 and its plays are withdrawn, arm 1 loses nothing; q is even.

    If withdrawn plays left the account, C would be 0 for ever, while half of all rounds lose 1. The
    budget is sqrt(2 t) alone.
    """
    account, lost = no_trusted_plays(2), 0
    for t in range(1, 1001):
        budget = math.sqrt(2.0 * t)
        trusted, arm = is_certified(account, budget), t % 2
        begin_round(account, trusted)
        if trusted and arm == 1:
            tell_trusted(account, arm, 0.0, 0.5)
        lost += trusted and arm == 0
    assert 40 < lost <= budget + 1.0 < 47.0


@pytest.mark.parametrize("seed", range(20))
def test_the_floor_of_exploration(seed: int) -> None:
    """Convention 32, beside the oracle."""
    draw = np.random.default_rng(seed)
    arms, t = int(draw.integers(1, 6)), int(draw.integers(1, 400))
    account = no_trusted_plays(arms)
    account.told[0], account.outstanding[0] = draw.integers(0, 40), draw.integers(0, 9)
    account.estimates[:] = draw.integers(0, 60, arms)
    budget = largest_regret(account) + float(draw.integers(0, 3)) * 5.0
    q = draw.dirichlet(np.full(arms, 0.3))
    regrets = [mp.mpf(float(estimated_regret(account, u))) for u in range(arms)]
    wanted = with_floor([mp.mpf(x) for x in q], regrets, mp.mpf(budget), t, mp.mpf("0.3"))
    explore_on_demand(account, budget, 0.3, t, q)
    np.testing.assert_allclose(q, [float(x) for x in wanted], rtol=1e-14)
    assert abs(q.sum() - 1.0) <= 1e-14
