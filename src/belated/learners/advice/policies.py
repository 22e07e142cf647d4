"""What learners over policies share: the policies, their prior, and the mixture of their advice.

The advice of the coming round is a part of the learner's state: anyone who drives the learner puts
it there (`Learner.advise`) before `predict` is called. It stands until there is other advice. So a
state is all that a round depends on, as with every learner, and saving, copying and comparing
states need know nothing of advice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from belated.arrays import Floats
from belated.checks import as_names, checked_prior
from belated.compiled.kernels import compiled
from belated.learners.contract import Learner
from belated.numerics.lanes import LANES, Lanes, load, spread, store_part, store_whole, whole
from belated.types import Arm, Covers, Need


@compiled
def mix(weights: Floats, advice: Floats, q: Floats) -> None:
    """Fill in q_t(i) = sum_n p_t(n) xi_t(n, i), the mixture of what the policies advise."""
    end = whole(q.shape[0])
    for i in range(0, end, LANES):
        store_whole(q, i, mixed(weights, advice, i, False))
    if end < q.shape[0]:
        store_part(q, end, mixed(weights, advice, end, True))


@compiled
def mixed(weights: Floats, advice: Floats, i: int, part: bool) -> Lanes:
    """Return the mixture for the four arms from i on."""
    sum_ = spread(0.0)
    for n in range(weights.shape[0]):
        sum_ = sum_ + weights[n] * load(advice[n], i, 0.0, part)
    return sum_


@dataclass(frozen=True)
class Advised(Learner):
    """A learner of policies, given by their names or how many there are.

    If none are given, there is one for each arm, which always advises that arm. Policies that are
    given advise all arms equally until there is other advice.
    """

    policies: Sequence[Arm] | int | None = None

    needs: ClassVar[tuple[Need, ...]] = (Need.ADVICE,)
    covers: ClassVar[Covers] = Covers.ANY

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.policies is not None:
            object.__setattr__(self, "policies", as_names(self.policies, "policies"))

    @property
    def policy_names(self) -> tuple[Arm, ...]:
        """The names of the policies that give advice; empty if the arms stand for them."""
        return () if self.policies is None else as_names(self.policies, "policies")

    @property
    def takes_advice(self) -> bool:
        return self.policies is not None

    @property
    def size(self) -> int:
        """N, the number of policies."""
        return len(self.policy_names) or self.arms

    def first_advice(self) -> Floats:
        """What the policies advise until there is other advice."""
        if self.policies is None:
            return np.eye(self.arms)
        return np.full((self.size, self.arms), 1.0 / self.arms)


@dataclass(frozen=True)
class OverPolicies(Advised):
    """A learner that weighs policies, with a prior over them."""

    prior: Sequence[float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        word = "arm" if self.policies is None else "policy"
        prior = checked_prior(self.prior, self.size, word)
        if 0.0 in prior:
            raise ValueError("prior holds 0.0; every policy must have a weight above 0")
        object.__setattr__(self, "prior", prior)
