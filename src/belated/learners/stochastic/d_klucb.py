"""D-KLUCB (Vernade, Cappé, Perchet 2017): D-UCB with the tighter bounds of Poisson's divergence.

For small means, such as rates of conversion, its bounds are narrower than those of D-UCB, and the
widths need no correction for plays whose reward is still to come.
"""

from dataclasses import dataclass
from typing import ClassVar

from belated.learners.stochastic.d_ucb import DUcb


@dataclass(frozen=True)
class DKlUcb(DUcb):
    """D-KLUCB. Each bound is found by a few steps of Newton's method."""

    name: ClassVar[str] = "d-klucb"
    poisson: ClassVar[bool] = True
    source: ClassVar[str] = "Vernade et al. 2017, from memory"
