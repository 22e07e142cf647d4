"""Vowpal Wabbit: contextual bandits in C++ with a Python binding; here without any context."""

import random
from collections.abc import Callable, Mapping

from benchmarks.peers.peer import BanditPeer, Policy


class VowpalPolicy:
    """A bandit by `--cb_explore`, which predicts probabilities and learns the costs of actions."""

    def __init__(self, arms: int, exploration: str) -> None:
        from vowpalwabbit import Workspace

        self._workspace = Workspace(f"--cb_explore {arms} {exploration} --quiet --random_seed 1")
        self._arms = range(arms)
        self._random = random.Random(1)
        self._probabilities: list[float] = []

    def decide(self) -> int:
        """Draw an action."""
        self._probabilities = self._workspace.predict("|")
        return self._random.choices(self._arms, self._probabilities)[0]

    def learn(self, arm: int, reward: float) -> None:
        """Learn a reward; actions are counted from 1, and costs are negative rewards."""
        self._workspace.learn(f"{arm + 1}:{-reward}:{self._probabilities[arm]} |")


def policies() -> Mapping[str, Callable[[int], Policy]]:
    """Return the policies that are measured: epsilon-greedy, and a cover of three policies."""
    return {
        "vowpalwabbit epsilon": lambda arms: VowpalPolicy(arms, "--epsilon 0.1"),
        "vowpalwabbit cover": lambda arms: VowpalPolicy(arms, "--cover 3"),
    }


VOWPALWABBIT = BanditPeer("vowpalwabbit", "vowpalwabbit", ("vowpalwabbit",), policies=policies)
