"""The contextual rivals against their literal twins: every q of games with delays and subsets."""

from typing import Any

import numpy as np
import pytest

from belated.learners.contextual.contextual_learner import ContextualLearner
from belated.learners.contextual.otflints import OtfLinTs
from belated.learners.contextual.otflinucb import OtfLinUcb
from belated.learners.contextual.squarecb import SquareCb
from belated.learners.driver import Driver
from tests.twins.linear import finished
from tests.twins.told_rivals import OtfTsTwin, OtfTwin, SquareCbTwin, ToldTwin

CLOSE = 1e-9


def follow(
    learner: ContextualLearner, twin: ToldTwin, rounds: int, seed: int, close: float = CLOSE
) -> list[Any]:
    """Play a game of both, with arms left out now and then, and a tenth of the reports lost."""
    random, driver, arms = np.random.default_rng(seed), Driver(learner), learner.arms
    rows: list[Any] = []
    contexts: list[Any] = []
    due: dict[int, list[tuple[int, float]]] = {}
    for _ in range(rounds):
        context = random.normal([0.0, 5.0], [1.0, 3.0])
        allowed = list(range(arms))
        if random.random() < 0.3:
            allowed = sorted(random.choice(arms, size=max(1, arms - 1), replace=False).tolist())
        driver.consider(context, np.isin(np.arange(arms), allowed) * 1.0)
        x = finished(contexts, context)
        q = driver.weights().copy()
        np.testing.assert_allclose(q, twin.ask(x, allowed), rtol=0, atol=close)
        arm = int(random.choice(arms, p=q / q.sum()))
        rows.append((driver.play(arm)[0], arm))
        t = twin.play(x, arm)
        contexts.append(context)
        if random.random() < 0.9:
            reward = float(random.choice([0.0, 0.25, 1.0])) if random.random() < 0.8 else arm / arms
            delay = int(random.geometric(1.0 / (1 + 4 * arm))) - 1
            due.setdefault(t + delay, []).append((t, reward))
        for played, reward in due.pop(t, []):
            row, of_arm = rows[played - 1]
            driver.tell(row, of_arm, 1.0 - reward)
            twin.tell(played, reward)
    return rows


@pytest.mark.parametrize("arms", [1, 2, 4])
def test_every_q_of_squarecb_is_that_of_its_twin(arms: int) -> None:
    follow(SquareCb(arms=arms, features=2), SquareCbTwin(arms, 3), 100, seed=arms)


def test_squarecb_by_hand() -> None:
    """K = 2, no features: shrunk means, and a gap times 10 sqrt(3)."""
    driver = Driver(SquareCb(arms=2, features=0))
    for arm, reward in ((0, 1.0), (1, 0.0), (0, 1.0)):
        (row,) = driver.play(arm)
        driver.tell(row, arm, 1.0 - reward)
    mean = 2.5 / 4.0
    gap = (2.0 - 2.0 * mean) / 3.0 - (0.0 - mean) / 2.0
    behind = 1.0 / (2.0 + 10.0 * 3.0**0.5 * gap)
    np.testing.assert_allclose(driver.weights(), [1.0 - behind, behind], rtol=1e-13)


def test_squarecb_learns_nothing_from_silence() -> None:
    """Plays that are pending or withdrawn leave all weights as they are."""
    driver = Driver(SquareCb(arms=3, features=1))
    driver.consider(np.array([1.0]))
    rows = [driver.play(0)[0] for _ in range(20)]
    driver.withdraw(rows[0], 0)
    np.testing.assert_array_equal(driver.weights(), np.full(3, 1.0 / 3.0))


@pytest.mark.parametrize(("arms", "censor"), [(1, 3), (2, 1), (3, 5), (4, 200)])
def test_every_q_of_otflinucb_is_that_of_its_twin(arms: int, censor: int) -> None:
    """Rewards later than the cut-off are among those that are told."""
    learner = OtfLinUcb(arms=arms, features=2, censor=censor, delta=0.1)
    twin = OtfTwin(arms, 3, censor=censor, delta=0.1)
    follow(learner, twin, 100, seed=arms)
    late = [play.delay for play in twin.plays if play.delay is not None and play.delay > censor]
    assert late or arms in (1, 4)


@pytest.mark.parametrize(("arms", "censor"), [(2, 1), (3, 5), (4, 200)])
def test_every_q_of_otflints_is_that_of_its_twin(arms: int, censor: int) -> None:
    learner = OtfLinTs(arms=arms, features=2, censor=censor)
    follow(learner, OtfTsTwin(arms, 3, censor=censor), 60, seed=arms, close=1e-6)


def test_a_reward_counts_up_to_the_cutoff_and_not_after_it() -> None:
    """With m = 2: told two rounds later it counts, three rounds later it does not."""
    driver = Driver(OtfLinUcb(arms=1, features=0, censor=2))
    rows = [driver.play(0)[0] for _ in range(4)]
    ridge = driver.state.model.ridge
    driver.tell(rows[1], 0, 0.0)
    assert ridge.rewards.tolist() == [[1.0]]
    driver.tell(rows[0], 0, 0.0)
    assert ridge.rewards.tolist() == [[1.0]]
    assert ridge.inverse.tolist() == [[pytest.approx(1.0 / 5.0)]]


def test_the_sum_of_norms_does_not_drift() -> None:
    """After thousands of rounds it is that of the last m norms."""
    driver, random = Driver(OtfLinUcb(arms=2, features=1, censor=7)), np.random.default_rng(1)
    for _ in range(2000):
        driver.consider(random.normal(size=1))
        driver.play(int(random.integers(2)))
    model = driver.state.model
    assert model.sum_of_norms.sum() == pytest.approx(model.norms.sum(), rel=1e-14)


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.5])
def test_a_delta_that_is_no_probability_is_refused(delta: float) -> None:
    with pytest.raises(ValueError, match=r"delta is .*; it must be above 0 and below 1"):
        OtfLinUcb(arms=2, features=1, delta=delta)


def test_a_cutoff_of_no_round_is_refused() -> None:
    with pytest.raises(ValueError, match="censor is 0"):
        OtfLinTs(arms=2, features=1, censor=0)
