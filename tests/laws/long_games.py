"""Long games for any registered learner."""

from typing import Any

import numpy as np

from belated.environments.missing import NEVER
from belated.testing.trials import RandomGame, has


def long_game(kind: Any, rounds: int, arms: int = 3, **options: Any) -> RandomGame:
    """A game of some length with delays by arm, a tenth of which never end."""
    random = np.random.default_rng(11)
    delays = random.integers(0, [4, 20, 60], (rounds, arms))
    delays[random.random((rounds, arms)) < 0.1] = NEVER
    given = {"arms": arms, "horizon": rounds, "total_delay": 40 * rounds, "max_delay": 60}
    given |= {"max_missing": 60, "mean_delay": 20.0, "delay_law": (0.1, 0.5, 1.0), "features": 2}
    known = {name: value for name, value in given.items() if name == "arms" or has(kind, name)}
    nobody = np.zeros(rounds, dtype=np.int64)
    return RandomGame(kind, known | options, random.random((rounds, arms)), delays, nobody)
