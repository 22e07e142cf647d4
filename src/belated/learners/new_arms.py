"""How an arm enters a running game, for learners that follow the regularized leader (FTRL).

Such a learner plays q = argmin <q, L> + R(q), where L is the sum of its loss estimates so far. A
new arm has no estimates. It starts with <q, L>, the estimated loss of the learner's present
weights. Then the minimum of <q, L> + R(q), on which every FTRL regret bound rests, falls by no more
than what one arm adds to R. From its entry on the regret against the new arm is bounded like the
regret against the others. When an arm leaves, the minimum rises, which costs nothing against the
arms that stay. docs/service.md shows both cases in numbers.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from belated.learners.contract import Learner


def with_entrants(learner: Learner, state: Any, kept: Sequence[int], added: int) -> Any:
    """Return the state for the arms that are kept and `added` new ones.

    A new arm starts with the loss <q, L>, where q are the learner's weights over the kept arms.
    """
    stay = Learner.with_arms(learner, state, kept, 0)
    if added == 0:
        return stay
    q = replace(learner, arms=len(kept)).predict(stay).q
    entered = Learner.with_arms(learner, state, kept, added)
    entered.losses[len(kept) :] = math.fsum(q * stay.losses)
    return entered
