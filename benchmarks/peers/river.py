"""river: online machine learning in Python; three of its bandit policies."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.peers.peer import BanditPeer, Policy


class RiverPolicy:
    """A policy of river's, called as its documentation does."""

    def __init__(self, policy: Any, arms: int) -> None:
        self.decide = functools.partial(policy.pull, range(arms))
        self.learn = policy.update


def policies() -> Mapping[str, Callable[[int], Policy]]:
    """Return the policies that are measured: Exp3, UCB and epsilon-greedy.

    Exp3's gamma is small because its weights only grow, and overflow the sooner the larger it is.
    """
    from river import bandit

    return {
        "river Exp3": lambda arms: RiverPolicy(bandit.Exp3(gamma=0.01, seed=1), arms),
        "river UCB": lambda arms: RiverPolicy(bandit.UCB(delta=1, seed=1), arms),
        "river EpsilonGreedy": lambda arms: RiverPolicy(
            bandit.EpsilonGreedy(epsilon=0.1, seed=1), arms
        ),
    }


RIVER = BanditPeer("river", "river", ("river.bandit",), policies=policies)
