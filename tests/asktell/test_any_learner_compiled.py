"""Sessions with any learner, their steps compiled, for a few that stand for all.

They are one that keeps a promise, one that is told delays, and one of experts whose state grows.
"""

import numpy as np
import pytest

from belated.learners.registry import registered
from belated.testing.hands import by_hand, by_the_loop, in_hand
from tests.laws.long_games import long_game

pytestmark = [pytest.mark.core, pytest.mark.compiled]


@pytest.mark.filterwarnings("ignore::belated.BelatedWarning")
@pytest.mark.parametrize("name", ["partially-concealed", "dew-skipping", "bold-hedge"])
def test_compiled_steps_play_as_the_readable_loop(name: str) -> None:
    """Every q_t of a game with late and lost feedback, resumed twice, up to rounding."""
    game = long_game(registered()[name], 80)
    learner = in_hand(game)
    expected = by_the_loop(game, learner._learner)
    played = by_hand(game, learner, resume_every=30)
    np.testing.assert_allclose(played, expected, rtol=1e-9, atol=1e-12)
