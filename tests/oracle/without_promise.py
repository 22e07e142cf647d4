"""Prop. 2: the repaired concealed learner, without a promise of how much can be missing.

Conventions are those of tests/cases/beyond/CONVENTIONS.md.
"""

import functools
from typing import Any

from mpmath import mp

from .argmin import Matrix, Number, Vector, argmin_concealed
from .script import Drawn, Script


class WithoutPromise(Drawn):
    """The learner of Prop. 2 along the losses and delays of a case."""

    def __init__(self, case: dict[str, Any]) -> None:
        super().__init__(Script.read(case))
        self.w: Matrix = []  # of all arms at the start of each round so far
        self.gamma: Vector = []

    def start(self) -> dict[str, Any]:
        t = self.round
        self.w.append([self.waiting(t, i) for i in range(self.K)])
        self.gamma.append(self.rate(t))
        self.q.append(self.minimiser(self.cumulative(t), t))
        return {"q": self.q[-1], "gamma": self.gamma[-1], "W": self.most_waiting(t)}

    def eta(self, t: int) -> Number:
        """Convention 18: eta_t = 1/(2 sqrt t)."""
        return 1 / (2 * mp.sqrt(t))

    def weight(self, s: int) -> Number:
        """Convention 18: the weight 1/(q_s(i_s) + eps_s) of play s, as it was in round s."""
        return 1 / (self.q[s - 1][self.arm(s)] + self.exploration(s))

    def waiting(self, t: int, i: int) -> Number:
        """Convention 19: w_t(i), the weights of the plays of arm i outstanding at the start."""
        plays = [s for s in self.outstanding(t) if self.arm(s) == i]
        return sum((self.weight(s) for s in plays), mp.mpf(0))

    def most_waiting(self, t: int) -> Number:
        """Conventions 3 and 19: W_t, over all arms and the starts of rounds 1..t."""
        return max(max(row) for row in self.w[:t])

    def overlap(self, t: int) -> Number:
        """Convention 19: sum over s < t of w_s(i_s), of the played arm and at the start of s."""
        return sum((self.w[s - 1][self.arm(s)] for s in range(1, t)), mp.mpf(0))

    def rate(self, t: int) -> Number:
        """Convention 20: sqrt(ln K/(W_t + overlap_t)), infinite iff both are 0; K = 1: 0."""
        if self.K == 1:
            return mp.mpf(0)
        below = self.most_waiting(t) + self.overlap(t)
        return mp.sqrt(mp.log(self.K) / below) if below else mp.inf

    def estimate(self, s: int) -> Number:
        """Convention 18: the estimate of the loss of play s; those of all other arms are 0."""
        return self.weight(s) * self.own_loss(s)

    def cumulative(self, t: int) -> Vector:
        """Lhat(i): the estimates of the plays of arm i that are known at the start of round t."""
        return self.summed(self.told(t))

    def summed(self, plays: list[int]) -> Vector:
        return [
            sum((self.estimate(s) for s in plays if self.arm(s) == i), mp.mpf(0))
            for i in range(self.K)
        ]

    def minimiser(self, L: Vector, t: int) -> Vector:
        """Convention 18: q with ln(q)/gamma_t - 1/(2 eta_t sqrt q) = c - L."""
        return list(minimiser(tuple(L), self.eta(t), self.gamma[t - 1], mp.dps))

    # --- what Prop. 2 says of a run of T rounds, and of its expectation -------------------------

    def expected_loss(self, t: int) -> Number:
        """<q_t, l_t>: the loss of round t, in the mean over its own draw."""
        return sum(self.q[t - 1][i] * self.script.loss(t, i) for i in range(self.K))

    def counted(self, s: int) -> Number:
        """The estimate of play s that the learner will have learned from, once it has come."""
        return self.estimate(s)

    def drift(self, t: int) -> Number:
        """<q_t - q_{t+1}, lhat_t>, with q_{t+1} of eq:lookahead; round t has been played."""
        plays = range(1, t + 1)
        L = [
            sum((self.counted(s) for s in plays if self.arm(s) == i), mp.mpf(0))
            for i in range(self.K)
        ]
        i = self.arm(t)
        return (self.q[t - 1][i] - self.minimiser(L, t)[i]) * self.counted(t)

    def drift_bound(self, t: int) -> Number:
        """4 eta_t sqrt(q_t(i_t)) lhat_t + gamma_t w_t(i_t) >= the right side of lem:drift."""
        i = self.arm(t)
        overlap = self.w[t - 1][i]
        delay = self.gamma[t - 1] * overlap if overlap else mp.mpf(0)
        return 4 * self.eta(t) * mp.sqrt(self.q[t - 1][i]) * self.counted(t) + delay

    def estimated_regret(self, u: int) -> Number:
        """sum_t <q_t - e_u, lhat_t> over the rounds played."""
        plays = range(1, self.round)
        own = sum(self.q[s - 1][self.arm(s)] * self.counted(s) for s in plays)
        return own - sum(self.counted(s) for s in plays if self.arm(s) == u)

    def estimated_bound(self) -> Number:
        """R_T(e_u) + sum_t of `drift_bound`, which the regret of the estimates cannot exceed."""
        T = self.round - 1
        divergence = (mp.sqrt(self.K) - 1) / self.eta(T)
        if self.K > 1:
            divergence += mp.log(self.K) / self.gamma[T - 1]
        return divergence + sum(self.drift_bound(t) for t in range(1, T + 1))

    def root_of_waiting(self) -> Number:
        """sqrt(ln K W_T), whose mean is in the bound, for the rounds played."""
        return mp.sqrt(mp.log(self.K) * self.most_waiting(self.round - 1))

    def most_outstanding(self) -> int:
        """The most plays of one arm outstanding at the start of a round played."""
        return max(
            sum(self.arm(s) == i for s in self.outstanding(t))
            for t in range(1, self.round)
            for i in range(self.K)
        )


def bound(K: int, T: int, A: Number, mean_root: Number) -> Number:
    """Prop. 2: E regret <= 8 sqrt(KT) + 3 sqrt(ln K A_T) + E sqrt(ln K W_T).

    A is the mean of `overlap` after the play of round T, mean_root that of `root_of_waiting`.
    """
    return 8 * mp.sqrt(K * T) + 3 * mp.sqrt(mp.log(K) * A) + mean_root


@functools.cache
def minimiser(L: tuple[Number, ...], eta: Number, gamma: Number, digits: int) -> tuple[Number, ...]:
    """`argmin_concealed`, solved once for each state that different draws lead to."""
    return tuple(argmin_concealed(L, eta, gamma))
