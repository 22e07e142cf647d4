"""D-KLUCB (Vernade, Cappé, Perchet 2017): D-UCB with bounds from the Poisson divergence.

For small means, such as conversion rates, its bounds are tighter than those of D-UCB, and they need
no correction for plays whose reward has not arrived yet.
"""

from dataclasses import dataclass
from typing import ClassVar

from belated.learners.stochastic.d_ucb import DUcb
from belated.types import Origin


@dataclass(frozen=True)
class DKlUcb(DUcb):
    """D-KLUCB, which finds each upper bound by a few steps of Newton's method."""

    name: ClassVar[str] = "d-klucb"
    poisson: ClassVar[bool] = True
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = "Vernade et al. 2017, read in others' notes, which cap the index at 1"
