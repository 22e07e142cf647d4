"""The generic dual solver against the closed forms, with large losses and extreme rates."""

import numpy as np
import pytest

from belated.ftrl import (
    HybridRegularizer,
    LogBarrierOnMarginals,
    NegativeEntropy,
    Tsallis,
    ZeroRegularizer,
    argmin,
)
from belated.ftrl.rates import grid_weights
from tests.solvers.states import State
from tests.solvers.test_safe_solvers import concealed, full_information, partially_concealed


def random_problem(rng: np.random.Generator, largest: float) -> State:
    """A random argmin problem: losses up to the given size, rates over more than five decades."""
    arms, size = int(rng.integers(1, 7)), int(rng.integers(1, 6))
    prior = rng.dirichlet(np.ones(arms)) + 0.01
    return State(
        losses=largest ** rng.uniform(-0.2, 1.0) * rng.random((arms, size)),
        prior=prior / prior.sum(),
        weights=grid_weights(size),
        rates=10 ** rng.uniform(-4.0, 1.5) * 2.0 ** -np.arange(size),
        eta=float(10 ** rng.uniform(-3.0, 1.0)),
        gamma=float(10 ** rng.uniform(-4.0, 1.5)),
    )


@pytest.mark.core
@pytest.mark.parametrize("seed", range(40))
def test_the_generic_solver_agrees_with_the_closed_forms(seed: int) -> None:
    """All three regularizers of the paper; losses up to 1e5, for the log barrier up to 1e3."""
    rng = np.random.default_rng([seed, 23])
    state = random_problem(rng, 1e5)
    arms, size = state.losses.shape
    prior = np.outer(state.prior, state.weights)
    centre = np.full((arms, 1), 1.0 / arms)
    entropy = HybridRegularizer(NegativeEntropy(state.rates), ZeroRegularizer(), prior, prior)
    q = argmin(entropy, state.losses).p.sum(axis=1)
    assert np.abs(q - full_information(state)[0]).max() <= 1e-10
    tsallis = HybridRegularizer(Tsallis(state.eta), NegativeEntropy(state.gamma), centre, centre)
    q = argmin(tsallis, state.losses[:, :1]).p.sum(axis=1)
    assert np.abs(q - concealed(state)[0]).max() <= 1e-10
    gentler = random_problem(rng, 1e3)
    arms, size = gentler.losses.shape
    prior = np.outer(gentler.prior, gentler.weights)
    flat = np.full((arms, size), 1.0 / (arms * size))
    barrier = HybridRegularizer(
        LogBarrierOnMarginals(gentler.eta), NegativeEntropy(gentler.rates), flat, prior
    )
    q = argmin(barrier, gentler.losses).p.sum(axis=1)
    assert np.abs(q - partially_concealed(gentler)[0]).max() <= 1e-10


def test_fast_and_slow_rates_beside_large_losses() -> None:
    """A case for which an earlier version silently returned a wrong result."""
    rates = np.array([1.6, 0.04])
    losses = np.array([[7304.0, 7449.0], [2403.0, 2831.0]])
    prior = np.full((2, 2), 0.25)
    p = argmin(HybridRegularizer(NegativeEntropy(rates), ZeroRegularizer(), prior, prior), losses).p
    assert p[1] == pytest.approx([1.0 - 9.5032e-9, 9.5032e-9], rel=1e-4)
