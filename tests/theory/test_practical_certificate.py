"""The certificate of the practical experts holds on every run; tampered with, it fails.

BELATED_SEQUENCES says how many random and how many searched games are played, 10,000 for all.
"""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from belated.arrays import Counts, Floats
from belated.environments.missing import NEVER
from belated.environments.scenarios import scenario, scenarios
from belated.learners.contract import Prediction
from belated.learners.practical.drift import BOLD, LEAST_DRIFT, sobering_temperature
from belated.learners.practical.experts_certificate import PracticalCertificate, level
from belated.learners.practical.practical_experts import STEADY, PracticalExperts
from belated.types import Setting
from tests.games import records_of
from tests.theory.games import DELAYS, LOSSES, Random
from tests.twins.practical_certificate import practical_certificate

SEQUENCES = int(os.environ.get("BELATED_SEQUENCES", "60"))
ROUNDS = 300  # of each scenario
Tamper = Callable[[Prediction, int], None]


class Tampered:
    """The learner, but somebody changes what it predicts before it is played."""

    setting = Setting.FULL_INFORMATION

    def __init__(self, arms: int, tamper: Tamper, early: bool) -> None:
        self.learner, self.tamper, self.early = PracticalExperts(arms), tamper, early
        self.commit, self.observe = self.learner.commit, self.learner.observe

    def start(self) -> Any:
        """If early, strategies are weighed from the first round on, so that short games show it.

        Where D'max begins is of no account for the proof.
        """
        state = self.learner.start()
        if self.early:
            state.mixing.most[0] = LEAST_DRIFT
        return state

    def predict(self, state: Any) -> Prediction:
        prediction = self.learner.predict(state)
        self.tamper(prediction, int(state.round[0]))
        return prediction


def leave(prediction: Prediction, round_: int) -> None:
    """Change nothing."""


def certified(
    losses: Floats, delays: Counts, tamper: Tamper = leave, early: bool = False
) -> PracticalCertificate:
    """The certificate of a game."""
    learner = Tampered(losses.shape[1], tamper, early)
    predictions = [record.prediction for record in records_of(learner, losses, delays)]
    found = practical_certificate(learner.learner, losses, predictions)
    np.testing.assert_allclose(found.regret, found.lost - losses.sum(axis=0), rtol=0, atol=1e-9)
    return found


# -- losses made to hurt


def alternating(random: Random, rounds: int, arms: int) -> Floats:
    """Two experts lose in turn, for as long as a delay lasts; the others are in between."""
    losses = np.full((rounds, arms), 0.5)
    turn = np.arange(rounds) // int(random.integers(1, 12)) % 2
    losses[:, 0], losses[:, -1] = turn, 1 - turn
    return losses


def reversing(random: Random, rounds: int, arms: int) -> Floats:
    """Whoever was good is bad from a round on, and once more."""
    means = random.random(arms)
    cuts = np.sort(random.integers(0, rounds, 2))
    flipped = np.searchsorted(cuts, np.arange(rounds), side="right") % 2 == 1
    return np.where(flipped[:, None], 1.0 - means, np.broadcast_to(means, (rounds, arms)))


