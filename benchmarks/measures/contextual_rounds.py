"""Measure 31: a round with a context against Vowpal Wabbit's, and the size of what is saved."""

from collections.abc import Iterator

import numpy as np

import belated
from belated.arrays import Floats
from benchmarks.measure import BYTES, Effort, Result, at_least, at_most, exactly
from benchmarks.peers.vowpalwabbit import VOWPALWABBIT, VowpalContextual
from benchmarks.timing import race, sized
from benchmarks.workload import SEED

ARMS, NUMBERS = 10, 32
ROWS = 1024  # a number of contexts
LATE = 50  # rounds; all rewards of ours take so long, those of the peer none
TIMES_FASTER, LARGEST = 10.0, 200_000
FEATURES = {f"feature {k}": "number" for k in range(NUMBERS)}


class Visitors:
    """Contexts of 32 numbers, and coins whose means are linear in them."""

    def __init__(self) -> None:
        chance = np.random.default_rng(SEED)
        self.rows: Floats = chance.standard_normal((ROWS, NUMBERS))
        directions = chance.standard_normal((NUMBERS, ARMS)) / np.sqrt(NUMBERS)
        means = 0.5 + 0.25 * self.rows @ directions
        self.rewards = (chance.random(means.shape) < means).astype(float).tolist()
        self.dicts = [dict(zip(FEATURES, row, strict=True)) for row in self.rows.tolist()]


class OurVisitors:
    """Rounds of ours: each asks with a dict, and tells the reward of fifty rounds before."""

    def __init__(self, world: Visitors) -> None:
        self.bandit = belated.Bandit(ARMS, learner="linear", features=FEATURES, seed=SEED)
        self.world, self.now = world, 0
        self.waiting: list[tuple[belated.Ticket, float]] = []

    def __call__(self, count: int) -> None:
        ask, tell, waiting = self.bandit.ask, self.bandit.tell, self.waiting
        dicts, rewards = self.world.dicts, self.world.rewards
        for now in range(self.now, self.now + count):
            ticket = ask(context=dicts[now % ROWS])
            waiting.append((ticket, rewards[now % ROWS][ticket.arm]))
            if len(waiting) > LATE:
                earlier, reward = waiting.pop(0)
                tell(earlier, reward=reward)
        self.now += count


class TheirVisitors:
    """Rounds of Vowpal Wabbit: decide and learn at once; the text of a context is made before."""

    def __init__(self, world: Visitors) -> None:
        self.policy, self.world, self.now = VowpalContextual(ARMS), world, 0
        self.texts = [self.policy.text_of(row) for row in world.rows.tolist()]

    def __call__(self, count: int) -> None:
        policy, texts, rewards = self.policy, self.texts, self.world.rewards
        for now in range(self.now, self.now + count):
            arm = policy.decide(texts[now % ROWS])
            policy.learn(arm, rewards[now % ROWS][arm])
        self.now += count


def contextual_rounds(effort: Effort) -> Iterator[Result]:
    """Measure 31: ask and tell with a context, in turns with the peer, and the bytes of JSON."""
    world, seconds = Visitors(), effort.choose(0.05, 0.005)
    ours = OurVisitors(world)
    ours(effort.choose(3_000, 100))
    contestants = [sized("belated", ours, seconds)]
    if VOWPALWABBIT.presence.usable:
        contestants.append(sized("vowpalwabbit squarecb", TheirVisitors(world), seconds))
    result = race(contestants, effort.turns)
    for rival in contestants[1:]:
        yield Result(
            rival.name,
            result.ratio(rival.name, to="belated"),
            arms=ARMS,
            goal=at_least(TIMES_FASTER),
            ours=result.time("belated"),
            rival=result.time(rival.name),
        )
    for ticket, reward in ours.waiting:
        ours.bandit.tell(ticket, reward=reward)
    size = exactly(float(len(ours.bandit.to_json())))
    yield Result("saved as JSON", size, BYTES, ARMS, at_most(LARGEST))
