"""Algorithm 1 (alg:framework) as the paper writes it: delayed FTRL with corrections, from parts.

Slow, general and readable; the compiled learners are checked against it.
"""

from belated.ftrl.argmin import Solution, argmin
from belated.ftrl.framework import DelayedFTRL, State
from belated.ftrl.instances import (
    concealed,
    full_information,
    partially_concealed,
)
from belated.ftrl.regularizers import (
    Hybrid,
    LogBarrierOnMarginals,
    NegativeEntropy,
    Nothing,
    Regularizer,
    Tsallis,
    bregman,
)

__all__ = [
    "DelayedFTRL",
    "Hybrid",
    "LogBarrierOnMarginals",
    "NegativeEntropy",
    "Nothing",
    "Regularizer",
    "Solution",
    "State",
    "Tsallis",
    "argmin",
    "bregman",
    "concealed",
    "full_information",
    "partially_concealed",
]
