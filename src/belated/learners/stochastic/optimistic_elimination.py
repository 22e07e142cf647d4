"""Optimistic-pessimistic successive elimination, OPSE (Lancewicki, Segal, Koren, Mansour 2021).

When a delay depends on its loss, what has arrived is no fair sample: good news may come late.
A missing reward is taken for 1 in an arm's upper bound and for 0 in its lower bound, so both hold
whatever is still under way.
"""

from dataclasses import dataclass
from typing import ClassVar

from belated.learners.stochastic.successive_elimination import SuccessiveElimination


@dataclass(frozen=True)
class OptimisticElimination(SuccessiveElimination):
    """Successive elimination that counts plays; for delays that may depend on the losses."""

    name: ClassVar[str] = "optimistic-elimination"
    counts_plays: ClassVar[bool] = True
    guarantee: ClassVar[str] = (
        "stochastic losses, delays that may depend on them: regret logarithmic in T, plus a term "
        "in quantiles of the delays"
    )
    source: ClassVar[str] = "Lancewicki et al. 2021, from memory"
