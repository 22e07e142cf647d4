"""mabwiser: bandits that are built on pandas and scikit-learn."""

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.peers.peer import BanditPeer, Policy


class MabwiserPolicy:
    """A learning policy that is first told a reward of 0 for every arm, which it needs to start."""

    def __init__(self, policy: Any, arms: int) -> None:
        from mabwiser.mab import MAB

        self._bandit = MAB(list(range(arms)), policy, seed=1)
        self._bandit.fit(list(range(arms)), [0] * arms)
        self.decide = self._bandit.predict

    def learn(self, arm: int, reward: float) -> None:
        """Add one reward."""
        self._bandit.partial_fit([arm], [reward])


def policies() -> Mapping[str, Callable[[int], Policy]]:
    """Return the policies that are measured: UCB1, softmax and Thompson sampling."""
    from mabwiser.mab import LearningPolicy

    return {
        "mabwiser UCB1": lambda arms: MabwiserPolicy(LearningPolicy.UCB1(), arms),
        "mabwiser Softmax": lambda arms: MabwiserPolicy(LearningPolicy.Softmax(), arms),
        "mabwiser Thompson": lambda arms: MabwiserPolicy(LearningPolicy.ThompsonSampling(), arms),
    }


MABWISER = BanditPeer("mabwiser", "mabwiser", ("mabwiser.mab",), policies=policies)
