"""The losses, delays and draws of a replay case, and which of them are known when.

Conventions 1 to 5 of tests/cases/beyond/CONVENTIONS.md. Rounds are counted from 1, arms and
policies from 0. Numbers are taken as given, exactly: decimals as the doubles that they are read as.
"""

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from mpmath import mp

from .argmin import Matrix, Number, Vector

SUMS_TO_ONE = 1e-12  # how far a row of advice, or a prior, may be from a sum of 1 (convention 5)


class BadInputError(ValueError):
    """A case that breaks convention 5, or that no theorem covers."""


@dataclass(frozen=True)
class Script:
    """The losses and delays of a game, fixed beforehand; a delay of None is infinite."""

    K: int
    T: int
    losses: Matrix
    delays: list[list[float]]

    @classmethod
    def read(cls, case: dict[str, Any], number: Callable[[Any], Number] = mp.mpf) -> Self:
        """Losses and delays of a case, with the numbers as mpf or, say, as fractions."""
        K, T = case["K"], case["T"]
        losses = [[number(x) for x in row] for row in case["losses"]]
        delays = [[math.inf if d is None else d for d in row] for row in case["delays"]]
        for rows in (losses, delays):
            if len(rows) != T or any(len(row) != K for row in rows):
                raise BadInputError("losses and delays are T rows of K numbers")
        return cls(K, T, losses, delays)

    def loss(self, s: int, i: int) -> Number:
        return self.losses[s - 1][i]

    def is_known(self, s: int, i: int, t: int) -> bool:
        """Convention 1: loss (s, i) is known from the start of round s + d + 1 on."""
        return s + self.delays[s - 1][i] < t


class Drawn(ABC):
    """A learner of own plays: `start` of round t, then `play` of the arm drawn, and so on.

    Only lists grow, by one entry a round: what was in force in round s stays in its entry s - 1
    (convention 4), and everything else is rebuilt from the entries each time.
    """

    def __init__(self, script: Script) -> None:
        self.script, self.K = script, script.K
        self.arms: list[int] = []
        self.q: Matrix = []

    @property
    def round(self) -> int:
        """The round whose arm is the next to be drawn."""
        return len(self.arms) + 1

    @abstractmethod
    def start(self) -> dict[str, Any]:
        """Begin the present round; return its row of every array of the answer."""

    def play(self, arm: int) -> None:
        """End the present round, in which `arm` was drawn."""
        if not self.q[self.round - 1][arm] > 0:
            raise BadInputError("a played arm has q = 0")
        self.arms.append(arm)

    def replay(self, arms: Sequence[int]) -> Iterator[dict[str, Any]]:
        """All rounds with given draws, one by one."""
        for arm in arms:
            yield self.start()
            self.play(arm)

    def fork(self) -> Self:
        """Return a twin that may be played on by itself."""
        twin = copy.copy(self)
        lists = {key: list(x) for key, x in vars(self).items() if isinstance(x, list)}
        vars(twin).update(lists)
        return twin

    def arm(self, s: int) -> int:
        return self.arms[s - 1]

    def own_loss(self, s: int) -> Number:
        """l_s(i_s)."""
        return self.script.loss(s, self.arm(s))

    def is_told(self, s: int, t: int) -> bool:
        """Whether the loss of play s is known at the start of round t (convention 1)."""
        return self.script.is_known(s, self.arm(s), t)

    def told(self, t: int) -> list[int]:
        """The plays s < t whose losses are known at the start of round t."""
        return [s for s in range(1, t) if self.is_told(s, t)]

    def outstanding(self, t: int) -> list[int]:
        """The plays s < t with s + d_s(i_s) >= t; round t itself never counts (convention 1)."""
        return [s for s in range(1, t) if not self.is_told(s, t)]

    def exploration(self, t: int) -> Number:
        """eps_t = 1/sqrt(K t) (conventions 14 and 18)."""
        return 1 / mp.sqrt(self.K * t)


def distribution(row: Sequence[Any], name: str, positive: bool = False) -> Vector:
    """A row of advice or a prior, as given (convention 5)."""
    numbers = [mp.mpf(x) for x in row]
    least = min(numbers)
    if least < 0 or (positive and least == 0) or abs(sum(numbers) - 1) > SUMS_TO_ONE:
        raise BadInputError(f"{name} is not a distribution: {[float(x) for x in numbers]}")
    return numbers


def softmin(prior: Vector, rate: Number, losses: Vector) -> Vector:
    """p(n) ~ prior(n) exp(-rate losses(n)), with sum 1."""
    best = min(losses)
    powers = [x * mp.exp(rate * (best - y)) for x, y in zip(prior, losses, strict=True)]
    return [x / sum(powers) for x in powers]
