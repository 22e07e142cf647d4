"""A draw from some of the arms: the others may not be shown this time.

The weights of the arms that are left are divided by their sum. The probability in the journal is
that of the draw as it was made, so that a loss is weighed with the true one. Such a decision keeps
the weights it was drawn with, by which `verify` can check it.
"""

import numpy as np

from belated.arrays import Floats
from belated.service.core.errors import InvalidRequestError, StateConflictError
from belated.service.core.problems import ServedProblem


def check_may_leave_out(problem: ServedProblem) -> None:
    """Refuse to leave arms out if the learner of a problem would learn from it wrongly."""
    if not (problem.is_bandit and problem.learner.can_leave_arms_out):
        raise InvalidRequestError(
            f"some arms are left out, and {problem.name!r} runs {problem.learner.name!r}, which "
            "would take an arm that could not be drawn for one without loss; send all arms and "
            "exclude none, or take practical-bandit, thompson or uniform"
        )


def weights_among(problem: ServedProblem, weights: Floats, among: frozenset[str]) -> Floats:
    """The weights if only these arms may be drawn; an error if none of them has any weight."""
    check_may_leave_out(problem)
    shares = np.where([arm in among for arm in problem.arms], weights, 0.0)
    total = float(shares.sum())
    if total <= 0.0:
        raise StateConflictError(
            f"no arm of {problem.name!r} that may be drawn has any weight; send more of its arms"
        )
    return shares / total


def written_weights(
    problem: ServedProblem, weights: Floats, among: frozenset[str] | None
) -> dict[str, float] | None:
    """The weights that a decision keeps: those of experts, or those of a draw from some arms."""
    if problem.is_bandit and among is None:
        return None
    pairs = zip(problem.arms, weights.tolist(), strict=True)
    return {arm: share for arm, share in pairs if among is None or arm in among}
