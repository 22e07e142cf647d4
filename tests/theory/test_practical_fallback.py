"""What is proven of the practical bandit: rounds without the hint cost what the repaired one's do.

docs/theory-practical.md, (11) and (12), on runs in which the hint is dropped and taken up again.
p~ looks ahead: it is the repaired learner's argmin with the estimates of all rounds so far, also of
those that have not come, at the rates of its round.
"""

import functools
import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from belated.ftrl import Hybrid, NegativeEntropy, Tsallis, argmin
from belated.kernels.estimates import MIXED
from belated.learners import concealed
from belated.learners.practical_bandit import EXPECTED, PracticalBandit, is_trusted
from tests.theory.games import Floats

ROUNDS, ARMS = 150, 3
SEEDS = range(6)


@dataclass
class Round:
    """trusted: whether the hint was; estimate: lhat_t; missing: the estimates that have not come;
    ahead: p~_t; and the regularizer at the rates of the round."""

    trusted: bool
    q: Floats
    estimate: Floats
    missing: Floats
    ahead: Floats
    leader: Hybrid


@functools.cache
def played(seed: int) -> list[Round]:
    """For a third of the game every loss is what was not expected, and then the arm's own."""
    random = np.random.default_rng(seed)
    learner = PracticalBandit(ARMS, patience=0.5)
    state, repaired, sum_ = learner.start(), learner.blank(), np.zeros((ARMS, 1))
    arriving: dict[int, list[tuple[Floats, int, float]]] = {}
    found = []
    for t in range(ROUNDS):
        trusted, prediction = is_trusted(state), learner.predict(state)
        concealed.predict(state, repaired)
        if not trusted:
            np.testing.assert_array_equal(prediction.q, repaired.q)
        arm = int(random.choice(ARMS, p=prediction.q))
        plays = learner.commit(state, prediction, arm)
        loss = arm / (ARMS - 1.0)
        if t < ROUNDS // 3:
            loss = float(plays[0, EXPECTED] < state.said[MIXED].mean())
        arriving.setdefault(t + int(random.integers(8)), []).append((plays[0], arm, loss))
        estimate = np.zeros((ARMS, 1))
        estimate[arm] = loss / (prediction.q[arm] + 1.0 / np.sqrt(ARMS * (t + 1.0)))
        missing = sum_ - state.losses[:, None]
        sum_ += estimate
        eta, gamma, even = repaired.eta[0], repaired.gamma[0], np.full((ARMS, 1), 1.0 / ARMS)
        leader = Hybrid(Tsallis(float(eta)), NegativeEntropy(float(gamma)), even, even)
        ahead = argmin(leader, sum_).p
        found.append(Round(trusted, prediction.q[:, None].copy(), estimate, missing, ahead, leader))
        for arrived in arriving.pop(t, ()):
            learner.observe(state, *arrived)
    return found


def corner(arm: int) -> Floats:
    """All weight on one arm, as near as there is a logarithm."""
    weights = np.full((ARMS, 1), 1e-300)
    weights[arm] = 1.0
    return weights


def scalar(p: Floats, estimate: Floats) -> float:
    return float((p.ravel() * estimate.ravel()).sum())


def test_the_games_have_rounds_of_both_kinds() -> None:
    """Else nothing is shown."""
    kinds = [[each.trusted for each in played(seed)] for seed in SEEDS]
    changes = sum(sum(a != b for a, b in itertools.pairwise(run)) for run in kinds)
    assert changes >= 2 * len(SEEDS)
    assert 0.1 < np.mean([np.mean(run) for run in kinds]) < 0.9
    without = [each for seed in SEEDS for each in played(seed) if not each.trusted]
    assert sum((each.missing * each.estimate).any() for each in without) > 10


@pytest.mark.parametrize("seed", SEEDS)
def test_looking_ahead_has_no_regret_but_for_the_regularizer(seed: int) -> None:
    """(11), for every arm: whatever was played meanwhile, and from whatever the estimates came."""
    rounds = played(seed)
    lost = sum(scalar(each.ahead, each.estimate) for each in rounds)
    sums = np.sum([each.estimate for each in rounds], axis=0).ravel()
    last = rounds[-1].leader
    for arm in range(ARMS):
        assert lost <= sums[arm] + last.value(corner(arm)) + 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_without_the_hint_the_drift_is_that_of_the_paper(seed: int) -> None:
    """(12): lem:drift, also where what is missing was played with the hint."""
    for each in (each for each in played(seed) if not each.trusted):
        curvature = np.diag(each.leader.psi.hessian(each.q) + each.leader.phi.hessian(each.q))
        most = (each.estimate + each.missing).ravel() * each.estimate.ravel() / curvature
        assert scalar(each.q - each.ahead, each.estimate) <= most.sum() + 1e-9