def block_constant(random: Random, rounds: int, arms: int) -> Floats:
    """Coins, each of which is thrown once for a whole block."""
    length = int(random.integers(1, 20))
    coins = random.integers(0, 2, (rounds // length + 1, arms)).astype(np.float64)
    return np.repeat(coins, length, axis=0)[:rounds]


HOSTILE = {f.__name__: f for f in (alternating, reversing, block_constant)}
KINDS = LOSSES | HOSTILE


def random_game(seed: int) -> tuple[Floats, Counts]:
    """Any losses with any delays, those of each arm being its own as often as not."""
    random = np.random.default_rng([17, seed])
    rounds, arms = int(random.integers(1, 60)), int(random.integers(1, 6))
    losses = random.choice(list(KINDS.values()))(random, rounds, arms)
    delays = random.choice(list(DELAYS.values()))(random, rounds, arms)
    if random.random() < 0.5:
        slow = random.integers(0, 25, arms)
        delays = np.where(delays == NEVER, NEVER, delays + slow)
    return losses, delays


@pytest.mark.long
@pytest.mark.parametrize("name", [each.name for each in scenarios() if each.available])
def test_it_holds_on_every_scenario(name: str) -> None:
    """Played for a few hundred rounds."""
    block = next(iter(scenario(name).blocks(np.random.SeedSequence(1))))
    losses, delays = block.losses[:ROUNDS, :50], block.delays[:ROUNDS, :50]
    assert certified(losses, delays).holds


@pytest.mark.parametrize("losses", KINDS)
@pytest.mark.parametrize("delays", DELAYS)
def test_it_holds_on_every_kind_of_game(delays: str, losses: str) -> None:
    """Eight kinds of losses by eight kinds of delays."""
    random = np.random.default_rng(3)
    rounds, arms = int(random.integers(40, 120)), int(random.integers(2, 7))
    table = KINDS[losses](random, rounds, arms)
    assert certified(table, DELAYS[delays](random, rounds, arms)).holds


def test_it_holds_on_random_games() -> None:
    """Short ones, of one expert and of many, whether strategies are weighed early or not."""
    for early in (False, True):
        found = {seed: certified(*random_game(seed), early=early) for seed in range(SEQUENCES)}
        assert [seed for seed, each in found.items() if not each.holds] == []


def nearness(found: PracticalCertificate) -> float:
    """By how much the regret stays below its bound, the least over both levels."""
    pairs = (found.steady, found.mixing)
    return max(float((each.regret - each.bound).max()) for each in pairs)


def test_no_search_breaks_it() -> None:
    """Climbing towards the bound gets nearer to it, and never across."""
    for start in range(max(1, SEQUENCES // 30)):
        random = np.random.default_rng([29, start])
        game = random_game(start)
        first = best = nearness(certified(*game, early=True))
        for _ in range(30):
            candidate = mutated(random, *game)
            found = certified(*candidate, early=True)
            assert found.holds
            if nearness(found) >= best:
                best, game = nearness(found), candidate
        assert best >= first


def mutated(random: Random, losses: Floats, delays: Counts) -> tuple[Floats, Counts]:
    """Other losses or delays in a stretch of rounds of one arm."""
    losses, delays = losses.copy(), delays.copy()
    arm = int(random.integers(losses.shape[1]))
    first, last = np.sort(random.integers(0, len(losses) + 1, 2))
    if random.random() < 0.6:
        losses[first:last, arm] = random.integers(0, 2)
    else:
        delays[first:last, arm] = random.choice([0, 1, 5, 20, NEVER])
    return losses, delays


def test_it_is_no_bound_to_wave_at() -> None:
    """On hostile games the regret is a good part of it, at both levels."""
    parts = []
    for seed in range(10):
        random = np.random.default_rng(seed)
        losses = block_constant(random, 300, 3)
        found = certified(losses, np.full((300, 3), 5))
        parts.append(found.steady.regret.max() / found.steady.bound.max())
    assert max(parts) > 0.5


# -- faults, each of which must show


def uncounted(prediction: Prediction, round_: int) -> None:
    """The drift of the steady strategy is not counted."""
    prediction.info.steady.drift[0] = 0.0


def uncounted_above(prediction: Prediction, round_: int) -> None:
    """Nor is that of the mixture."""
    prediction.info.mixing.drift[0] = 0.0


def fading(prediction: Prediction, round_: int) -> None:
    """A tenth of the drift is forgotten in every round."""
    prediction.info.steady.drift[0] *= 0.9


def rising(prediction: Prediction, round_: int) -> None:
    """From round 30 on the rate of the steady strategy is again where it began."""
    if round_ >= 30:
        values, arms = prediction.info.imputed, prediction.q.size
        rate = 1.0 / sobering_temperature(LEAST_DRIFT, arms, BOLD)
        weights = np.exp(-rate * (values - values.min()))
        prediction.info.strategies[STEADY] = weights / weights.sum()
        account = prediction.info.steady
        account.most[0], prediction.eta[STEADY] = LEAST_DRIFT, rate
        account.level[0] = level(values, rate, np.full(arms, -np.log(arms)))


FAULTS = {fault.__name__: fault for fault in (uncounted, uncounted_above, fading, rising)}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_breaks_it(name: str) -> None:
    """On some game among a few, though every one of them is right without the fault."""
    broken = 0
    for seed in range(4):
        random = np.random.default_rng(seed)
        for kind in (alternating, block_constant, LOSSES["best_arm"]):
            losses = kind(random, 60, 3)
            delays = random.integers(0, 8, (60, 3))
            assert certified(losses, delays, early=True).holds
            broken += not certified(losses, delays, FAULTS[name], early=True).holds
    assert broken > 0
