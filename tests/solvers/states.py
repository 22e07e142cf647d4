"""Random states for the solvers: all sizes, losses from 0 to 1e9, rates over twelve decades."""

from dataclasses import dataclass

import numpy as np

from belated.arrays import Floats


@dataclass(frozen=True)
class State:
    """The inputs of the three argmins; the concealed one takes the first column of the losses."""

    losses: Floats
    prior: Floats
    weights: Floats
    rates: Floats
    eta: float
    gamma: float

    def moved(self, rng: np.random.Generator) -> "State":
        """The state a round later: one arm's losses grow, and the rates shrink a little."""
        losses = self.losses.copy()
        arm = int(rng.integers(len(losses)))
        losses[arm] += rng.random() / max(1e-3, rng.random())
        shrink = 1.0 - 0.1 * rng.random() ** 3
        return State(
            losses,
            self.prior,
            self.weights,
            self.rates * shrink,
            self.eta * shrink,
            self.gamma * shrink,
        )


def random_state(rng: np.random.Generator, most_arms: int = 10_000, most_rates: int = 20) -> State:
    """A state of random size; one in five has rates of any size side by side."""
    arms = int(np.exp(rng.uniform(0.0, np.log(most_arms + 1.0))))
    size = int(rng.integers(1, most_rates + 1))
    prior = np.full(arms, 1.0 / arms)
    if rng.random() < 0.5:
        prior = rng.dirichlet(np.full(arms, 10 ** rng.uniform(-1.0, 1.0))) + 1e-9
        prior /= prior.sum()
    weights = 4.0 ** -np.arange(1.0, size + 1.0)
    rates = 10 ** rng.uniform(-9, 3, size)
    if rng.random() < 0.8:
        rates = rates[0] * np.minimum(1.0, 2.0 ** (rng.integers(0, 4) - np.arange(size)))
    return State(
        losses=random_losses(rng, arms, rates),
        prior=prior,
        weights=weights / weights.sum(),
        rates=rates,
        eta=float(10 ** rng.uniform(-9, 3)),
        gamma=np.inf if rng.random() < 0.1 else float(10 ** rng.uniform(-9, 3)),
    )


def random_losses(rng: np.random.Generator, arms: int, rates: Floats) -> Floats:
    """Cumulative losses: equal, corrected as the learners do, or without any order."""
    scale = 10 ** rng.uniform(-3, 9)
    base = scale * rng.random(arms) ** rng.integers(1, 4)
    kind = rng.random()
    if kind < 0.05:
        return np.zeros((arms, len(rates)))
    if kind < 0.6:
        losses = base[:, None] * (1.0 + rng.random((arms, 1)) * rates / rates.max())
    else:
        losses = base[:, None] * rng.random((arms, len(rates)))
    offset = 1e9 * rng.random() if rng.random() < 0.3 else 0.0
    return np.minimum(losses + offset, 1e9)
