"""Theorem 9: the learner of Prop. 2 which skips plays that wait too long.

Conventions are those of tests/cases/beyond/CONVENTIONS.md. `skipped` holds the plays that
are skipped at the start of each round, counted from 1.
"""

from collections.abc import Collection
from typing import Any

from mpmath import mp

from .argmin import Number
from .without_promise import WithoutPromise


class Skipping(WithoutPromise):
    """The learner of Theorem 9 along the losses and delays of a case."""

    def __init__(self, case: dict[str, Any]) -> None:
        super().__init__(case)
        self.skipped: list[list[int]] = []

    def start(self) -> dict[str, Any]:
        t = self.round
        self.skipped.append(self.newly_skipped(t))
        row = super().start()
        return row | {"skipped": [s - 1 for s in self.skipped[-1]], "Z": self.Z(t)}

    def is_skipped(self, s: int, t: int) -> bool:
        """Whether play s was skipped at the start of round t or before; it stays so (24)."""
        return any(s in plays for plays in self.skipped[:t])

    def outstanding(self, t: int) -> list[int]:
        """Convention 25: the outstanding plays that are not skipped, after the skips of round t."""
        return [s for s in super().outstanding(t) if not self.is_skipped(s, t)]

    def told(self, t: int) -> list[int]:
        """Convention 24: the loss of a skipped play is ignored when it comes."""
        return [s for s in super().told(t) if not self.is_skipped(s, t)]

    def contribution(self, s: int, t: int) -> Number:
        """Convention 22: c_s at the start of round t.

        The weight of play s, once for each later play of its arm that was made before round t and
        while s was outstanding and not skipped.
        """
        later = [r for r in range(s + 1, t) if self.arm(r) == self.arm(s)]
        return self.weight(s) * sum(s in self.outstanding(r) for r in later)

    def Z(self, t: int) -> Number:
        """Convention 22: the sum of all contributions at the start of round t."""
        return sum((self.contribution(s, t) for s in range(1, t)), mp.mpf(0))

    def newly_skipped(self, t: int) -> list[int]:
        """Convention 23: all outstanding s with c_s > sqrt(Z_t/ln K), against the same Z_t."""
        if self.K == 1:
            return []
        threshold = mp.sqrt(self.Z(t) / mp.log(self.K))
        return [s for s in self.outstanding(t) if self.contribution(s, t) > threshold]

    def rate(self, t: int) -> Number:
        """Convention 25: sqrt(ln K/(W_t + Z_t)), infinite iff both are 0; K = 1: 0."""
        if self.K == 1:
            return mp.mpf(0)
        below = self.most_waiting(t) + self.Z(t)
        return mp.sqrt(mp.log(self.K) / below) if below else mp.inf

    # --- what Theorem 9 says of a run of T rounds, and of its expectation -----------------------

    def counted(self, s: int) -> Number:
        """ltil'_s of the proof: the estimate of play s, or 0 if it is ever skipped."""
        return mp.mpf(0) if self.is_skipped(s, len(self.skipped)) else self.estimate(s)

    def final_Z(self) -> Number:
        """Z_T of Theorem 9, which includes the play of the last round (convention 26)."""
        return self.Z(self.round)

    def number_skipped(self) -> int:
        return sum(map(len, self.skipped))

    def most_skipped(self) -> Number:
        """Theorem 9 (i): 2 sqrt(ln K Z_T), which the number of skipped plays cannot exceed."""
        return 2 * mp.sqrt(mp.log(self.K) * self.final_Z())

    def full_contribution(self, s: int) -> Number:
        """What play s would have contributed in the rounds played, had it not been skipped."""
        later = range(s + 1, self.round)
        same = [r for r in later if self.arm(r) == self.arm(s) and not self.is_told(s, r)]
        return self.weight(s) * len(same)

    def root_bound(self, S: Collection[int]) -> Number:
        """Theorem 9 (iii): |S| + sqrt(ln K A(S^c)) + sqrt(ln K |S| w_max) for any plays S.

        sqrt(ln K Z_T) cannot exceed it. w_max is the largest weight of a play.
        """
        log_K, plays = mp.log(self.K), range(1, self.round)
        A = sum(self.full_contribution(s) for s in plays if s not in S)
        heaviest = max(self.weight(s) for s in plays)
        return len(S) + mp.sqrt(log_K * A) + mp.sqrt(log_K * len(S) * heaviest)

    def price_of(self, S: Collection[int]) -> Number:
        """(5 + 2.5 ln K) |S| + 5 sqrt(ln K A(S^c)), of which the last bound takes the least."""
        log_K = mp.log(self.K)
        A = sum(self.full_contribution(s) for s in range(1, self.round) if s not in S)
        return (5 + mp.mpf("2.5") * log_K) * len(S) + 5 * mp.sqrt(log_K * A)


def bound(K: int, T: int, mean_root_Z: Number, mean_root_W: Number) -> Number:
    """Theorem 9 (ii): E regret <= 8 sqrt(KT) + 5 E sqrt(ln K Z_T) + E sqrt(ln K W_T)."""
    return 8 * mp.sqrt(K * T) + 5 * mean_root_Z + mean_root_W


def bound_by_sets(K: int, T: int, mean_outstanding: Number, mean_price: Number) -> Number:
    """Theorem 9, last: 11 sqrt(KT) + (1/2) ln K E n + E min_S of `price_of`.

    n is the most plays of one arm outstanding and not skipped.
    """
    return 11 * mp.sqrt(K * T) + mp.log(K) * mean_outstanding / 2 + mean_price
