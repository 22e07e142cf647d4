"""Scenarios with measured data: the numbers that are quoted in docs/scenarios.md."""

import math

import numpy as np
import pytest
from numpy.typing import ArrayLike

from belated.arrays import Counts, Floats
from belated.environments import clinical_trial as trial
from belated.environments.environment import Environment
from belated.environments.missing import missing_counts
from belated.environments.scenarios import scenario
from belated.environments.stocks import OFFSETS, all_prices, sales
from tests.environments.games import drawn


def near(values: Floats, expected: ArrayLike) -> None:
    """Equality up to three decimal places."""
    np.testing.assert_allclose(values, expected, rtol=0.0, atol=0.0005001)


def followed(losses: Floats, delays: Counts) -> Floats:
    """L + sqrt(ln K (L + L^rho)) of every arm: roughly its loss plus the regret against it."""
    total = losses.sum(axis=0)
    late = (missing_counts(delays) * losses).sum(axis=0)
    cost: Floats = total + np.sqrt(math.log(losses.shape[1]) * (total + late))
    return cost


def best_and_balanced(environment: Environment) -> tuple[str, str]:
    """The arm with the smallest loss, and the arm with the smallest cost."""
    losses, delays = drawn(environment)
    labels = environment.labels
    return labels[losses.sum(axis=0).argmin()], labels[followed(losses, delays).argmin()]


def test_limit_orders_of_ibm() -> None:
    """The highest limit is best, and its outcome is known after 56 days on average."""
    environment = scenario("limit-orders")
    losses, delays = drawn(environment)
    assert losses.shape == (3210, 6)
    near(losses.mean(axis=0), [0.286, 0.285, 0.283, 0.276, 0.256, 0.243])
    assert np.rint(delays.mean(axis=0)).tolist() == [0, 9, 17, 29, 43, 56]
    assert np.median(delays, axis=0).tolist() == [0, 2, 6, 21, 55, 60]
    assert np.quantile(delays, 0.9, axis=0).tolist() == [0, 33, 60, 60, 60, 60]
    cost = [957.7, 1043.5, 1078.0, 1101.7, 1076.4, 1061.3]
    np.testing.assert_allclose(followed(losses, delays), cost, atol=0.1)
    assert environment.labels == ("+0%", "+1%", "+2%", "+4%", "+8%", "+16%")


@pytest.mark.parametrize(
    ("ticker", "best", "balanced"),
    [
        ("IBM", "+16%", "+0%"),
        ("GOOG", "+16%", "+0%"),
        ("AAPL", "+16%", "+16%"),
        ("MSFT", "+4%", "+0%"),
    ],
)
def test_patient_limits_are_best_but_not_always_worth_it(
    ticker: str, best: str, balanced: str
) -> None:
    """For four rising shares a slow limit is best, but for three it is not the cheapest."""
    assert best_and_balanced(scenario("limit-orders", ticker=ticker)) == (best, balanced)


def test_limit_orders_by_the_day() -> None:
    """A literal simulation, day by day, gives the same sales."""
    prices = all_prices()["GOOG"]
    returns, delays = sales(prices, 60)
    assert len(returns) == len(prices.close) - 60
    for day in range(0, len(returns), 3):
        for arm, offset in enumerate(OFFSETS):
            limit, waited = prices.close[day] * (1.0 + offset), 0
            if offset > 0.0:
                waited = 1
                while waited < 60 and prices.high[day + waited] < limit:
                    waited += 1
            reached = offset == 0.0 or prices.high[day + waited] >= limit
            price = limit if reached else prices.close[day + 60]
            assert delays[day, arm] == waited
            assert returns[day, arm] == pytest.approx(price / prices.close[day] - 1.0, abs=1e-12)


def test_limit_orders_in_a_falling_market() -> None:
    """From peak to bottom each higher limit is worse; only for IBM the highest is still best."""
    environment = scenario("limit-orders-falling")
    losses, _ = drawn(environment)
    assert len(losses) == 356
    near(losses.mean(axis=0), [0.286, 0.293, 0.306, 0.320, 0.353, 0.424])
    assert best_and_balanced(environment) == ("+0%", "+0%")
    for ticker, best in (("GOOG", "+0%"), ("AAPL", "+0%"), ("IBM", "+16%")):
        assert best_and_balanced(scenario("limit-orders-falling", ticker=ticker))[0] == best


