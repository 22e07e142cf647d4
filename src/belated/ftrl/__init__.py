"""Algorithm 1 of the paper (alg:framework): delayed FTRL with corrections, built from parts.

This package is written to be read next to the paper. It is plain numpy, slow and general; the
compiled learners in `belated.learners.paper` are tested against it round by round.

- `framework`: `DelayedFTRL`, the algorithm line for line, and its `State`
- `instances`: the paper's three learners, each a choice of parts for `DelayedFTRL`
- `advice`: two learners over policies, which are not in the paper
- `ledger`: the record of every play and every loss that has arrived
- `regularizers`: Psi, Phi and their sum R_t, each with value, gradient and Hessian
- `argmin`: the prediction eq:frameworkprediction for any regularizer
- `rates`: grids and schedules of learning rates, and the prior over a grid
- `estimators`: the loss estimates ltil of the three settings
- `skipping`: which plays the concealed learner no longer waits for (beyond the paper)
- `corrections`: the corrections a that are added to the estimates
- `analysis`: the terms of the paper's regret analysis, computed for a finished run
"""

from belated.ftrl.advice import advice, advice_bandit
from belated.ftrl.argmin import Solution, argmin
from belated.ftrl.framework import DelayedFTRL, State
from belated.ftrl.instances import (
    concealed,
    full_information,
    partially_concealed,
)
from belated.ftrl.regularizers import (
    HybridRegularizer,
    LogBarrierOnMarginals,
    NegativeEntropy,
    Regularizer,
    Tsallis,
    ZeroRegularizer,
    bregman,
)

__all__ = [
    "DelayedFTRL",
    "HybridRegularizer",
    "LogBarrierOnMarginals",
    "NegativeEntropy",
    "Regularizer",
    "Solution",
    "State",
    "Tsallis",
    "ZeroRegularizer",
    "advice",
    "advice_bandit",
    "argmin",
    "bregman",
    "concealed",
    "full_information",
    "partially_concealed",
]
