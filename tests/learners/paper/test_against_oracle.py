"""The compiled learners, and the readable ones, against the oracle: every q of every round."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from belated import ftrl
from belated.learners.driver import PlayableLearner
from belated.replay.case import Case, parse_case
from belated.replay.replay import learner_for, replay
from belated.types import Setting
from tests.games import assert_certified, random_game
from tests.oracle.transcription import predictions

pytestmark = pytest.mark.core
CASES = sorted((Path(__file__).parents[2] / "cases").glob("*.json"))
INSTANCES: dict[Setting, Any] = {
    Setting.FULL_INFORMATION: ftrl.full_information,
    Setting.PARTIALLY_CONCEALED: ftrl.partially_concealed,
    Setting.CONCEALED: ftrl.concealed,
}


def readable(case: Case) -> PlayableLearner:
    """The learner of a case, composed from parts."""
    learner: PlayableLearner = INSTANCES[case.setting](**case.options)
    return learner


def certify(case: Case, run: Any) -> None:
    """Every full-information run must keep the a-posteriori bound."""
    if case.setting is Setting.FULL_INFORMATION:
        prior = learner_for(case).prior  # type: ignore[attr-defined]
        assert_certified(case.losses, case.delays, run.predictions, prior)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_worked_cases(path: Path) -> None:
    """The cases with forty-digit answers that came with the project, in both layers."""
    content = json.loads(path.read_text())
    case = parse_case(content["case"])
    answer = np.array(content["answer"]["q"])
    run = replay(case, learner_for(case))
    assert np.abs(run.q - answer).max() <= 1e-14
    assert np.abs(replay(case, readable(case)).q - answer).max() <= 1e-12
    certify(case, run)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("variant", ["paper", "repaired"])
@pytest.mark.parametrize("setting", ["full", "partial", "concealed"])
def test_random_games(setting: str, variant: str, seed: int) -> None:
    """Random games, degenerate ones among them, against forty digits, in both layers."""
    rng = np.random.default_rng([seed, len(setting), len(variant)])
    game = random_game(rng, setting, variant)
    answer = predictions(game)
    case = parse_case(game)
    run = replay(case, learner_for(case))
    expected = np.array([[float(x) for x in row] for row in answer.q])
    assert np.abs(run.q - expected).max() <= 1e-13
    assert np.abs(replay(case, readable(case)).q - expected).max() <= 1e-11
    certify(case, run)
    if setting != "full":
        eta = np.array([float(x) for x in answer.eta])
        assert np.allclose([float(p.eta[0]) for p in run.predictions], eta, rtol=1e-12, atol=0)
    if setting == "concealed" and case.losses.shape[1] > 1:
        gamma = np.array([float(x) for x in answer.gamma])
        assert np.allclose([float(p.gamma[0]) for p in run.predictions], gamma, rtol=1e-12)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("setting", ["full", "partial", "concealed"])
def test_layers_agree_from_a_shared_state(setting: str, seed: int) -> None:
    """Longer games: in every round the compiled argmin is taken at the readable one's losses."""
    rng = np.random.default_rng([seed, 5])
    case = parse_case(random_game(rng, setting, "paper", most_arms=6, most_rounds=60))
    slow = replay(case, readable(case))
    compiled: Any = learner_for(case)
    fast = replay(case, compiled)
    certify(case, fast)
    for t, play in enumerate(slow.state.ledger.plays):
        frozen, restored = fast.predictions[t], compiled.blank()
        solve_with_rates_of(setting, compiled, fast.state, play.available, frozen, restored)
        assert np.abs(restored.q - play.q).max() <= 1e-10


def solve_with_rates_of(
    setting: str, learner: Any, state: Any, losses: Any, frozen: Any, prediction: Any
) -> None:
    """The compiled argmin at given losses over (arm, rate) and the rates that were in force."""
    from belated.solvers.concealed_safe import solve_concealed_safely
    from belated.solvers.full_information_safe import solve_full_information_safely
    from belated.solvers.partially_concealed_safe import (
        solve_log_barrier,
        solve_partially_concealed_safely,
    )

    if setting == "concealed":
        rates = frozen.eta[0], frozen.gamma[0]
        solve_concealed_safely(losses.reshape(-1).copy(), *rates, np.inf, prediction.q)
    elif setting == "full":
        logs = state.columns.log_prior, state.columns.log_weight
        solve_full_information_safely(losses, *logs, frozen.eta, np.inf, prediction.p)
        prediction.q[:] = prediction.p.sum(axis=1)
    elif learner.max_missing == 0:
        solve_log_barrier(losses[:, 0], frozen.eta[0], np.inf, prediction.q)
    else:
        dual = prediction.info.dual
        guess, parts = np.full(len(dual), np.inf), (prediction.p, prediction.q, dual)
        logs = state.columns.log_prior, state.columns.log_weight
        solve_partially_concealed_safely(losses, *logs, frozen.gamma, frozen.eta[0], guess, *parts)
