"""Rivals against an independent simulation: the same game, other code, the same mean regret.

The table is of a vectorised script that shares nothing with this package: 5 arms, 2000 rounds,
Bernoulli losses of means .3 and .5, 400 runs (Banker-TINF: 60); pseudo-regret with its standard
error.
"""

import math

import numpy as np
import pytest

from belated.comparison.compare import compare
from belated.comparison.contenders import Contender
from belated.environments.delays import PerArm
from belated.environments.environment import Environment
from belated.environments.losses import Bernoulli

pytestmark = pytest.mark.compiled  # slow without
MEANS = np.array([0.3, 0.5, 0.5, 0.5, 0.5])
ROUNDS, RUNS = 2000, 60
DELAYS = {"none": (0,) * 5, "constant": (20,) * 5, "late best": (100, 0, 0, 0, 0)}
TABLE = {
    "dew": {"none": (158.5, 1.1), "constant": (247.7, 0.6), "late best": (305.6, 0.2)},
    "gyorgy-joulani": {"none": (140.8, 1.4), "constant": (236.4, 0.8), "late best": (238.4, 0.5)},
    "zimmert-seldin": {"none": (82.3, 1.2), "constant": (243.0, 0.7), "late best": (244.0, 0.5)},
    "concealed": {"none": (161.4, 0.9), "constant": (256.0, 0.6), "late best": (256.1, 0.4)},
    "bold-tsallis": {"none": (81.8, 1.2), "constant": (263.9, 0.6), "late best": (295.5, 0.5)},
    "delayed-ucb1": {"none": (130.8, 0.9), "constant": (138.1, 0.8), "late best": (129.1, 0.8)},
    "banker-tinf": {"none": (84.8, 3.9), "constant": (244.2, 2.3), "late best": (227.7, 3.1)},
    "qpm-d": {"none": (130.8, 0.9), "constant": (136.7, 0.8), "late best": (127.5, 0.8)},
}


def contenders(longest: int) -> list[Contender]:
    """DEW was tuned with sum_t max_i d_t(i), the concealed learner with max_missing = max d."""
    told = {
        "dew": {"total_delay": ROUNDS * longest, "max_delay": longest},
        "concealed": {"max_missing": longest},
    }
    return [Contender(name, told.get(name, {})) for name in TABLE]


@pytest.mark.parametrize("delay", DELAYS)
def test_pseudo_regret_is_that_of_the_reference(delay: str) -> None:
    """Within four combined standard errors, for every algorithm of the table."""
    environment = Environment("table", Bernoulli(MEANS.tolist()), PerArm(DELAYS[delay]), ROUNDS)
    result = compare(contenders(max(DELAYS[delay])), environment, repetitions=RUNS, seed=12)
    for k, name in enumerate(TABLE):
        gaps = MEANS - MEANS.min()
        regrets = np.array([trace.weight_at[-1] @ gaps for trace in result.traces[k]])
        mean, error = TABLE[name][delay]
        combined = math.hypot(error, float(regrets.std(ddof=1)) / math.sqrt(RUNS))
        assert abs(regrets.mean() - mean) <= 4.0 * combined, (name, regrets.mean(), combined)
