"""GP-BUCB against its literal twin, and what places of arms change."""

from typing import Any

import numpy as np
import pytest

import belated
from belated.learners.driver import Driver
from belated.learners.stochastic.gp_bucb import GpBucb
from tests.twins.gp_bucb import GpBucbTwin

PRICES = [[9.0], [10.0], [12.0], [15.0], [19.0]]


def scaled(places: Any) -> Any:
    """Features brought to [0, 1]."""
    table = np.array(places, dtype=float).reshape(len(places), -1)
    return (table - table.min(axis=0)) / np.maximum(np.ptp(table, axis=0), 1e-300)


@pytest.mark.parametrize("inflation", [None, 0.0, 0.7])
@pytest.mark.parametrize("places", [PRICES, [[1.0, 5.0], [2.0, 5.0], [1.0, 9.0]], [[3.0]]])
def test_every_index_is_that_of_the_twin(places: Any, inflation: float | None) -> None:
    """With rewards that come late, or never, or are withdrawn."""
    random = np.random.default_rng(len(places))
    learner = GpBucb(len(places), places=places, length=0.3, inflation=inflation)
    driver, twin = Driver(learner), GpBucbTwin(scaled(places), 0.3, inflation)
    pending: list[tuple[Any, int, int]] = []
    for _ in range(60):
        q = driver.weights().copy()
        index = driver.predict().info.indices
        np.testing.assert_allclose(index, twin.index(), rtol=1e-11)
        np.testing.assert_array_equal(q, twin.ask())
        arm = int(random.integers(len(places)))
        pending.append((driver.play(arm)[0], arm, len(twin.plays)))
        twin.plays.append((arm, None))
        while len(pending) > 8 or (pending and random.random() < 0.4):
            row, played, at = pending.pop(int(random.integers(len(pending))))
            reward = float(random.random() < 0.2 + 0.1 * played)
            driver.tell(row, played, 1.0 - reward)
            twin.plays[at] = (played, reward)
    row, played, at = pending.pop()
    driver.withdraw(row, played)
    del twin.plays[at]
    np.testing.assert_allclose(driver.predict().info.indices, twin.index(), rtol=1e-11)


def test_pending_plays_move_the_deviation_and_not_the_mean() -> None:
    """Plays under way are not repeated: five asks without an answer go to five prices."""
    bandit = belated.Bandit([9, 10, 12, 15, 19], learner="gp-bucb", places=PRICES, seed=1)
    assert {bandit.ask().arm for _ in range(5)} == {9, 10, 12, 15, 19}
    driver = Driver(GpBucb(5, places=PRICES))
    before = driver.predict().info
    means, variance = before.means.copy(), before.variance.copy()
    for _ in range(3):
        driver.play(2)
    after = driver.predict().info
    np.testing.assert_array_equal(after.means, means)
    assert (after.variance < variance)[[1, 2, 3]].all()
    assert after.variance.argmin() == 2


def test_a_reward_speaks_for_its_neighbours() -> None:
    """With places it moves the means of near arms more; without them that of its own only."""
    means = {}
    for places in (PRICES, "even", None):
        driver = Driver(GpBucb(5, places=places, length=0.3))
        (row,) = driver.play(0)
        driver.tell(row, 0, 0.0)
        means[str(places)] = driver.predict().info.means
    assert (np.diff(means[str(PRICES)]) < 0.0).all()
    assert means["None"].tolist() == pytest.approx([0.75, 0.5, 0.5, 0.5, 0.5])
    assert means["even"][1] < means[str(PRICES)][1]  # 9 and 10 are nearer than a quarter


def test_numbers_alone_are_places_and_are_saved() -> None:
    bandit = belated.Bandit(3, learner="gp-bucb", places=[9, 12, 15], seed=1)
    bandit.tell(bandit.ask(), reward=1.0)
    again = belated.from_json(bandit.to_json())
    assert again.weights() == bandit.weights()
    assert again.to_json() == bandit.to_json()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"places": [1, 2]}, "as many numbers for each of the 3 arms"),
        ({"places": [[1], [2, 3], [4]]}, "as many numbers"),
        ({"places": "near"}, "places is 'near'; it must be 'even'"),
        ({"places": [1, 2, float("nan")]}, "a place is nan; it must be finite"),
        ({"length": 0.0}, "length is 0.0; it must be above 0"),
        ({"inflation": -1.0}, "inflation is -1.0; it must not be negative"),
        ({"delta": 1.0}, "delta is 1.0"),
    ],
)
def test_bad_options_are_refused(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GpBucb(3, **options)
