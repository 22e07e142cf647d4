"""Branches: the ways in which a learner may play a round, where it has more than one.

A learner decides before the draw, from its state, in which way a round is played: the practical
bandit, for example, plays from its estimates or leaves the round to its fallback. What is proven of
such a learner counts a round where it was drawn. If another program drew the arm from an older
state, the present state may have chosen otherwise, so the branch is logged with the decision and
asked for when the round is played (see `Driver.play`).

A learner with several branches says so by `has_branches`. The info of its predictions has a field
`branch`, two whole numbers made by `free_choice`. Its `predict` calls `take_branch` and fills what
`commit` needs for this branch; `commit` reads branch[TAKEN].
"""

import numpy as np

from belated.arrays import Counts
from belated.compiled.kernels import compiled

TAKEN, ASKED = range(2)  # the places in a field `branch`
ANY = -1  # no branch is asked for: the learner chooses


def free_choice() -> Counts:
    """Make the field `branch` of a prediction in which the learner chooses."""
    return np.array([0, ANY], dtype=np.int64)


@compiled
def take_branch(branch: Counts, own: int) -> int:
    """Return the branch of the coming round: the one asked for, or else the learner's own."""
    branch[TAKEN] = own if branch[ASKED] == ANY else branch[ASKED]
    return int(branch[TAKEN])
