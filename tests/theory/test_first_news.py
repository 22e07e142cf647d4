"""The first news is true or turns out wrong: what a learner wins if it acts on it, it may lose.

Two arms differ for as long as news takes. Then, in one game, they go on as before, and in the other
they swap. Until the first news of that comes, both games look the same to every learner, so that
what it loses in them adds up to as much as if it did not learn (docs/practical.md).
"""

import numpy as np
import pytest

from belated.arrays import Floats
from belated.learners.contract import Learner
from tests.games import weights_of
from tests.theory.test_untold_arm import PRACTICAL, REPAIRED

LATE = 300  # rounds that news takes


def weights(learner: Learner, swapped: bool) -> tuple[Floats, Floats]:
    """q_t and the losses, for as long as the second half of the game is not heard of."""
    first = np.tile([0.0, 1.0], (LATE, 1))
    losses = np.concatenate([first, 1.0 - first if swapped else first])
    delays = np.full((2 * LATE, 2), LATE - 1)
    uniform = np.random.default_rng(5).random(2 * LATE)
    return weights_of(learner, losses, delays, lambda t, q: int(uniform[t] >= q[0])), losses


@pytest.mark.parametrize("kind", ["bandit", "experts"])
def test_what_is_won_if_the_news_is_right_is_lost_if_it_is_wrong(kind: str) -> None:
    """Against a half a round, which both arms lose in the end if they swap."""
    lost = {}
    for name, learner in (("repaired", REPAIRED[kind]), ("practical", PRACTICAL[kind])):
        (right, as_before), (wrong, swapped) = weights(learner, False), weights(learner, True)
        np.testing.assert_array_equal(right, wrong)
        lost[name] = [
            (q * losses)[LATE:].sum() - LATE / 2
            for q, losses in ((right, as_before), (wrong, swapped))
        ]
        assert sum(lost[name]) == pytest.approx(0.0, abs=1e-9)
    assert lost["practical"][0] < 2.0 * lost["repaired"][0] < 0.0
    assert lost["practical"][1] > 2.0 * lost["repaired"][1] > 0.0
