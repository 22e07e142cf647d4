"""What a linear model of rewards believes of each feature, and how surely.

The reward that the model foretells of an arm is linear in the vector x of a context (see `ridge`):
f(x) = m + x'theta, theta = P(b - m c). The posterior standard deviation of theta_j is sigma
sqrt(P_jj). The effect of a feature is what f(x) gains by one standard deviation more of a number,
or by the presence of a category. It is theta_j divided by the root by which x is shrunk. What the
last coordinate, the 1, adds to m is the arm's base.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.features.encoder import DeclaredEncoder, Encoder
from belated.learners.contextual.contextual_learner import ContextModel, ContextualLearner
from belated.learners.contextual.linear_model import LinearLearner, noise_of
from belated.learners.contextual.ridge import common_mean, spread_of


class Beliefs(NamedTuple):
    """The names of the features, and by arm their effects on the reward and standard errors.

    `base` is the reward foretold of an arm where all numbers are at their means and no category is
    present, with its standard error.
    """

    names: list[str]
    effects: Floats
    errors: Floats
    base: Floats
    base_error: Floats


def beliefs(learner: ContextualLearner, state: Any) -> Beliefs:
    """What a learner with a linear model of rewards believes, after all that it was told."""
    model: ContextModel = state.model
    mean, width = common_mean(model.ridge), learner.width
    sigma = noise_of(state.model) if isinstance(learner, LinearLearner) else spread_of(mean)
    shrink = 1.0 / math.sqrt(max(1, width - 1))
    theta, errors = np.empty((2, learner.arms, width))
    for arm in range(learner.arms):
        inverse = whole_matrix(model.ridge.inverse[arm], width)
        theta[arm] = inverse @ (model.ridge.rewards[arm] - mean * model.ridge.weights[arm])
        errors[arm] = sigma * np.sqrt(np.maximum(0.0, np.diag(inverse)))
    return Beliefs(
        feature_names(learner),
        shrink * theta[:, :-1],
        shrink * errors[:, :-1],
        mean + theta[:, -1],
        errors[:, -1],
    )


def whole_matrix(packed: Floats, width: int) -> Floats:
    """A symmetric matrix of which the rows from the diagonal on are given."""
    matrix = np.zeros((width, width))
    upper = np.triu_indices(width)
    matrix[upper] = packed
    matrix.T[upper] = packed
    return matrix


def feature_names(learner: ContextualLearner) -> list[str]:
    """The names of the coordinates of x without the last, products included."""
    names, scaled = coordinate_names(learner.encoder), learner.scaled()
    if learner.width - 1 == len(names):
        return names
    return names + products(names, scaled)


def products(names: Sequence[str], scaled: Floats) -> list[str]:
    """The names of the products of two coordinates, in the order of x (see `fill_features`)."""
    return [
        f"{names[i]} and {names[j]}"
        for i in range(len(names))
        for j in range(i if scaled[i] == 1.0 else i + 1, len(names))
    ]


def coordinate_names(encoder: Encoder) -> list[str]:
    """The names of the coordinates of a context; hashed ones have only numbers."""
    names = [f"hashed names, part {place + 1}" for place in range(encoder.width)]
    if not isinstance(encoder, DeclaredEncoder):
        return names
    for place in range(encoder.numbers, encoder.width):
        names[place] = f"hashed texts, part {place - encoder.numbers + 1}"
    for name, of in encoder.places.items():
        if of.categories is not None:
            for value, at in of.categories.items():
                names[of.first + at] = f"{name} = {value}"
            continue
        names[of.first] = name
        if of.optional:
            names[of.first + 1] = f"{name} is absent"
    return names
