"""Eight decisions with all their numbers, which were worked out by other code.

Segments 0 1 0 1 ... and two arms. The policy plays arm 1 in segment 0 and arm 0 in segment 1.
"""

from typing import Any

import numpy as np

from belated.evaluation.estimators import ESTIMATORS, Inputs
from belated.evaluation.logs.journal import Journal
from belated.evaluation.silence import Corrected

SEGMENT = np.array([0, 1, 0, 1, 0, 1, 0, 1])
ARM = np.array([0, 0, 1, 1, 1, 0, 0, 1])
PROBABILITY = np.array([0.5, 0.8, 0.5, 0.2, 0.25, 0.5, 0.75, 0.5])
REWARD = np.array([0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0])
AGE = np.array([40.0, 35.0, 30.0, 25.0, 20.0, 15.0, 10.0, 5.0])
DELAY = np.array([3.0, np.inf, 8.0, 4.0, np.inf, 2.0, np.inf, 1.0])
MODEL = np.array([[0.2, 0.6], [0.7, 0.3]])  # by segment and arm
PARAMETERS = {"clipped-ips": 1.5, "switch-dr": 1.5, "cab": 1.5, "dros": 4.0}
ROWS = np.arange(8)
POLICY = np.eye(2)[1 - SEGMENT]

ROWS_AS_DICTS: list[dict[str, Any]] = [
    {
        "round": int(50 - AGE[k]),
        "arm": str(ARM[k]),
        "probability": float(PROBABILITY[k]),
        "reward": float(REWARD[k]),
        "delay": float(DELAY[k]),
        "context": {"segment": str(SEGMENT[k])},
    }
    for k in ROWS
]


def journal() -> Journal:
    """The log, which ends at 50."""
    return Journal.from_rows(ROWS_AS_DICTS, now=50, arms=["0", "1"])


def inputs(policy: Any, rows: Corrected) -> Inputs:
    """What the estimators read of a policy."""
    chances = np.empty((8, 2))
    chances[ROWS, ARM], chances[ROWS, 1 - ARM] = PROBABILITY, 1.0 - PROBABILITY
    parts = policy * MODEL[SEGMENT]
    return Inputs(
        weights=policy[ROWS, ARM] / PROBABILITY,
        factor=rows.factor,
        outcome=rows.outcome,
        model=MODEL[SEGMENT, ARM],
        model_value=parts.sum(axis=1),
        arm_weights=policy / chances,
        arm_parts=parts,
    )


def values(policy: Any, rows: Corrected) -> dict[str, float]:
    """The value by every estimator, and the effective sample size."""
    read = inputs(policy, rows)
    found = {
        name: float(each.terms(read, PARAMETERS.get(name, np.inf)).value(np.ones(8)))
        for name, each in ESTIMATORS.items()
    }
    known = read.weights * read.factor
    return {**found, "ESS": float(known.sum() ** 2 / (known * known).sum())}
