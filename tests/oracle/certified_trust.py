"""Theorem 4: which rounds may be played from any q at all, and what that can cost.

Conventions are those of tests/cases/beyond/CONVENTIONS.md; of the two readings of n_t this
is convention 28. Only the bookkeeping: where q comes from is no matter.
"""

from collections.abc import Callable
from typing import Any

from mpmath import mp

from .argmin import Number, Vector
from .script import BadInputError, Drawn, Script


class CertifiedTrust(Drawn):
    """The bookkeeping of Theorem 4 along the losses, delays and propensities of a case."""

    def __init__(self, case: dict[str, Any], number: Callable[[Any], Number] = mp.mpf) -> None:
        super().__init__(Script.read(case, number))
        self.beta = number(case["beta"])
        self.given = [[number(x) for x in row] for row in case["q"]]
        if any(len(row) != self.K or min(row) < 0 for row in self.given):
            raise BadInputError("q is T rows of K probabilities")
        self.trusted: list[bool] = []
        self.out: list[int] = []  # trusted plays outstanding at the start of each round so far

    def start(self) -> dict[str, Any]:
        t = self.round
        self.out.append(len(self.unknown(t)))
        C, b = self.regret_estimates(t), self.budget(t)
        self.trusted.append(self.is_trusted(C, b))
        self.q.append(self.propensities(t))
        return {"C": C, "b": b, "trusted": self.trusted[-1]}

    def propensities(self, t: int) -> Vector:
        """The q that the arm of round t is drawn from; any is allowed, here the case's."""
        return self.given[t - 1]

    def unknown(self, t: int) -> list[int]:
        """The trusted plays that are outstanding at the start of round t."""
        return [s for s in self.outstanding(t) if self.trusted[s - 1]]

    def known(self, t: int) -> list[int]:
        """The trusted plays whose losses are known at the start of round t."""
        return [s for s in self.told(t) if self.trusted[s - 1]]

    def importance_weighted(self, s: int) -> Number:
        """l_s(u)/q_s(u) of the played arm u = i_s, with q of round s as given."""
        return self.own_loss(s) / self.q[s - 1][self.arm(s)]

    def regret_estimates(self, t: int) -> Vector:
        """Convention 27: C_t(u) for every arm u, from the trusted rounds before t."""
        known = self.known(t)
        own = sum(self.own_loss(s) for s in known) + len(self.unknown(t))
        return [
            own - sum(self.importance_weighted(s) for s in known if self.arm(s) == u)
            for u in range(self.K)
        ]

    def most_outstanding(self, t: int) -> int:
        """Convention 28: n_t, the most trusted plays outstanding at the start of rounds 1..t."""
        return max(self.out[:t])

    def budget(self, t: int) -> Number:
        """Convention 30: b_t = beta sqrt(K t) + n_t."""
        return self.beta * mp.sqrt(self.K * t) + self.most_outstanding(t)

    def is_trusted(self, C: Vector, b: Number) -> bool:
        """Conventions 30 and 31: a tie is trusted, and so is every round of a single arm."""
        return self.K == 1 or max(C) <= b


def with_floor(q: Vector, C: Vector, b: Number, t: int, c: Number) -> Vector:
    """Convention 32: q raised to the exploration that keeps trust, and divided by its sum.

    The floor of arm u is min(1/(2K), c t/(b_t - C_t(u))^2), in a trusted round.
    """
    most = mp.mpf(1) / (2 * len(q))
    floors = [min(most, c * t / (b - x) ** 2) if x != b else most for x in C]
    raised = [max(x, y) for x, y in zip(q, floors, strict=True)]
    return [x / sum(raised) for x in raised]


class OtherReading(CertifiedTrust):
    """Convention 29: a trusted play counts as outstanding from the moment it is made."""

    def most_outstanding(self, t: int) -> int:
        made = [len(self.unknown(s)) + self.trusted[s - 1] for s in range(1, t)]
        return max(made, default=0)
