"""Theorem 6: policies, told only the losses of own plays.

Conventions are those of tests/cases/beyond/CONVENTIONS.md.
"""

from typing import Any

from mpmath import mp

from .advice import Advice
from .argmin import Matrix, Number, Vector
from .script import Drawn, Script, softmin


class AdviceConcealed(Drawn):
    """The learner of Theorem 6 along the losses, delays and advice of a case."""

    def __init__(self, case: dict[str, Any]) -> None:
        super().__init__(Script.read(case))
        self.advice = Advice(case)
        self.N = self.advice.N
        self.p: Matrix = []
        self.w: Matrix = []  # of all policies at the start of each round so far
        self.gamma: Vector = []

    def start(self) -> dict[str, Any]:
        t = self.round
        self.w.append([self.waiting(t, n) for n in self.advice.policies])
        self.gamma.append(self.rate(t))
        self.p.append(softmin(self.advice.prior, self.gamma[-1], self.cumulative(t)))
        self.q.append(self.advice.mixture(t, self.p[-1]))
        return {"p": self.p[-1], "q": self.q[-1], "gamma": self.gamma[-1], "w": self.w[-1]}

    def b(self, s: int, n: int) -> Number:
        """Convention 14: b_s(n) = xi_s(n, i_s)/(q_s(i_s) + eps_s), as it was in round s."""
        i = self.arm(s)
        return self.advice.xi(s, n, i) / (self.q[s - 1][i] + self.exploration(s))

    def waiting(self, t: int, n: int) -> Number:
        """Convention 14: w_t(n), the sum of b_s(n) over own plays of any arm outstanding at t."""
        return sum((self.b(s, n) for s in self.outstanding(t)), mp.mpf(0))

    def most_waiting(self, t: int) -> Number:
        """Conventions 3 and 14: W_t, over all policies and the starts of rounds 1..t."""
        return max(max(row) for row in self.w[:t])

    def v(self, s: int) -> Number:
        """Convention 15: v_s = sum_n p_s(n) b_s(n)^2, after the draw of round s."""
        return sum(self.p[s - 1][n] * self.b(s, n) ** 2 for n in self.advice.policies)

    def z(self, s: int) -> Number:
        """Convention 15: z_s = sum_n p_s(n) b_s(n) w_s(n), with w of the start of round s."""
        policies = self.advice.policies
        return sum(self.p[s - 1][n] * self.b(s, n) * self.w[s - 1][n] for n in policies)

    def rate(self, t: int) -> Number:
        """Convention 16: gamma_t."""
        used = sum(self.v(s) + self.z(s) for s in range(1, t))
        return mp.sqrt(mp.log(self.N) / (mp.sqrt(self.K * t) / 4 + self.most_waiting(t) + used))

    def cumulative(self, t: int) -> Vector:
        """Convention 17: Lhat(n), the sum of b_s(n) l_s(i_s) over the own plays known at t."""
        told = self.told(t)
        return [
            sum((self.b(s, n) * self.own_loss(s) for s in told), mp.mpf(0))
            for n in self.advice.policies
        ]

    # --- what Theorem 6 says of a run of T rounds, and of its expectation -----------------------

    def expected_loss(self, t: int) -> Number:
        """<q_t, l_t>: the loss of round t, in the mean over its own draw."""
        return sum(self.q[t - 1][i] * self.script.loss(t, i) for i in range(self.K))

    def policy_loss(self, t: int, n: int) -> Number:
        """y_t(n)."""
        return self.advice.loss(self.script, t, n)

    def estimate(self, t: int) -> Vector:
        """lhat_t(n) = b_t(n) l_t(i_t)."""
        return [self.b(t, n) * self.own_loss(t) for n in self.advice.policies]

    def drift(self, t: int) -> Number:
        """<p_t - p_{t+1}, lhat_t>, with p_{t+1} of eq:lookahead; round t has been played."""
        plays = [self.estimate(s) for s in range(1, t + 1)]
        L = [sum(lhat[n] for lhat in plays) for n in self.advice.policies]
        ahead = softmin(self.advice.prior, self.gamma[t - 1], L)
        return sum(
            (x - y) * loss for x, y, loss in zip(self.p[t - 1], ahead, plays[-1], strict=True)
        )

    def estimated_regret(self, n: int) -> Number:
        """sum_t <p_t, lhat_t> - lhat_t(n) over the rounds played."""
        total = mp.mpf(0)
        for t in range(1, self.round):
            lhat = self.estimate(t)
            total += sum(x * y for x, y in zip(self.p[t - 1], lhat, strict=True)) - lhat[n]
        return total

    def estimated_bound(self, n: int) -> Number:
        """R_T + sum_t gamma_t (v_t + z_t), which the regret of the estimates cannot exceed."""
        if self.N == 1:
            return mp.mpf(0)
        divergence = -mp.log(self.advice.prior[n]) / self.gamma[-1]
        rounds = range(1, self.round)
        return divergence + sum(self.gamma[t - 1] * (self.v(t) + self.z(t)) for t in rounds)

    def root_of_waiting(self) -> Number:
        """sqrt(ln N (sqrt(K T)/4 + W_T)), whose mean is in the bound, for the rounds played."""
        T = self.round - 1
        return mp.sqrt(mp.log(self.N) * (mp.sqrt(self.K * T) / 4 + self.most_waiting(T)))

    def overlap(self) -> Number:
        """sum_t z_t over the rounds played, whose mean is A_T."""
        return sum((self.z(t) for t in range(1, self.round)), mp.mpf(0))


def bound(advice: Advice, n: int, K: int, A: Number, mean_root: Number) -> Number:
    """Theorem 6: 2 sqrt(KT) + (2+r) sqrt(ln N (sum S_t + A_T)) + r E sqrt(ln N (sqrt(KT)/4 + W_T)).

    r = ln(1/pi(n))/ln N is 1 for the even prior. A and mean_root are the means of `overlap` and
    `root_of_waiting` over all draws.
    """
    T, log_N = len(advice.rows), mp.log(advice.N)
    if advice.N == 1:
        return 2 * mp.sqrt(K * T)
    r = -mp.log(advice.prior[n]) / log_N
    shares = sum(advice.best_share(t) for t in range(1, T + 1))
    return 2 * mp.sqrt(K * T) + (2 + r) * mp.sqrt(log_N * (shares + A)) + r * mean_root
