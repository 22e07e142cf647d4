"""Refusals of weights that are no probability distribution over the arms."""

from typing import Any

import numpy as np

from belated.learners.driver import PlayableLearner

SUM_TOLERANCE = 1e-6  # how far from 1 the sum of a learner's weights may be


def check_weights(learner: PlayableLearner, q: Any, arms: int, round_: int) -> None:
    """Refuse weights that are no probability distribution over the arms; rounds are from 1."""
    weights, name = np.asarray(q, dtype=np.float64), type(learner).__name__
    if weights.shape != (arms,):
        raise ValueError(
            f"{name} gives weights of shape {weights.shape}; there must be one for each arm, {arms}"
        )
    least, total = float(weights.min()), float(weights.sum())
    if not (least >= 0.0 and abs(total - 1.0) <= SUM_TOLERANCE):
        raise ValueError(
            f"{name} gives weights in round {round_} whose sum is {total:.6g} and whose least is "
            f"{least:.6g}; they must be at least 0 and their sum must be 1"
        )


def check_stretch(learner: PlayableLearner, q: Any, total: float, first: int, rounds: int) -> None:
    """Refuse a stretch of compiled rounds whose weights cannot all have been distributions.

    `total` is the sum of the weights over all arms and rounds of the stretch, and `q` has those of
    its last round; `first` is the number of its first round, from 1. Negative weights are seen in
    the last round only, so that the compiled loop need not look for them.
    """
    check_weights(learner, q, len(q), first + rounds - 1)
    if not abs(total - rounds) <= SUM_TOLERANCE * rounds:
        raise ValueError(
            f"{type(learner).__name__} gives weights in the rounds {first} to {first + rounds - 1} "
            f"whose sum is {total / rounds:.6g} on average; in each round their sum must be 1"
        )
