"""Learners over policies, compiled and readable, against the oracle of Theorems 5 and 6."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from belated import ftrl
from belated.arrays import Floats
from belated.learners.driver import PlayableLearner
from belated.learners.paper.full_information import FullInformation
from belated.replay.case import Case, parse_case
from belated.replay.replay import learner_for, replay
from belated.types import Setting
from tests.oracle import answer
from tests.oracle.random_games import random_case

CASES = sorted((Path(__file__).parents[2] / "cases" / "beyond").glob("a[56]_*.json"))
SETTINGS = ("advice-full", "advice-concealed")
DEGENERATE: list[dict[str, int]] = [{"N": 1}, {"K": 1}, {"T": 1}, {"N": 1, "K": 1, "T": 1}]


def readable(case: Case) -> PlayableLearner:
    """The learner of a case, composed from parts."""
    full = case.setting is Setting.FULL_INFORMATION
    return (ftrl.advice if full else ftrl.advice_bandit)(**case.options)


def found(predictions: list[Any], full: bool) -> dict[str, list[Any]]:
    """Everything that an answer has, from the predictions of a kernel."""
    parts = {"p": lambda each: each.info.weights, "q": lambda each: each.q}
    if full:
        parts |= {"rho": lambda each: each.info.missing, "eta": lambda each: each.eta}
    else:
        parts |= {"gamma": lambda each: each.gamma[0], "w": lambda each: each.info.waiting}
    return {key: [part(each) for each in predictions] for key, part in parts.items()}


def largest_error(found: dict[str, Any], expected: dict[str, Any]) -> float:
    """The largest of |x - y| / max(1, |y|)."""
    assert found.keys() == expected.keys()
    errors = []
    for key, wanted in expected.items():
        y = np.array(wanted)
        errors.append(float((np.abs(np.array(found[key]) - y) / np.maximum(1.0, np.abs(y))).max()))
    return max(errors)


def compare(content: dict[str, Any], expected: dict[str, Any], tolerance: float) -> None:
    """Both layers against an answer."""
    case = parse_case(content)
    fast, slow = replay(case, learner_for(case)), replay(case, readable(case))
    full = case.setting is Setting.FULL_INFORMATION
    assert largest_error(found(fast.predictions, full), expected) <= tolerance
    weights = [each.p.sum(axis=1) for each in slow.predictions]
    rates = {"eta" if full else "gamma": [each.rates for each in slow.predictions]}
    if not full:
        rates = {"gamma": [row[0] for row in rates["gamma"]]}
    own = {"p": weights, "q": slow.q.tolist()} | rates
    assert largest_error(own, {key: expected[key] for key in own}) <= tolerance


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_worked_cases(path: Path) -> None:
    content = json.loads(path.read_text())
    compare(content["case"], content["answer"], 1e-14)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("setting", SETTINGS)
def test_random_games(setting: str, seed: int) -> None:
    """Some arms are advised by nobody, and some losses never come."""
    case = random_case(setting, seed)
    compare(case, answer(case), 1e-13)


@pytest.mark.parametrize("sizes", DEGENERATE, ids=str)
@pytest.mark.parametrize("setting", SETTINGS)
def test_one_policy_one_arm_one_round(setting: str, sizes: dict[str, int]) -> None:
    for seed in range(3):
        case = random_case(setting, seed, **sizes)
        compare(case, answer(case), 1e-13)


@pytest.mark.parametrize("setting", SETTINGS)
def test_nothing_ever_arrives(setting: str) -> None:
    """The weights stay at the prior, while all that is missing adds up."""
    case = random_case(setting, 3, T=9)
    case["delays"] = [[None] * case["K"] for _ in range(9)]
    case["prior"] = [(1 + n) / sum(range(1, case["N"] + 1)) for n in range(case["N"])]
    compare(case, answer(case), 1e-13)
    run = replay(parse_case(case), learner_for(parse_case(case)))
    assert np.allclose(run.predictions[-1].info.weights, case["prior"], atol=1e-15)


@pytest.mark.parametrize("setting", SETTINGS)
def test_equal_policies_have_equal_weights(setting: str) -> None:
    """What they advise counts as often as there are policies that advise it."""
    case = random_case(setting, 5, N=2, T=10)
    case["N"] = 4
    case["advice"] = [[rows[0], rows[1], rows[0], rows[0]] for rows in case["advice"]]
    case.pop("prior", None)
    compare(case, answer(case), 1e-13)
    run = replay(parse_case(case), learner_for(parse_case(case)))
    weights = np.array([each.info.weights for each in run.predictions])
    assert np.abs(weights[:, [0]] - weights[:, [2, 3]]).max() <= 1e-15


@pytest.mark.parametrize("seed", range(6))
def test_constant_policies_are_experts(seed: int) -> None:
    """One policy for each arm, which always advises it: the repaired full-information learner."""
    case = random_case("advice-full", seed, N=3, K=3, T=40)
    case["advice"] = [np.eye(3).tolist()] * 40
    parsed = parse_case(case)
    run = replay(parsed, learner_for(parsed))
    assert np.abs(run.q - experts(parsed)).max() <= 1e-15
    unadvised: Any = learner_for(parsed)
    alone = type(unadvised)(arms=3, horizon=40, prior=parsed.options["prior"])
    without = Case(parsed.setting, parsed.losses, parsed.delays, None, {})
    assert (replay(without, alone).q == run.q).all()


def experts(case: Case) -> Floats:
    """q_t of the repaired full-information learner in a case, leaving out its advice."""
    options = {"arms": 3, "horizon": len(case.losses), "prior": case.options["prior"]}
    learner = FullInformation(**options, variant="repaired")
    return replay(Case(case.setting, case.losses, case.delays, None, {}), learner).q
