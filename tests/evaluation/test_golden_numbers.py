"""Numbers that other code has computed, to the digits that are printed."""

import math

import numpy as np
import pytest

from belated.evaluation.betting import betting_interval
from belated.evaluation.delay_laws import KaplanMeier
from belated.evaluation.estimators import ESTIMATORS, Inputs, Terms
from belated.evaluation.intervals import bernstein_half_width, normal_interval
from belated.evaluation.logs.journal import Journal
from belated.evaluation.silence import Corrected, filled, silence_correction
from tests.evaluation.worked_case import AGE, ARM, DELAY, POLICY, REWARD, journal, values

KNOWN = Corrected(np.ones(8), REWARD)
PRINTED = {
    "ips": (1.15625, 1.098437, 0.833333, 0.5),
    "snips": (1.0, 0.944469, 1.0, 0.432432),
    "dm": (0.65, 0.63, 0.65, 0.65),
    "dr": (1.071875, 1.01349, 0.933333, 0.415625),
    "sndr": (1.014865, 0.959736, 0.99, 0.447297),
    "clipped-ips": (0.71875, 0.710938, 0.625, 0.375),
    "switch-dr": (0.696875, 0.65724, 0.65, 0.540625),
    "cab": (0.89375, 0.862187, 0.8, 0.55),
    "dros": (0.811208, 0.774394, 0.791667, 0.598848),
    "ESS": (3.347188, 3.738271, 1.923077, 3.347188),
}


@pytest.mark.parametrize("name", PRINTED)
def test_every_estimator(name: str) -> None:
    """All known; all known with a tenth of uniform play; weighted by Kaplan-Meier; untold as 0."""
    log = journal()
    weighted = silence_correction(log, "missing", 0.0).corrected(log.weights)
    columns = [(POLICY, KNOWN), (0.9 * POLICY + 0.05, KNOWN), (POLICY, weighted)]
    columns.append((POLICY, filled(log, 0.0)))
    found = [values(policy, rows)[name] for policy, rows in columns]
    assert found == pytest.approx(PRINTED[name], abs=5.1e-7)


def test_kaplan_meier_by_arm() -> None:
    """Its steps, and the chances of the rows."""
    log = journal()
    delays = np.where(np.isinf(DELAY), np.nan, DELAY)
    for arm, times, left in ((0, [2, 3], [0.75, 0.5]), (1, [1, 4, 8], [0.75, 0.5, 0.25])):
        rows = arm == ARM
        law = KaplanMeier(delays[rows], AGE[rows])
        assert law.times.tolist() == times
        assert 1.0 - law.values(np.ones(4)) == pytest.approx(left)
    factor = silence_correction(log, "missing", 0.0).corrected(log.weights).factor
    assert factor == pytest.approx([2.0, 0.0, 4 / 3, 4 / 3, 0.0, 2.0, 0.0, 2.0])


def test_every_interval() -> None:
    """A thousand draws of a coin that shows 1 in 30 %."""
    coin = (np.random.default_rng(0).random(1000) < 0.3).astype(np.float64)
    ones = np.ones(1000)
    assert coin.mean() == 0.277
    low, high = normal_interval(Terms(np.zeros(()), coin), ones)
    assert (high - low) / 2.0 == pytest.approx(0.027751, abs=5e-7)
    assert bernstein_half_width(coin, 1.0) == pytest.approx(0.052151, abs=5e-7)
    # Audibert and others, three events: ln(3/delta) and a factor of 3; wider, so not offered.
    log = math.log(3.0 / 0.05)
    other = math.sqrt(2.0 * coin.var() * log / 1000) + 3.0 * log / 1000
    assert other == pytest.approx(0.0528, abs=5e-5)
    assert betting_interval(ones, coin, np.arange(1, 1001)) == pytest.approx((0.225, 0.329))


# What the estimators of OBP 0.4.1 say of the feedback below, with a stand-in for torch.
OF_OBP = {
    "ips": 0.4359815428022538,
    "snips": 0.42654569359174305,
    "dm": 0.17656899509325227,
    "dr": 0.43739168483117014,
    "sndr": 0.4317467587748323,
    "switch-dr": 0.43156638524308094,
    "dros": 0.4040535034049239,
}


def test_the_estimators_of_obp() -> None:
    """Equal to those of the Open Bandit Pipeline, to nine digits, from its own form of a log."""
    random, n, arms = np.random.default_rng(7), 400, 4
    context = random.normal(size=(n, 2))
    scores = np.exp(context @ random.normal(size=(2, arms)))
    logging = scores / scores.sum(axis=1, keepdims=True)
    action = np.array([random.choice(arms, p=each) for each in logging])
    reward = (random.random(n) < 0.2 + 0.15 * action).astype(int)
    feedback = {
        "n_rounds": n, "n_actions": arms, "action": action, "reward": reward,
        "pscore": logging[np.arange(n), action], "context": context, "position": None,
    }  # fmt: skip
    log = Journal.from_obp(feedback)
    assert log.arms == ("0", "1", "2", "3")
    policy = np.exp(-context @ np.arange(8).reshape(2, arms) / 4)
    policy /= policy.sum(axis=1, keepdims=True)
    model = 0.1 + 0.2 * np.tile(np.arange(arms) / arms, (n, 1)) + 0.05 * np.tanh(context[:, :1])
    rows = np.arange(n)
    read = Inputs(
        weights=policy[rows, log.chosen] / log.probability,
        factor=np.ones(n),
        outcome=log.rewards,
        model=model[rows, log.chosen],
        model_value=(policy * model).sum(axis=1),
    )
    limits = {"switch-dr": 5.0, "dros": 10.0}
    for name, value in OF_OBP.items():
        terms = ESTIMATORS[name].terms(read, limits.get(name, np.inf))
        assert float(terms.value(log.weights)) == pytest.approx(value, abs=1e-9), name
    greedy = np.eye(arms)[policy.argmax(axis=1)]  # its replay method: rows where both agree
    agree = Inputs(greedy[rows, log.chosen], np.ones(n), log.rewards)
    assert float(ESTIMATORS["snips"].terms(agree, np.inf).value(log.weights)) == 4 / 9
