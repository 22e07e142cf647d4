"""How an arm enters a game that is under way, for learners that follow the regularized leader.

Such a learner plays q = argmin <q, L> + R(q), L being its estimates of all losses so far. A new arm
has none; it enters at <q, L>, what the learner's present weights have lost by its own estimates.
Then the least value of <q, L> + R(q), on which every regret bound of this kind rests, falls by no
more than what one arm adds to R; and from its entry on the regret to the new arm is bounded like
that to the others. An arm that leaves makes the least value rise, which costs nothing against the
arms that stay.
docs/service.md has both in numbers.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from belated.learners.contract import Learner


def with_entrants(learner: Learner, state: Any, kept: Sequence[int], added: int) -> Any:
    """The state with other arms, of which the new ones enter at <q, L>, q that of the kept arms."""
    stay = Learner.with_arms(learner, state, kept, 0)
    if added == 0:
        return stay
    q = replace(learner, arms=len(kept)).predict(stay).q
    entered = Learner.with_arms(learner, state, kept, added)
    entered.losses[len(kept) :] = math.fsum(q * stay.losses)
    return entered
