"""Optimistic-pessimistic successive elimination, OPSE (Lancewicki, Segal, Koren, Mansour 2021).

When a delay depends on its loss, the rewards that have arrived are a biased sample: large rewards
may come late. A missing reward therefore counts as 1 in an arm's upper bound and as 0 in its lower
bound, so that both hold whatever the outstanding rewards are.
"""

from dataclasses import dataclass
from typing import ClassVar

from belated.learners.stochastic.successive_elimination import SuccessiveElimination
from belated.types import Origin


@dataclass(frozen=True)
class OptimisticElimination(SuccessiveElimination):
    """Successive elimination that also counts missing rewards, for delays that depend on losses."""

    name: ClassVar[str] = "optimistic-elimination"
    counts_plays: ClassVar[bool] = True
    guarantee: ClassVar[str] = (
        "stochastic losses, delays that may depend on them: regret logarithmic in T, plus a term "
        "in quantiles of the delays"
    )
    origin: ClassVar[Origin] = Origin.MEMORY
    source: ClassVar[str] = "Lancewicki et al. 2021, from memory"
