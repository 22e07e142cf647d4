"""Rounds as a user plays them: our ask and tell, and the decide and learn of a peer."""

import random
from dataclasses import dataclass, field

from belated import ConcealedBandit, Ticket
from benchmarks.peers.peer import Policy
from benchmarks.workload import MAX_MISSING, SEED, delays_of, means_of

DRAWS = 4096
RING = 64  # a number of rounds larger than any delay


@dataclass
class World:
    """The outcomes of decisions: Bernoulli losses by the arm's mean, after the arm's delay."""

    arms: int
    means: list[float] = field(init=False)
    delays: list[int] = field(init=False)
    draws: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.means, self.delays = means_of(self.arms), delays_of(self.arms)
        drawing = random.Random(SEED)
        self.draws = [drawing.random() for _ in range(DRAWS)]


class OurRounds:
    """Rounds of ours: ask, and tell each loss when it arrives, up to 49 rounds later."""

    def __init__(self, bandit: ConcealedBandit, world: World) -> None:
        self.bandit, self.world, self.now = bandit, world, 0
        self.arriving: list[list[tuple[Ticket, float]]] = [[] for _ in range(RING)]

    def __call__(self, count: int) -> None:
        ask, tell, arriving = self.bandit.ask, self.bandit.tell, self.arriving
        means, delays, draws = self.world.means, self.world.delays, self.world.draws
        for now in range(self.now, self.now + count):
            ticket = ask()
            arm = ticket.arm
            loss = 1.0 if draws[now % DRAWS] < means[arm] else 0.0
            arriving[(now + delays[arm]) % RING].append((ticket, loss))
            due = arriving[now % RING]
            for earlier, known in due:
                tell(earlier, known)
            due.clear()
        self.now += count


class TheirRounds:
    """Rounds of a peer: decide and learn at once, since peers have no delays."""

    def __init__(self, policy: Policy, world: World) -> None:
        self.policy, self.world, self.now = policy, world, 0

    def __call__(self, count: int) -> None:
        decide, learn = self.policy.decide, self.policy.learn
        means, draws = self.world.means, self.world.draws
        for now in range(self.now, self.now + count):
            arm = decide()
            learn(arm, 0.0 if draws[now % DRAWS] < means[arm] else 1.0)
        self.now += count


def bandit(arms: int, grouped: bool = True) -> ConcealedBandit:
    """Make a concealed bandit; if `grouped`, it keeps arms without a loss as one group."""
    made = ConcealedBandit(arms, max_missing=MAX_MISSING, seed=SEED)
    if not grouped:
        made._group(False)
    return made
