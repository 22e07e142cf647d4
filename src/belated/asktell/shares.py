"""Shares: the probabilities of a draw if some arms may not be drawn, or each has a least share."""

from typing import Any

import numpy as np

from belated.arrays import Floats
from belated.checks import as_number
from belated.compiled.ask_tell import COMMIT_ONLY, PREDICT_ONLY, Drawn, Runner, Workspace
from belated.learners.contract import Learner
from belated.numerics.random_stream import draw


def as_minimum_share(value: Any, arms: int) -> float:
    """The least probability of an arm that may be drawn; an error if not all arms can have it."""
    share = as_number(value, "minimum_share")
    if not 0.0 <= share * arms <= 1.0:
        raise ValueError(
            f"minimum_share is {share!r}; it must be at least 0 and, with {arms} arms, at most "
            f"{1.0 / arms:g}"
        )
    return share


def shares_of(weights: Floats, eligible: Floats | None, least: float) -> Floats:
    """The weights among the eligible arms (None: all), each raised to at least this share.

    With K eligible arms the share e of each is q <- (1 - K e) q + e.
    """
    shares = weights.copy() if eligible is None else weights * eligible
    total = float(shares.sum())
    if eligible is not None:
        if total <= 0.0:
            raise ValueError("no arm that may be drawn has any weight; allow more arms")
        shares /= total
    if least > 0.0:
        count = shares.size if eligible is None else int(eligible.sum())
        shares = (1.0 - count * least) * shares + least
        if eligible is not None:
            shares *= eligible
    return shares


def weights_among(learner: Learner, space: Workspace, eligible: Floats | None) -> Floats:
    """The weights that were predicted, in proportion to which one of the eligible arms is drawn."""
    if eligible is None:
        return np.asarray(space.prediction.q)
    return learner.weights_among(space.state, space.prediction, eligible)


def play_by_shares(
    learner: Learner, runner: Runner, eligible: Floats | None, least: float, tells_delay: bool
) -> tuple[Drawn, Floats]:
    """Predict, draw by shares and commit; returns what was drawn, and the shares.

    The learner is told the probability with which the arm was really drawn.
    """
    space = runner.workspace
    runner.ask(runner.address, PREDICT_ONLY)
    shares = shares_of(weights_among(learner, space, eligible), eligible, least)
    arm = draw(space.stream, shares)
    space.prediction.q[arm], space.given[0] = shares[arm], arm
    if tells_delay:
        space.plays[0, 0] = space.scratch[0, arm]
    return runner.ask(runner.address, COMMIT_ONLY), np.asarray(shares)
