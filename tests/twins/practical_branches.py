"""The oracles of Theorem 4 and Prop. 2 along the record of the practical bandit's twin."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpmath import mp

from tests.oracle.argmin import Number, Vector
from tests.oracle.certified_trust import CertifiedTrust
from tests.oracle.script import Drawn, Script
from tests.oracle.without_promise import WithoutPromise
from tests.twins.practical_record import Record


@dataclass(frozen=True)
class RecordedScript(Script):
    """The losses of some rounds of a record, numbered from 1; a withdrawn play is never known."""

    record: Record
    number: Callable[[Any], Number]
    rounds: list[int] | None = None  # all of them, if not given

    @classmethod
    def of(
        cls, record: Record, number: Callable[[Any], Number], rounds: list[int] | None = None
    ) -> "RecordedScript":
        return cls(record.arms, 0, [], [], record, number, rounds)

    def loss(self, s: int, i: int) -> Number:
        return self.number(float(self.record.loss[self.of_game(s) - 1]))

    def is_known(self, s: int, i: int, t: int) -> bool:
        return bool(self.record.came[self.of_game(s) - 1] <= self.of_game(t))

    def of_game(self, s: int) -> int:
        """The round of the game that has the number s here."""
        return s if self.rounds is None else self.rounds[s - 1]


class Account(CertifiedTrust):
    """Theorem 4 along a record, in doubles."""

    def __init__(self, record: Record, beta: float, certified: bool) -> None:
        Drawn.__init__(self, RecordedScript.of(record, float))
        self.record, self.beta, self.certified = record, beta, certified
        self.trusted: list[bool] = []
        self.out: list[int] = []

    def told(self, t: int) -> list[int]:
        return [int(s) for s in np.flatnonzero(self.record.came[: t - 1] <= t) + 1]

    def outstanding(self, t: int) -> list[int]:
        return [int(s) for s in np.flatnonzero(self.record.came[: t - 1] > t) + 1]

    def propensities(self, t: int) -> Vector:
        return []  # the twin puts it there when it has computed it

    def is_trusted(self, C: Vector, b: Number) -> bool:
        return not self.certified or super().is_trusted(C, b)


class Fallback(WithoutPromise):
    """Prop. 2, for which the rounds without trust are the whole game."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.of_game: list[int] = []
        Drawn.__init__(self, RecordedScript.of(record, mp.mpf, self.of_game))
        self.w, self.gamma = [], []

    def q_of_round(self) -> Vector:
        """q of the game's present round, which is one without trust."""
        self.of_game.append(self.record.round)
        row = self.start()
        return list(row["q"])

    def outstanding(self, t: int) -> list[int]:
        """A play that was withdrawn is no longer waited for."""
        kept = super().outstanding(t)
        now = self.of_game[t - 1]
        return [s for s in kept if self.record.withdrawn[self.of_game[s - 1] - 1] > now]