def test_a_low_cap_flatters_the_patient() -> None:
    """With a low cap, which clips the worst sales, a slower limit of MSFT looks best."""
    assert best_and_balanced(scenario("limit-orders", ticker="MSFT", cap=0.16))[0] == "+8%"


def test_hardly_any_loss_is_clipped() -> None:
    """With a cap of 40 %, at most 2.2 % of the losses of any arm are at an end of [0, 1]."""
    for ticker in all_prices():
        losses, _ = drawn(scenario("limit-orders", ticker=ticker))
        assert (losses == 1.0).mean(axis=0).max() < 0.022


def test_network_width() -> None:
    """The widest network is best, and one of medium width is cheapest to follow."""
    environment = scenario("network-width")
    losses, delays = drawn(environment)
    assert losses.shape == (3996, 10)
    shown = [environment.labels.index(f"w{w}") for w in (16, 64, 101, 161, 256, 406, 645, 1024)]
    near(
        losses.mean(axis=0)[shown],
        [0.300, 0.266, 0.257, 0.251, 0.243, 0.238, 0.235, 0.2285],
    )
    assert delays.mean(axis=0)[shown].round(1).tolist() == [
        0.5,
        0.7,
        1.0,
        1.9,
        3.9,
        8.9,
        22.1,
        54.3,
    ]
    assert delays.max(axis=0)[shown].tolist() == [13, 20, 34, 56, 152, 361, 883, 3289]
    cost = [1264, 1127, 1097, 1087, 1079, 1102, 1165, 1240]
    np.testing.assert_allclose(followed(losses, delays)[shown], cost, atol=0.5)
    assert best_and_balanced(environment) == ("w1024", "w256")


def test_which_learner() -> None:
    """Boosting and a random forest tie, but a tenth of boosting's results arrive too late."""
    environment = scenario("which-learner")
    losses, delays = drawn(environment)
    assert losses.shape == (5103, 8)
    means = dict(zip(environment.labels, losses.mean(axis=0), strict=True))
    near(
        losses.mean(axis=0),
        [0.3696, 0.2357, 0.2181, 0.2876, 0.2148, 0.1661, 0.1632, 0.1630],
    )
    tie = means["RandomForestClassifier"] - means["GradientBoostingClassifier"]
    assert 0.0 < tie < 0.0003
    late = (np.arange(5103)[:, None] + delays >= 5103).mean(axis=0)
    assert late[-1] == pytest.approx(0.096, abs=0.001)
    assert late[:-1].max() < 0.012
    best = ("GradientBoostingClassifier", "ExtraTreesClassifier")
    assert best_and_balanced(environment) == best
    slower = drawn(scenario("which-learner", seconds=0.5))[1]
    assert (slower <= delays // 10 + 1).all()


def test_patients_of_the_trial() -> None:
    """1941 patients have a known outcome; the four treatments were assigned at random."""
    patients = trial.read_patients()
    assert np.bincount(patients.treatments).tolist() == [474, 478, 478, 511]
    assert np.bincount(patients.strata).tolist() == [0, 779, 367, 795]
    days = [patients.days[patients.treatments == arm] for arm in range(4)]
    near(np.array([1.0 - np.mean(d) / 730 for d in days]), [0.125, 0.049, 0.053, 0.064])


def test_the_outcome_of_the_treatment_given_is_the_real_one() -> None:
    """The other outcomes are those of patients of the same stratum, and depend on the seed."""
    patients = trial.read_patients()
    losses, delays = drawn(scenario("clinical-trial"))
    days = trial.days_of(losses)
    rounds = np.arange(len(days))
    assert np.array_equal(days[rounds, patients.treatments], patients.days)
    assert np.array_equal(delays, days // 2)
    for arm in range(4):
        for stratum in (1, 2, 3):
            here = patients.strata == stratum
            peers = patients.days[here & (patients.treatments == arm)]
            assert np.isin(days[here, arm], peers).all()


def test_the_worst_treatment_is_plain_and_the_best_is_not() -> None:
    """In 100 seeds ZDV always has the largest loss, and either combination is best in some."""
    means = [drawn(scenario("clinical-trial"), seed)[0].mean(axis=0) for seed in range(100)]
    assert {int(mean.argmax()) for mean in means} == {0}
    assert {int(mean.argmin()) for mean in means} == {1, 2}
    np.testing.assert_allclose(np.mean(means, axis=0), [0.125, 0.049, 0.052, 0.065], atol=0.002)
