"""The record of a game of the practical bandit's twin: all plays, and what became of them."""

import numpy as np
from numpy.typing import NDArray

from belated.arrays import Floats

LAST_BIN = 13


class Record:
    """Row s - 1 has the play of round s; nothing is ever summed up or thrown away.

    Probabilities and trust are in the oracle's own record (`Account`).
    """

    def __init__(self, arms: int, rounds: int) -> None:
        self.arms, self.number = arms, 0
        self.arm = np.zeros(rounds, np.int64)
        self.forecasts, self.evidence = np.zeros((rounds, 2)), np.zeros(rounds)
        self.loss = np.full(rounds, np.nan)
        self.came = np.full(rounds, np.inf)  # the round before whose play the loss came
        self.withdrawn = np.full(rounds, np.inf)

    @property
    def round(self) -> int:
        """The round whose arm is the next to be drawn."""
        return self.number + 1

    def play(self, arm: int, forecasts: Floats, evidence: float) -> None:
        """The arm of the present round was drawn; forecasts and evidence are frozen."""
        s = self.number
        self.arm[s], self.forecasts[s], self.evidence[s] = arm, forecasts, evidence
        self.number += 1

    def tell(self, round_: int, loss: float) -> None:
        assert self.pending()[round_ - 1]
        self.loss[round_ - 1], self.came[round_ - 1] = loss, self.round

    def withdraw(self, round_: int) -> None:
        assert self.pending()[round_ - 1]
        self.withdrawn[round_ - 1] = self.round

    def told(self) -> NDArray[np.bool_]:
        """Of every row, whether its loss has come."""
        told: NDArray[np.bool_] = np.isfinite(self.came)
        return told

    def pending(self) -> NDArray[np.bool_]:
        """Of every row, whether it was played and its loss may still come."""
        pending: NDArray[np.bool_] = (self.ages() > 0) & ~self.told() & np.isinf(self.withdrawn)
        return pending

    def ages(self) -> NDArray[np.int64]:
        """Of every row, its age in the present round; at most zero before it is played."""
        return self.round - np.arange(1, self.arm.size + 1)

    def bins(self) -> NDArray[np.int64]:
        """Of every row, the bin of its age: ages 1, 2 to 3, 4 to 7, and so on."""
        bins: NDArray[np.int64] = np.floor(np.log2(np.maximum(1, self.ages()))).astype(np.int64)
        return np.minimum(LAST_BIN, bins)
