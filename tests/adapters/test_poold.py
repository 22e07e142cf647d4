"""PoolD both ways: our experts told by round, and its learners in our games."""

from typing import Any

import numpy as np
import pytest

import belated
from belated.adapters.poold import PooldExperts, PooldLearner, linear_loss
from belated.arrays import Floats
from belated.environments.delays import PerArm
from belated.environments.environment import Environment
from belated.environments.losses import Bernoulli
from belated.learners.registry import learner_named
from tests.games import weights_of


def test_experts_are_told_by_round_with_gradients() -> None:
    """Each weight is that of our own class, told the same; rounds may come in any order."""
    models = ["a", "b", "c"]
    ours = PooldExperts(models, "adaptive-hedge", seed=1)
    own = belated.Experts(models, learner="adaptive-hedge", seed=1)
    random, tickets, due = np.random.default_rng(1), [], []
    for t in range(30):
        told = [due.pop() for _ in range(min(len(due), int(random.integers(0, 3))))]
        weights = ours.update_and_play([(s, linear_loss(losses)) for s, losses in told])
        for s, losses in told:
            own.tell(tickets[s], losses.tolist())
        tickets.append(own.ask())
        assert weights.tolist() == list(tickets[-1].weights.values())
        due.insert(int(random.integers(0, len(due) + 1)), (t, random.random(3)))
    assert set(ours.get_outstanding(include=False)) == {t for t, _ in due}
    assert sum(ours.get_weights().values()) == pytest.approx(1.0)


def test_what_does_not_fit_is_refused() -> None:
    """Hints, rounds told twice, and losses outside of the range."""
    ours = PooldExperts(["a", "b"], loss_range=(0, 2))
    ours.update_and_play([])
    with pytest.raises(ValueError, match="no hints"):
        ours.update_and_play([], hint={})
    with pytest.raises(ValueError, match="round 7 is told"):
        ours.update_and_play([(7, linear_loss(np.zeros(2)))])
    with pytest.raises(ValueError, match=r"loss of 'b' is 3.0; it must be in \[0, 2\]"):
        ours.update_and_play([(0, linear_loss(np.array([1.0, 3.0])))])


class Follower:
    """A learner of PoolD's shape that notes what it is told, and follows the leader."""

    def __init__(self, arms: int) -> None:
        self.told: list[list[int]] = []
        self.sums = np.zeros(arms)

    def update_and_play(self, losses_fb: Any, hint: Any) -> Floats:
        self.told.append([t for t, _ in losses_fb])
        for _, loss in losses_fb:
            self.sums += loss["grad"](np.full(self.sums.size, 1.0 / self.sums.size))
        best = self.sums == self.sums.min()
        return best / best.sum()


def test_a_learner_of_poold_is_told_whole_rounds() -> None:
    """When the last loss of the round has arrived."""
    made: list[Follower] = []

    def make() -> Follower:
        made.append(Follower(2))
        return made[-1]

    world = Environment("late", Bernoulli([0.0, 1.0]), PerArm([1, 3]), 12)
    result = belated.compare([PooldLearner(make, 2, "follower")], world, repetitions=1)
    assert made[-1].told[:6] == [[], [], [], [], [0], [1]]
    (run,) = result.runs()
    assert run["regret"] == pytest.approx(4 * 0.5)


@pytest.mark.check
@pytest.mark.parametrize("name", ["adahedged", "dorm", "dormplus", "dub"])
def test_the_real_poold_plays_as_our_implementation(name: str) -> None:
    """DORM, DORM+, AdaHedgeD and DUB of the library and of this package give equal weights."""
    poold = pytest.importorskip("poold")
    losses = np.random.default_rng(1).random((60, 3))
    delays = np.full((60, 3), 4)
    theirs = PooldLearner(lambda: poold.create(name, model_list=["a", "b", "c"], T=60), 3)
    ours = learner_named({"dormplus": "dorm-plus"}.get(name, name))(arms=3)
    expected = weights_of(ours, losses, delays)
    np.testing.assert_allclose(weights_of(theirs, losses, delays), expected, rtol=0, atol=1e-14)


@pytest.mark.check
def test_our_experts_play_in_the_place_of_one_of_poolds() -> None:
    """Told as PoolD tells its own learners, they give the weights of the same algorithm."""
    poold = pytest.importorskip("poold")
    theirs = poold.create("dormplus", model_list=["a", "b"], T=40)
    ours = PooldExperts(["a", "b"], "dorm-plus")
    losses = np.random.default_rng(2).random((40, 2))
    for t in range(40):
        told = [(t - 5, linear_loss(losses[t - 5]))] if t >= 5 else []
        expected = theirs.update_and_play(told, hint=None)
        np.testing.assert_allclose(ours.update_and_play(told), expected, rtol=0, atol=1e-14)
