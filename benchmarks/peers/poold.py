"""PoolD: optimistic online learning under delay, for experts that all have the same delay."""

from collections.abc import Callable, Mapping

import numpy as np

from belated.arrays import Floats
from benchmarks.peers.peer import ExpertsPeer, Step

DELAY = 9  # rounds; shorter than those of our own learner, which is to PoolD's advantage


class PoolDStep:
    """A learner of PoolD's, told the losses of each round DELAY rounds later."""

    def __init__(self, name: str, arms: int) -> None:
        import poold

        self._learner = poold.create(name, model_list=[str(i) for i in range(arms)])
        self._losses: list[Floats] = []

    def __call__(self, losses: Floats) -> Floats:
        """Play a round: tell the learner the losses that are due, and return its weights."""
        due = len(self._losses) - 1 - DELAY
        feedback = [] if due < 0 else [(due, self._linear(self._losses[due]))]
        self._losses.append(losses)
        weights: Floats = np.asarray(self._learner.update_and_play(feedback, hint=None))
        return weights

    @staticmethod
    def _linear(losses: Floats) -> dict[str, Callable[[Floats], Floats]]:
        return {"fun": lambda w: np.dot(losses, w), "grad": lambda w: losses}


def learners() -> Mapping[str, Callable[[int], Step]]:
    """Return the learners that are measured: DORM+, AdaHedgeD and DUB."""
    return {
        "PoolD DORM+": lambda arms: PoolDStep("dormplus", arms),
        "PoolD AdaHedgeD": lambda arms: PoolDStep("adahedged", arms),
        "PoolD DUB": lambda arms: PoolDStep("dub", arms),
    }


POOLD = ExpertsPeer("PoolD", "poold", ("poold",), learners=learners)
