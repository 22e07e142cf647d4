"""A changed world: what was played before is forgotten, as in the literal twin, and it pays."""

import numpy as np
import pytest

from belated.analysis.contextual_goals import TRUE_MEANS
from belated.comparison.compare import compare
from belated.learners.contextual import renewal
from belated.learners.contextual.linear import Linear
from belated.learners.contextual.renewal import learn_both, no_renewal, renew
from belated.learners.contextual.ridge import learn, nothing_learned
from belated.learners.driver import Driver
from tests.twins.linear import LinearTwin, finished

FEWEST = 40


@pytest.mark.interpreted
@pytest.mark.parametrize("default_loss", [None, 1.0])
def test_every_q_is_that_of_the_twin(
    monkeypatch: pytest.MonkeyPatch, default_loss: float | None
) -> None:
    """Through a change of the best arm in the middle, which the model is renewed for."""
    monkeypatch.setattr(renewal, "LEAST_ROUNDS", FEWEST)
    random, driver = np.random.default_rng(3), Driver(Linear(2, 1, default_loss=default_loss))
    twin = LinearTwin(2, 2, default_loss, fewest=FEWEST)
    rows, contexts = [], []
    due: dict[int, list[tuple[int, float]]] = {}
    for t in range(1, 151):
        context = random.normal(size=1)
        x = finished(contexts, context)
        contexts.append(context)
        driver.consider(context)
        np.testing.assert_allclose(driver.weights(), twin.ask(x), rtol=1e-9, atol=1e-9)
        rows.append(driver.play(t % 2)[0])
        twin.play(x, t % 2)
        likes = (context[0] > 0.0) == (t % 2 == 1)
        loss = float(likes == (t > 75))
        if not (default_loss == 1.0 and loss == 1.0):
            due.setdefault(t + int(random.integers(6)), []).append((t, loss))
        for played, told in due.pop(t, []):
            driver.tell(rows[played - 1], played % 2, told)
            twin.tell(played, told)
    assert twin.since > 40
    assert driver.state.model.renewal.since.tolist() == [twin.since, twin.recent]


def test_the_model_of_late_takes_over_only_with_a_lead() -> None:
    """More than 2 ln t, of which nothing is kept that is below zero."""
    ridge, late = nothing_learned(1, 2), no_renewal(1, 2, 50)
    learn(late.ridge, 0, np.array([0.5, 1.0]), 1.0, 1.0)
    learned = late.ridge.inverse.copy()
    late.gained[0] = -3.0
    assert not renew(ridge, late, 100)
    assert late.lead.tolist() == [0.0]
    late.gained[0] = 2.0 * np.log(100.0) - 0.01
    assert not renew(ridge, late, 100)
    late.gained[0] = 0.02
    assert renew(ridge, late, 100)
    np.testing.assert_array_equal(ridge.inverse, learned)
    assert late.since.tolist() == [50, 100]
    np.testing.assert_array_equal(late.ridge.inverse, nothing_learned(1, 2).inverse)


def test_a_play_teaches_the_models_that_rest_on_its_round() -> None:
    """None of them if it is forgotten, and both if it is of late; only then it is compared."""
    x, nothing = np.array([0.5, 1.0]), nothing_learned(1, 2).inverse
    for played, first, second in ((29, False, False), (30, True, False), (60, True, True)):
        ridge, late = nothing_learned(1, 2), no_renewal(1, 2, 60)
        late.since[0] = 30
        learn(ridge, 0, np.array([0.1, 1.0]), 1.0, 1.0)
        before = ridge.inverse.copy()
        learn_both(ridge, late, 0, x, played, 1.0, 0.0)
        assert (ridge.inverse != before).any() == first
        assert (late.ridge.inverse != nothing).any() == second
        assert (late.gained[0] != 0.0) == second


def test_a_level_that_all_arms_share_is_no_change() -> None:
    """Rewards 0.3 higher than foretold of both arms: the second model does not lead by that."""
    leads = []
    for changed in (0.3, -0.1):  # of the second arm; the first one gains 0.3
        ridge, late, x = nothing_learned(2, 1), no_renewal(2, 1, 1), np.ones(1)
        for arm in range(2):
            learn(ridge, arm, x, 2000.0, 2000.0 * (0.3 + 0.2 * arm))
        for t in range(400):
            reward = (0.6, 0.5 + changed)[t % 2]
            learn_both(ridge, late, t % 2, x, t + 1, 1.0, reward)
        leads.append(float(late.gained[0]))
    assert leads[0] < 1.0
    assert leads[1] > 10.0


@pytest.mark.compiled
def test_it_pays_where_the_world_changes() -> None:
    """In `redrawn` the regret was a third of uniform play's without it."""
    games = compare(["linear", "uniform"], "redrawn", 2, seed=77)
    own, chance = (games.regret_to(k, TRUE_MEANS).mean() for k in range(2))
    assert own < 0.2 * chance
