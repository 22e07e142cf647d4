"""The reference that weights are held against is right, and finds what is wrong with them."""

from typing import Any

import numpy as np
import pytest

from belated.ftrl.argmin import argmin
from belated.ftrl.regularizers import (
    HybridRegularizer,
    LogBarrierOnMarginals,
    NegativeEntropy,
    Tsallis,
    ZeroRegularizer,
)
from belated.learners.contract import Learner, Prediction
from benchmarks.reference import CONDITIONS, relative_error
from benchmarks.workload import engine_run, game_of, learner_of, long_stretches

ARMS = 5


def after_rounds(name: str, arms: int = ARMS, rounds: int = 400) -> tuple[Learner, Any, Prediction]:
    """A learner, its state after some rounds, and what it predicts from there."""
    game, learner = game_of(arms), learner_of(name, arms)
    run = engine_run(learner, game)
    run.play(next(long_stretches(game, rounds)))
    return learner, run.run.state, learner.predict(run.run.state)


def readable(learner: Learner, state: Any, prediction: Prediction) -> np.ndarray:
    """q by the readable layer, which knows any regularizer."""
    uniform, losses, name = np.full((ARMS, 1), 1.0 / ARMS), learner.losses(state), learner.name
    if name == "concealed":
        parts = Tsallis(prediction.eta[0]), NegativeEntropy(prediction.gamma[0])
        return argmin(HybridRegularizer(*parts, uniform, uniform), losses).p[:, 0]
    prior = np.exp(state.columns.log_prior[:, None] + state.columns.log_weight)
    centre = np.full(prior.shape, 1.0 / prior.size)
    if name == "full-information":
        regularizer = HybridRegularizer(
            NegativeEntropy(prediction.eta), ZeroRegularizer(), prior, prior
        )
    else:
        barrier = LogBarrierOnMarginals(prediction.eta[0])
        regularizer = HybridRegularizer(barrier, NegativeEntropy(prediction.gamma), centre, prior)
    return argmin(regularizer, losses).p.sum(axis=1)


@pytest.mark.parametrize("name", CONDITIONS)
def test_it_agrees_with_the_readable_layer_from_afar(name: str) -> None:
    """Started from equal weights, it knows how far these are from the readable answer."""
    learner, state, prediction = after_rounds(name)
    answer = readable(learner, state, prediction)
    assert np.ptp(answer) > 0.01
    uniform = np.full(ARMS, 1.0 / ARMS)
    far = float(np.abs(uniform / answer - 1.0).max())
    found = relative_error(learner, state, prediction._replace(q=uniform))
    assert found == pytest.approx(far, rel=1e-8)


@pytest.mark.parametrize("arms", [2, 300])
@pytest.mark.parametrize("name", CONDITIONS)
def test_it_finds_a_small_error_and_only_that(name: str, arms: int) -> None:
    """The learner's weights are exact; one of them changed by 1e-9 is not."""
    learner, state, prediction = after_rounds(name, arms)
    assert relative_error(learner, state, prediction) < 1e-12
    prediction.q[1] *= 1.0 + 1e-9
    assert relative_error(learner, state, prediction) == pytest.approx(1e-9, rel=1e-3)
