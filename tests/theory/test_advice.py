"""Theorems 5 and 6 on real runs: what their proofs say of every round, path by path."""

from typing import Any

import numpy as np
import pytest

from belated import ftrl
from belated.environments.missing import missing_counts
from belated.ftrl.analysis import analysed, drift, drift_bound
from belated.replay.case import parse_case
from belated.replay.replay import learner_for, replay
from tests.games import assert_policies_certified
from tests.oracle.random_games import random_case

ROUNDING = 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_corrections_pay_for_the_drift(seed: int) -> None:
    """Theorem 5: the drift of a round is at most lem:drift's bound, and that at most <p, a>."""
    case = parse_case(random_case("advice-full", seed, T=15))
    learner = ftrl.advice(**case.options)
    plays = replay(case, learner).state.ledger.plays
    for each in analysed(learner, plays, case.losses, missing_counts(case.delays)):
        paid = float((each.p * each.correction).sum())
        assert drift(each) <= drift_bound(each) + ROUNDING
        assert drift_bound(each) <= paid + ROUNDING
        assert (each.charged <= 2.0 * each.estimate + ROUNDING).all()


@pytest.mark.parametrize("seed", range(20))
def test_every_run_with_full_information_keeps_its_certificate(seed: int) -> None:
    case = parse_case(random_case("advice-full", seed, T=40))
    learner: Any = learner_for(case)
    assert_policies_certified(learner, case.losses, replay(case, learner).predictions)


@pytest.mark.parametrize("seed", range(8))
def test_the_drift_of_the_bandit_is_what_its_rate_counts(seed: int) -> None:
    """Theorem 6: drift_t <= gamma_t (v_t + z_t), both of which are bounded before the draw."""
    case = parse_case(random_case("advice-concealed", seed, T=15))
    learner, kernel = ftrl.advice_bandit(**case.options), learner_for(case)
    plays = replay(case, learner).state.ledger.plays
    run = replay(case, kernel)
    spent = [float(each.info.spent[0]) for each in run.predictions] + [run.state.spent[0]]
    rounds = analysed(learner, plays, case.losses, missing_counts(case.delays))
    for t, (each, found) in enumerate(zip(rounds, run.predictions, strict=True)):
        cost = spent[t + 1] - spent[t]
        known = np.sqrt(case.losses.shape[1] * (t + 1)) / 4.0 + found.info.most_waiting[0]
        assert drift(each) <= found.gamma[0] * cost + ROUNDING
        assert cost <= known + ROUNDING


@pytest.mark.parametrize("seed", range(20))
def test_the_regret_of_the_estimates_is_bounded_on_every_path(seed: int) -> None:
    """Theorem 6: sum <p - e_n, b l> <= ln(1/pi(n))/gamma_T + sum gamma (v + z); gamma falls."""
    case = parse_case(random_case("advice-concealed", seed, T=60))
    learner: Any = learner_for(case)
    run = replay(case, learner)
    gamma = np.array([each.gamma[0] for each in run.predictions])
    assert (np.diff(gamma) <= 0.0).all()
    if learner.size == 1:
        return
    assert case.arms is not None
    assert case.advice is not None
    spent = np.array([each.info.spent[0] for each in run.predictions] + [run.state.spent[0]])
    weights = np.array([each.info.weights for each in run.predictions])
    t = np.arange(len(gamma))
    probability = run.q[t, case.arms] + 1.0 / np.sqrt(case.losses.shape[1] * (t + 1))
    share = case.losses[t, case.arms] / probability
    estimates = case.advice[t, :, case.arms] * share[:, None]
    regret = (weights * estimates).sum() - estimates.sum(axis=0)
    apart = -np.log(np.array(learner.prior)) / gamma[-1]
    assert (regret <= apart + (gamma * np.diff(spent)).sum() + ROUNDING).all()


def test_the_missing_mass_may_exceed_every_missing_count() -> None:
    """A policy that moves on before what it advised has come misses two losses of two arms."""
    case = parse_case(
        {
            "setting": "advice-full",
            "K": 2,
            "N": 1,
            "T": 3,
            "losses": [[0.5, 0.5]] * 3,
            "delays": [[None, 0], [0, None], [0, 0]],
            "advice": [[[1.0, 0.0]], [[0.0, 1.0]], [[0.5, 0.5]]],
        }
    )
    run = replay(case, learner_for(case))
    assert run.predictions[2].info.missing.tolist() == [2.0]
    assert missing_counts(case.delays)[2].tolist() == [1, 1]
