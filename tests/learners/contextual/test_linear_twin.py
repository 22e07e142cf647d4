"""`linear` and `linear-thompson` against literal twins: every q of whole games.

The games have delays, lost reports and withdrawals.
"""

from typing import NamedTuple

import numpy as np
import pytest

from belated.arrays import Floats
from belated.learners.contextual.linear import Linear
from belated.learners.contextual.linear_model import LinearLearner
from belated.learners.contextual.linear_thompson import LinearThompson
from belated.learners.driver import Driver
from tests.twins.linear import LinearThompsonTwin, LinearTwin, finished

CLOSE = 1e-9
INTEGRAL = 1e-6  # the integrals of Thompson sampling
Kinds = tuple[type[LinearLearner], type[LinearTwin]]
THOMPSON: Kinds = (LinearThompson, LinearThompsonTwin)


class World(NamedTuple):
    """A game: what silence means, whether zeros are silent, and the values that losses take."""

    default_loss: float | None
    silent_zeros: bool
    losses: tuple[float, ...]
    subsets: bool = False


WORLDS = {
    "nothing declared": World(None, False, (0.0, 1.0)),
    "conversions": World(1.0, True, (0.0, 1.0)),
    "no complaint": World(0.0, False, (0.0, 1.0)),
    "another default": World(0.25, False, (0.0, 0.25, 1.0)),
    "fractions": World(None, False, (0.0, 0.3, 0.5, 1.0)),
    "subsets of arms": World(None, False, (0.0, 1.0), subsets=True),
}


class BothLayers:
    """The learner and its twin in one game, told the same."""

    def __init__(
        self, arms: int, features: int, world: World, kinds: Kinds = (Linear, LinearTwin)
    ) -> None:
        self.world, self.arms = world, arms
        kind, twin = kinds
        self.driver = Driver(kind(arms=arms, features=features, default_loss=world.default_loss))
        self.twin = twin(arms, features + 1, world.default_loss)
        self.close = CLOSE if kind is Linear else INTEGRAL
        self.rows: dict[int, tuple[Floats, int]] = {}
        self.contexts: list[Floats] = []

    def ask(self, context: Floats, allowed: list[int] | None) -> Floats:
        """The weights of the learner, equal to those of the twin."""
        eligible = None if allowed is None else np.isin(np.arange(self.arms), allowed) * 1.0
        self.driver.consider(context, eligible)
        q = self.driver.weights().copy()
        expected = self.twin.ask(finished(self.contexts, context), allowed)
        np.testing.assert_allclose(q, expected, rtol=self.close, atol=self.close)
        return q

    def play(self, context: Floats, arm: int) -> int:
        (row,) = self.driver.play(arm)
        t = self.twin.play(finished(self.contexts, context), arm)
        self.contexts.append(context)
        self.rows[t] = row, arm
        return t

    def tell(self, t: int, loss: float) -> None:
        row, arm = self.rows.pop(t)
        self.driver.tell(row, arm, loss)
        self.twin.tell(t, loss)

    def withdraw(self, t: int) -> None:
        row, arm = self.rows.pop(t)
        self.driver.withdraw(row, arm)
        self.twin.withdraw(t)


def follow(
    world: World,
    rounds: int,
    seed: int,
    arms: int = 3,
    features: int = 2,
    kinds: Kinds = (Linear, LinearTwin),
) -> BothLayers:
    """Play a game in which a tenth of the plays is lost and some are withdrawn."""
    random, both = np.random.default_rng(seed), BothLayers(arms, features, world, kinds)
    due: dict[int, list[tuple[int, float]]] = {}
    for _ in range(rounds):
        context = random.normal([0.0, 5.0], [1.0, 3.0])[:features]
        allowed = None
        if world.subsets and random.random() < 0.5:
            allowed = sorted(random.choice(arms, size=2, replace=False).tolist())
        q = both.ask(context, allowed)
        arm = int(random.choice(arms, p=q / q.sum()))
        t = both.play(context, arm)
        loss = float(random.choice(world.losses))
        if random.random() < 0.9 and not (world.silent_zeros and loss == 1.0):
            delay = int(random.geometric(1.0 / (1 + 8 * arm + 20 * loss))) - 1
            due.setdefault(t + delay, []).append((t, loss))
        elif random.random() < 0.3:
            due.setdefault(t + int(random.integers(40)), []).append((t, np.nan))
        for played, told in due.pop(t, []):
            if np.isnan(told):
                both.withdraw(played)
            else:
                both.tell(played, told)
    return both


@pytest.mark.parametrize("name", WORLDS)
def test_every_q_is_that_of_the_twin(name: str) -> None:
    """Through 120 rounds, in which the law of delays is renewed in each."""
    both = follow(WORLDS[name], 120, seed=len(name))
    weights = [play.weight for play in both.twin.plays if play.pending]
    assert max(weights) > 0.02  # silence has said something


@pytest.mark.parametrize("name", ["nothing declared", "conversions", "subsets of arms"])
def test_every_q_of_linear_thompson_is_that_of_its_twin(name: str) -> None:
    both = follow(WORLDS[name], 60, seed=len(name), kinds=THOMPSON)
    assert any(play.weight > 0.02 for play in both.twin.plays if play.pending)


@pytest.mark.long
@pytest.mark.core
@pytest.mark.parametrize("name", ["nothing declared", "conversions"])
def test_every_q_of_a_longer_game(name: str) -> None:
    """Beyond round 256 the law is renewed in every sixteenth round only."""
    follow(WORLDS[name], 330, seed=1)


def test_the_twin_without_contexts() -> None:
    """No features at all: x is 1, and arms are shrunk means."""
    follow(WORLDS["nothing declared"], 60, seed=3, features=0)


def test_the_warning_is_that_of_the_twin() -> None:
    """Conversions without a default are plainly that, sooner or later."""
    both = BothLayers(2, 0, World(None, True, (0.0, 1.0)))
    warned = []
    for t in range(1, 161):
        both.play(np.empty(0), t % 2)
        if t % 8 == 0:
            both.tell(t, 0.0)
        learner = both.driver.learner
        warned.append(learner.concern(both.driver.state) is not None)
        assert warned[-1] == both.twin.means_conversions()
    assert not warned[50]
    assert warned[-1]
