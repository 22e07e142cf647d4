"""Random games in the replay format, for comparing implementations round by round."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belated.analysis.certificates import certificate
from belated.analysis.regret import regret_against_arms
from belated.environments.missing import missing_counts


def assert_certified(
    losses: NDArray[np.float64],
    delays: NDArray[np.int64],
    predictions: Sequence[Any],
    prior: Sequence[float],
) -> None:
    """A full-information run keeps its a-posteriori bound for every arm and every rate."""
    rates = np.array([prediction.eta for prediction in predictions])
    bound = certificate(losses, missing_counts(delays), rates, np.array(prior))
    regret = regret_against_arms(np.array([prediction.q for prediction in predictions]), losses)
    assert (regret[:, None] <= bound * (1 + 1e-12) + 1e-12).all()


def random_game(
    rng: np.random.Generator, setting: str, variant: str, most_arms: int = 5, most_rounds: int = 24
) -> dict[str, Any]:
    """A case with any mixture of delays, never-arriving losses, priors and options."""
    arms = int(rng.integers(1, most_arms + 1))
    rounds = int(rng.integers(1, most_rounds + 1))
    losses = rng.random((rounds, arms)) ** rng.integers(1, 4)
    if rng.random() < 0.4:
        losses = (losses < rng.random(arms)).astype(float)
    if rng.random() < 0.05:
        losses[:] = 0.0
    longest = int(rng.integers(0, 12))
    delays = rng.integers(0, longest + 1, (rounds, arms)).tolist()
    if rng.random() < 0.4:
        never = rng.random((rounds, arms)) < 0.3 * rng.random(arms)
        delays = [
            [None if gone else delay for delay, gone in zip(row, lost, strict=True)]
            for row, lost in zip(delays, never.tolist(), strict=True)
        ]
    case: dict[str, Any] = {
        "setting": setting,
        "variant": variant,
        "K": arms,
        "T": rounds,
        "losses": losses.tolist(),
        "delays": delays,
    }
    if setting != "full":
        case["arms"] = rng.integers(0, arms, rounds).tolist()
        case["rho_star"] = int(rng.integers(0, 2 * longest + 2))
    if setting != "concealed" and rng.random() < 0.5:
        prior = rng.dirichlet(np.ones(arms)) + 0.01
        case["prior"] = (prior / prior.sum()).tolist()
    if setting == "concealed" and rng.random() < 0.3:
        case["options"] = {"gamma_weight": str(rng.choice(["q", "q+eps"]))}
    return case
