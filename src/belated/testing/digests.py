"""Plays learners through random games and prints a digest of every bit that they compute.

`python -m belated.testing.digests exp3 concealed:variant=repaired` prints a line of JSON for each
spec: its digests by number of arms and round. A digest covers the weights, the plays and the whole
state of all rounds before, so that the first digest in which two runs differ tells where they
parted. With `--short` it plays a quarter of the rounds.
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from belated.features.encoder import UNKNOWN
from belated.learners.contract import Learner
from belated.learners.driver import Driver
from belated.learners.registry import learner_named, option_names
from belated.learners.states import leaves
from belated.numerics.random_stream import draw, seeded
from belated.play.readable import known_delay
from belated.specs import named_options
from belated.types import Setting

ROUNDS = {1: 50, 2: 200, 3: 300, 5: 1050, 10: 200, 17: 200}  # by number of arms: 2,000 in all
SHORT = {1: 50, 2: 50, 3: 100, 5: 200, 10: 50, 17: 50}  # 500 in all
STRETCH = 50  # rounds for each digest
LONGEST_DELAY = 40
LOST, WITHDRAWN = 0.1, 0.1  # shares of the losses that are never told, and that are withdrawn
LEFT_OUT = 0.1  # the share of arms that may not be drawn, and of numbers of contexts not known
NOTHING: Mapping[str, Any] = MappingProxyType({})
POLICIES_ARE_ARMS = 2  # with so many arms there are no policies but these
DETAILED_EVERY = 7  # rounds; in all others the learner may leave out what no one asks for
GIVEN = {
    "horizon": 2000,
    "total_delay": 20 * 2000,
    "max_delay": LONGEST_DELAY,
    "max_missing": LONGEST_DELAY,
    "mean_delay": 10.0,
    "delay_law": (0.1, 0.2, 0.5, 1.0),
    "features": 6,
    "action_features": 3,
    "policies": 4,
}


class Pending(NamedTuple):
    """A loss that is due; it is withdrawn if it is NaN."""

    due: int
    number: int
    row: Any
    arm: int
    loss: float
    missing: int


def learner_from(kind: Any, arms: int, options: Mapping[str, Any] = NOTHING) -> Learner:
    """A learner that is given whatever it must know beforehand."""
    known = {key: value for key, value in GIVEN.items() if key in option_names(kind)}
    if arms == POLICIES_ARE_ARMS:
        known.pop("policies", None)
    learner: Learner = kind(arms=arms, **{**known, **options})
    return learner


class DigestedGame:
    """A learner in a game with late, lost and withdrawn losses, whose level changes midway."""

    def __init__(self, learner: Learner, rounds: int) -> None:
        self.learner, self.rounds = learner, rounds
        self.driver = Driver(learner)
        self.random = np.random.default_rng(learner.arms)
        self.stream = seeded(learner.arms)
        self.pending: list[Pending] = []
        self.latest = 0  # when the last loss so far is due
        self.digest = hashlib.sha256()

    def digests(self) -> Iterator[str]:
        """Play all rounds; yields a digest after each stretch."""
        for number in range(self.rounds):
            self.play(number)
            self.tell(number)
            for array in leaves(self.driver.state).values():
                self.digest.update(array.tobytes())
            if (number + 1) % STRETCH == 0:
                yield self.digest.hexdigest()[:16]

    def play(self, number: int) -> None:
        """Predict and play one round, and settle when its losses are told."""
        driver, random, arms = self.driver, self.random, self.learner.arms
        self.foretell(number)
        prediction = driver.predict() if number % DETAILED_EVERY == 0 else None
        q = driver.weights()
        for array in leaves(prediction).values() if prediction else [q]:
            self.digest.update(array.tobytes())
        level = 0.9 if number < self.rounds // 2 else 0.3
        delays = random.integers(0, LONGEST_DELAY + 1, arms)
        losses = np.where(
            random.random(arms) < 0.5,
            random.random(arms) < np.linspace(0.1, level, arms),
            random.random(arms) * level,
        )
        losses[random.random(arms) < WITHDRAWN] = np.nan
        lost = random.random(arms) < LOST
        missing = random.integers(0, LONGEST_DELAY, arms)
        arm = int(draw(self.stream, q)) if driver.is_bandit else -1
        rows = driver.play(arm, known_delay(self.learner, int(delays[arm])))
        self.digest.update(rows.tobytes())
        for row, told in zip(rows, [arm] if driver.is_bandit else range(arms), strict=True):
            due = self.due(number, delays, told)
            if lost[told] and self.learner.delivery == "own":
                continue
            loss, count = float(losses[told]), int(missing[told])
            self.pending.append(Pending(due, number, row, told, loss, count))

    def foretell(self, number: int) -> None:
        """Tell what is known of a round before it: its context, its arms, advice and the time.

        Some of it is left out now and then, and some stands for several rounds.
        """
        learner, driver, random, arms = self.learner, self.driver, self.random, self.learner.arms
        if learner.keeps_time:
            driver.tick(1.7 * number)
        if learner.takes_advice and number % 3 == 0:
            advice = random.random((len(driver.state.advice), arms)) ** 4
            driver.advise(advice / advice.sum(axis=1, keepdims=True))
        if learner.takes_context:
            context = random.normal(1.0, 2.0, driver.state.model.context.size)
            context[random.random(context.size) < LEFT_OUT] = UNKNOWN
            eligible = np.where(random.random(arms) < LEFT_OUT, 0.0, 1.0)
            eligible[random.integers(arms)] = 1.0
            shape = np.shape(getattr(driver.state.model, "actions", ()))
            actions = [random.normal(0.0, 1.0, shape)] if learner.takes_actions else []
            driver.consider(None if number % 11 == 0 else context, eligible, *actions)

    def due(self, number: int, delays: Any, arm: int) -> int:
        """The round in which a loss of this round is told, by the learner's delivery."""
        if self.learner.delivery == "own":
            return number + int(delays[arm])
        self.latest = max(self.latest, number + int(delays.max()))
        return self.latest

    def tell(self, number: int) -> None:
        """Tell or withdraw what is due in this round."""
        tells_missing = self.learner.setting is Setting.PARTIALLY_CONCEALED
        due = [each for each in self.pending if each.due <= number]
        self.pending = [each for each in self.pending if each.due > number]
        for each in due:
            if np.isnan(each.loss):
                self.driver.withdraw(each.row, each.arm)
            else:
                missing = each.missing if tells_missing else -1
                self.driver.tell(each.row, each.arm, each.loss, missing)


def digests_of(
    kind: Any, options: Mapping[str, Any] = NOTHING, rounds_of: Mapping[int, int] = ROUNDS
) -> dict[str, str]:
    """The digests of a learner's games, by number of arms and round."""
    found = {}
    for arms, rounds in rounds_of.items():
        game = DigestedGame(learner_from(kind, arms, options), rounds)
        for k, digest in enumerate(game.digests(), 1):
            found[f"{arms} arms, round {k * STRETCH}"] = digest
    return found


if __name__ == "__main__":
    short = "--short" in sys.argv
    for each in sys.argv[1 + short :]:
        name, options = named_options(each)
        found = digests_of(learner_named(name), options, SHORT if short else ROUNDS)
        print(json.dumps({each: found}), flush=True)
