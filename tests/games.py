"""Games for tests: random ones, and learners played through them by the readable loop."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belated.analysis.certificates import certificate
from belated.analysis.regret import regrets
from belated.arrays import Counts, Floats
from belated.environments.missing import NEVER, missing_counts
from belated.learners.advice.advice import Advice
from belated.learners.contract import Learner
from belated.learners.driver import PlayableLearner, driver_for
from belated.learners.paper.full_information_certificate import certificate_from
from belated.play.readable import Choice, RoundRecord, rounds_of
from belated.testing.trials import contexts_for, whole_game

ARMS = (1, 2, 3, 7)


def records_of(
    learner: PlayableLearner,
    losses: Floats,
    delays: Counts,
    choose: Choice = lambda t, q: -1,
    state: Any = None,
) -> list[RoundRecord]:
    """All rounds of a learner in a game; `choose` gives the arm of a bandit."""
    game = whole_game(losses, delays, contexts_for(learner, len(losses)))
    return list(rounds_of(driver_for(learner, state), [game], choose))


def weights_of(
    learner: PlayableLearner,
    losses: Floats,
    delays: Counts,
    choose: Choice = lambda t, q: -1,
    state: Any = None,
) -> Floats:
    """q_t in row t - 1 of a learner in a game; `choose` gives the arm of a bandit."""
    records = records_of(learner, losses, delays, choose, state)
    return np.array([record.prediction.q for record in records])


def assert_certified(
    losses: NDArray[np.float64],
    delays: NDArray[np.int64],
    predictions: Sequence[Any],
    prior: Sequence[float],
) -> None:
    """A full-information run keeps its a-posteriori bound for every arm and every rate."""
    rates = np.array([prediction.eta for prediction in predictions])
    bound = certificate(losses, missing_counts(delays), rates, np.array(prior))
    q = np.array([prediction.q for prediction in predictions])
    regret = regrets(float((q * losses).sum()), losses.sum(axis=0))
    assert (regret[:, None] <= bound * (1 + 1e-12) + 1e-12).all()


def assert_policies_certified(learner: Advice, losses: Floats, predictions: Sequence[Any]) -> None:
    """A run of the learner over policies keeps Theorem 5's bound for every policy and rate."""
    lost = np.array(
        [each.info.strategies @ row for each, row in zip(predictions, losses, strict=True)]
    )
    multiples = np.array([each.info.multiples for each in predictions])
    charges = (multiples * lost).T @ np.array([each.eta for each in predictions])
    apart = -np.log(np.array(learner.prior))
    bound = certificate_from(apart, charges, predictions[-1].eta)
    own = sum(float(each.q @ row) for each, row in zip(predictions, losses, strict=True))
    regret = own - lost.sum(axis=0)
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


class Table(NamedTuple):
    """Losses and delays of every round and arm, and the random numbers that choose the arms."""

    losses: Floats
    delays: Counts
    draws: Floats

    def finite(self) -> Floats:
        """The delays, infinite where a loss never comes."""
        return np.where(self.delays == NEVER, np.inf, self.delays)


class Played(NamedTuple):
    """q_t in row t - 1, the arms of a bandit, and the state after the last round."""

    q: Floats
    arms: Counts
    state: Any


def random_table(seed: int, rounds: int, arms: int, never: float = 0.05) -> Table:
    """Delays of every arm's own: many of them zero, some long, some infinite."""
    random = np.random.default_rng(seed)
    shape = (rounds, arms)
    delays = random.choice([0, 0, 0, 1, 2, 3, 9], shape)
    delays[random.random(shape) < 0.1] += 20
    delays[random.random(shape) < never / arms] = NEVER
    losses = random.random(shape)
    losses[random.random(shape) < 0.5] //= 0.5
    return Table(losses, delays, random.random(rounds))


def shared_delay(table: Table, delay: int) -> Table:
    """The same with one delay for all."""
    return table._replace(delays=np.full_like(table.delays, delay))


def played(learner: Learner, table: Table, state: Any = None) -> Played:
    """Play a table; arms are drawn, with a little probability for each, lest estimates explode."""
    arms: list[int] = []

    def choose(t: int, q: Floats) -> int:
        mixed = np.cumsum(0.9 * q + 0.1 / q.size)
        arms.append(int(np.searchsorted(mixed, table.draws[t] * mixed[-1], side="right")))
        return arms[-1]

    driver = driver_for(learner, state)
    records = list(rounds_of(driver, [whole_game(table.losses, table.delays)], choose))
    q = np.array([record.prediction.q for record in records])
    return Played(q, np.array(arms), driver.state)


def softmin(losses: Floats, eta: float) -> Floats:
    """Weights in proportion to exp(-eta losses)."""
    weights: Floats = np.exp(-eta * (losses - losses.min()))
    return weights / weights.sum()


def told_after(learner: Learner, table: Table, arms: Counts) -> Floats:
    """By round, at the end of which it is told: with its last loss, or the played arm's own."""
    index = np.arange(len(table.draws))
    if learner.delivery == "own" and arms.size:
        return index + table.finite()[index, arms]
    return index + table.finite().max(axis=1)
