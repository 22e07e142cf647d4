"""Goals for learners that see contexts: what a policy that sees them would have lost in a game.

The best arm is a weak goal where contexts matter. Two stronger ones are known when the game is
over. One is the linear policy that a ridge regression on the losses of all arms gives in hindsight.
The other, if the environment knows its means, is the arm of smallest mean loss in each round.
"""

import numpy as np

from belated.arrays import Counts, Floats
from belated.play.game import Game, Stretch

LINEAR_POLICY, TRUE_MEANS = "best linear policy", "true means"
RIDGE = 1.0


def contextual_goals(game: Game) -> dict[str, float]:
    """The total loss of each goal in a game; empty if the game has no contexts."""
    if game.environment.contexts is None:
        return {}
    weights, by_means = fitted(game)
    lost = 0.0
    for stretch in game.stretches():
        lost += loss_of(stretch, (with_one(stretch) @ weights).argmin(axis=1))
    goals = {LINEAR_POLICY: lost}
    return goals if by_means is None else goals | {TRUE_MEANS: by_means}


def fitted(game: Game) -> tuple[Floats, float | None]:
    """Weights of a ridge regression for each arm (column), and what the true means would lose."""
    width, arms = len(game.environment.features) + 1, game.environment.arms
    squares, products = RIDGE * np.eye(width), np.zeros((width, arms))
    by_means: float | None = 0.0
    for stretch in game.stretches():
        rows = with_one(stretch)
        squares += rows.T @ rows
        products += rows.T @ stretch.losses
        if stretch.means is None or by_means is None:
            by_means = None
        else:
            by_means += loss_of(stretch, stretch.means.argmin(axis=1))
    return np.linalg.solve(squares, products).astype(np.float64), by_means


def with_one(stretch: Stretch) -> Floats:
    """The contexts of a stretch, each followed by 1."""
    assert stretch.contexts is not None
    return np.column_stack([stretch.contexts, np.ones(len(stretch.contexts))])


def loss_of(stretch: Stretch, arms: Counts) -> float:
    """The total loss of playing these arms in the rounds of a stretch."""
    return float(stretch.losses[np.arange(len(arms)), arms].sum())
