"""Theorem 5: policies with full information, their missing mass and the certificate of every run.

Conventions are those of tests/cases/beyond/CONVENTIONS.md. Coordinates are (n, j): a policy
and a rate of the grid.
"""

from collections.abc import Iterator
from typing import Any

from mpmath import mp

from .advice import Advice
from .argmin import Matrix, Number, Vector, argmin_full
from .script import Script
from .transcription import grid_prior


class AdviceFull:
    """The learner of Theorem 5 along the losses, delays and advice of a case."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.script, self.advice = Script.read(case), Advice(case)
        self.K, self.T, self.N = self.script.K, self.script.T, self.advice.N
        self.J = self.grid_size()
        self.weights: Vector = grid_prior(self.J)
        self.rho: Matrix = []  # of all policies at the start of each round so far
        self.eta: Matrix = []
        self.p: list[Matrix] = []  # N x J in each round
        self.q: Matrix = []

    def rounds(self) -> Iterator[dict[str, Any]]:
        """All rounds, each with its row of every array of the answer."""
        for t in range(1, self.T + 1):
            self.rho.append([self.missing_mass(t, n) for n in self.advice.policies])
            self.eta.append(self.rates(t))
            self.p.append(self.joint(self.cumulative(t), t))
            p = self.over_policies(self.p[-1])
            self.q.append(self.advice.mixture(t, p))
            yield {"p": p, "q": self.q[-1], "rho": self.rho[-1], "eta": self.eta[-1]}

    def finished(self) -> "AdviceFull":
        """Play all rounds."""
        for _ in self.rounds():
            pass
        return self

    def grid_size(self) -> int:
        """Convention 8: the least J >= 1 with 2^J >= T."""
        J = 1
        while 2**J < self.T:
            J += 1
        return J

    def missing(self, t: int) -> list[tuple[int, int]]:
        """The pairs (s, i), s < t, whose losses are not known at the start of round t."""
        return [
            (s, i) for s in range(1, t) for i in range(self.K) if not self.script.is_known(s, i, t)
        ]

    def missing_mass(self, t: int, n: int) -> Number:
        """Convention 10: rho_t(n), the sum of xi_s(n, i) over what is missing; a real number."""
        return sum((self.advice.xi(s, n, i) for s, i in self.missing(t)), mp.mpf(0))

    def most_missing(self, t: int) -> Number:
        """Conventions 3 and 10: rho^max_t, over all policies and the starts of rounds 1..t."""
        return max(max(row) for row in self.rho[:t])

    def rates(self, t: int) -> Vector:
        """Convention 9: eta_t(j) for j = 1..J."""
        cap = 1 / (4 * (1 + self.most_missing(t)))
        scale = mp.sqrt(mp.log(self.N) + 2 * (mp.log(self.T) + 1))
        return [min(cap, scale / (4 * 2**j)) for j in range(1, self.J + 1)]

    def factor(self, s: int, n: int, j: int) -> Number:
        """Convention 11: 1 + 4 eta_s(j) (1 + rho_s(n)), with what was in force in round s."""
        return 1 + 4 * self.eta[s - 1][j] * (1 + self.rho[s - 1][n])

    def estimate(self, s: int, i: int, n: int, j: int) -> Number:
        """Convention 11: what loss (s, i) adds to Lhat(n, j) when it comes."""
        return self.advice.xi(s, n, i) * self.script.loss(s, i) * self.factor(s, n, j)

    def cumulative(self, t: int) -> Matrix:
        """Lhat(n, j) at the start of round t: the estimates of all losses known by then."""
        arms, before = range(self.K), range(1, t)
        known = [(s, i) for s in before for i in arms if self.script.is_known(s, i, t)]
        return self.summed(known)

    def cheating(self, t: int) -> Matrix:
        """Lhat_t of eq:lookahead: the estimates of all losses up to and including round t."""
        return self.summed([(s, i) for s in range(1, t + 1) for i in range(self.K)])

    def summed(self, pairs: list[tuple[int, int]]) -> Matrix:
        return [
            [sum((self.estimate(s, i, n, j) for s, i in pairs), mp.mpf(0)) for j in range(self.J)]
            for n in self.advice.policies
        ]

    def joint(self, L: Matrix, t: int) -> Matrix:
        """Convention 12: p_t(n, j) = pi(n) w_j exp(eta_t(j) (c - L(n, j))), with sum 1."""
        return argmin_full(L, self.advice.prior, self.weights, self.eta[t - 1], joint=True)

    def over_policies(self, p: Matrix) -> Vector:
        """p_t(n) = sum_j p_t(n, j)."""
        return [sum(row) for row in p]

    # --- what Theorem 5 says of a finished run --------------------------------------------------

    def regret(self, n: int) -> Number:
        """sum_t <q_t, l_t> - y_t(n)."""
        own = sum(
            self.q[t - 1][i] * self.script.loss(t, i)
            for t in range(1, self.T + 1)
            for i in range(self.K)
        )
        return own - sum(self.policy_loss(t, n) for t in range(1, self.T + 1))

    def policy_loss(self, t: int, n: int) -> Number:
        """y_t(n)."""
        return self.advice.loss(self.script, t, n)

    def correction(self, t: int, n: int, j: int) -> Number:
        """a_t(n, j) = 4 eta_t(j) (1 + rho_t(n)) y_t(n)."""
        return (self.factor(t, n, j) - 1) * self.policy_loss(t, n)

    def certificate(self, n: int, j: int) -> Number:
        """Theorem 5, first form: a bound on the regret of this very run, for any n and j."""
        last = self.eta[-1]
        entropy = -mp.log(self.advice.prior[n]) - mp.log(self.weights[j])
        spread = sum(w / eta for w, eta in zip(self.weights, last, strict=True)) - 1 / last[j]
        corrections = sum(self.correction(t, n, j) for t in range(1, self.T + 1))
        return entropy / last[j] + spread + corrections

    def bound(self, n: int) -> Number | None:
        """Theorem 5, second form; None where its condition on the prior does not hold."""
        entropy, log_T = -mp.log(self.advice.prior[n]), mp.log(self.T)
        if mp.log(self.N) > 4 * entropy + 6 * (log_T + 1):
            return None
        M, c = 1 + self.most_missing(self.T), entropy + 2 * (log_T + 1)
        X = sum((1 + self.rho[t - 1][n]) * self.policy_loss(t, n) for t in range(1, self.T + 1))
        return 4 * M + 12 + 6 * mp.sqrt(c * X) + 8 * c * M

    def drift(self, t: int) -> Number:
        """<p_t - p_{t+1}, lhat_t>, with p_{t+1} of eq:lookahead."""
        ahead = self.joint(self.cheating(t), t)
        return sum(
            (self.p[t - 1][n][j] - ahead[n][j]) * self.factor(t, n, j) * self.policy_loss(t, n)
            for n in self.advice.policies
            for j in range(self.J)
        )

    def mean_correction(self, t: int) -> Number:
        """<p_t, a_t>, which pays for the drift (proof of Theorem 5)."""
        return sum(
            self.p[t - 1][n][j] * self.correction(t, n, j)
            for n in self.advice.policies
            for j in range(self.J)
        )
