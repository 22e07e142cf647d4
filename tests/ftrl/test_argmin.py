"""The generic dual solver against the closed forms, on states that are not gentle."""

import numpy as np
import pytest

from belated.ftrl import (
    Hybrid,
    LogBarrierOnMarginals,
    NegativeEntropy,
    Nothing,
    Tsallis,
    argmin,
)
from belated.ftrl.rates import grid_weights
from tests.solvers.states import State
from tests.solvers.test_safe_solvers import concealed, full_information, partially_concealed


def random_problem(rng: np.random.Generator, largest: float) -> State:
    """Losses up to the given size, rates over more than five decades."""
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
@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(40))
def test_the_generic_solver_agrees_with_the_closed_forms(seed: int) -> None:
    """All three hybrids of the paper; losses up to 1e5, for the coupled barrier up to 1e3."""
    rng = np.random.default_rng([seed, 23])
    state = random_problem(rng, 1e5)
    arms, size = state.losses.shape
    prior = np.outer(state.prior, state.weights)
    centre = np.full((arms, 1), 1.0 / arms)
    entropy = Hybrid(NegativeEntropy(state.rates), Nothing(), prior, prior)
    q = argmin(entropy, state.losses).p.sum(axis=1)
    assert np.abs(q - full_information(state)[0]).max() <= 1e-10
    tsallis = Hybrid(Tsallis(state.eta), NegativeEntropy(state.gamma), centre, centre)
    q = argmin(tsallis, state.losses[:, :1]).p.sum(axis=1)
    assert np.abs(q - concealed(state)[0]).max() <= 1e-10
    gentler = random_problem(rng, 1e3)
    arms, size = gentler.losses.shape
    prior = np.outer(gentler.prior, gentler.weights)
    flat = np.full((arms, size), 1.0 / (arms * size))
    barrier = Hybrid(
        LogBarrierOnMarginals(gentler.eta), NegativeEntropy(gentler.rates), flat, prior
    )
    q = argmin(barrier, gentler.losses).p.sum(axis=1)
    assert np.abs(q - partially_concealed(gentler)[0]).max() <= 1e-10


def test_fast_and_slow_rates_beside_large_losses() -> None:
    """A state on which an earlier version returned a wrong answer without a word."""
    rates = np.array([1.6, 0.04])
    losses = np.array([[7304.0, 7449.0], [2403.0, 2831.0]])
    prior = np.full((2, 2), 0.25)
    p = argmin(Hybrid(NegativeEntropy(rates), Nothing(), prior, prior), losses).p
    assert p[1] == pytest.approx([1.0 - 9.5032e-9, 9.5032e-9], rel=1e-4)
