"""Vowpal Wabbit: contextual bandits in C++ with a Python binding; mostly without any context."""

import random
from collections.abc import Callable, Mapping, Sequence

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


class VowpalContextual:
    """A contextual bandit by `--squarecb`, in which each action has all features of the context."""

    def __init__(self, arms: int) -> None:
        from vowpalwabbit import Workspace

        self._workspace = Workspace("--cb_explore_adf --squarecb -q sa --quiet --random_seed 1")
        self._actions = [f"|a {arm}" for arm in range(arms)]
        self._random = random.Random(1)
        self._shared, self._probabilities = "", list[float]()

    def text_of(self, numbers: Sequence[float]) -> str:
        """A context as Vowpal Wabbit reads it."""
        return "shared |s " + " ".join(f"{i}:{value:.6g}" for i, value in enumerate(numbers))

    def decide(self, shared: str) -> int:
        """Draw an action in a context."""
        self._shared = shared
        self._probabilities = self._workspace.predict([shared, *self._actions])
        return self._random.choices(range(len(self._actions)), self._probabilities)[0]

    def learn(self, arm: int, reward: float) -> None:
        """Learn the reward of the action that was drawn last; costs are negative rewards."""
        lines = [self._shared, *self._actions]
        lines[1 + arm] = f"0:{-reward}:{self._probabilities[arm]} {lines[1 + arm]}"
        self._workspace.learn(lines)


def policies() -> Mapping[str, Callable[[int], Policy]]:
    """Return the policies that are measured: epsilon-greedy, and a cover of three policies."""
    return {
        "vowpalwabbit epsilon": lambda arms: VowpalPolicy(arms, "--epsilon 0.1"),
        "vowpalwabbit cover": lambda arms: VowpalPolicy(arms, "--cover 3"),
    }


VOWPALWABBIT = BanditPeer("vowpalwabbit", "vowpalwabbit", ("vowpalwabbit",), policies=policies)
