"""An arm that never tells: what a learner wins if it is bad, it loses if it is good.

Its losses are all 0, or all 1; the other arm's are 1/2 and told at once. No learner can tell which,
so that its regrets in the two games add up to T/2. A bandit that is told what silence means, by
`default_loss`, can only choose which of the two games it prefers (docs/practical.md).
"""

import numpy as np
import pytest

from belated.arrays import Floats
from belated.environments.missing import NEVER
from belated.learners.contract import Learner
from belated.learners.paper.concealed import Concealed
from belated.learners.paper.full_information import FullInformation
from belated.learners.practical.practical_bandit import PracticalBandit
from belated.learners.practical.practical_experts import PracticalExperts
from tests.games import weights_of

ROUNDS = 2000
REPAIRED = {
    "bandit": Concealed(2, max_missing=ROUNDS, variant="repaired"),
    "experts": FullInformation(2, horizon=ROUNDS, variant="repaired"),
}
PRACTICAL: dict[str, Learner] = {"bandit": PracticalBandit(2), "experts": PracticalExperts(2)}


def weights(learner: Learner, untold: float) -> Floats:
    """q_t in the game whose first arm loses so much and never tells it."""
    losses = np.tile([untold, 0.5], (ROUNDS, 1))
    delays = np.tile([NEVER, 0], (ROUNDS, 1))
    uniform = np.random.default_rng(5).random(ROUNDS)
    return weights_of(learner, losses, delays, lambda t, q: int(uniform[t] >= q[0]))


@pytest.mark.long
@pytest.mark.parametrize("kind", ["bandit", "experts"])
def test_what_is_won_in_one_game_is_lost_in_the_other(kind: str) -> None:
    """The weights are the same in both, so that regrets add up to T/2; each prefers one game."""
    regrets = {}
    wary = (
        PracticalBandit(2, default_loss=1.0, certified=False)
        if kind == "bandit"
        else PRACTICAL[kind]
    )
    for name, learner in (("repaired", REPAIRED[kind]), ("practical", wary)):
        good, bad = weights(learner, 0.0), weights(learner, 1.0)
        np.testing.assert_array_equal(good, bad)
        regrets[name] = 0.5 * good[:, 1].sum(), 0.5 * bad[:, 0].sum()
        assert sum(regrets[name]) == pytest.approx(ROUNDS / 2)
    assert regrets["practical"][0] > 2.0 * regrets["repaired"][0]
    assert regrets["repaired"][1] > 2.0 * regrets["practical"][1]
