"""What N policies advise before each round: distributions over the arms (Theorems 5 and 6)."""

from typing import Any

from mpmath import mp

from .argmin import Matrix, Number, Vector
from .script import BadInputError, Script, distribution


class Advice:
    """xi_t(n, .) for all rounds, and the prior pi over the policies."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.N = case["N"]
        self.rows: list[Matrix] = [
            [distribution(row, "a row of advice") for row in block] for block in case["advice"]
        ]
        if len(self.rows) != case["T"] or any(len(block) != self.N for block in self.rows):
            raise BadInputError("advice is T blocks of N rows")
        if any(len(row) != case["K"] for block in self.rows for row in block):
            raise BadInputError("a row of advice has K numbers")
        even = [mp.mpf(1) / self.N] * self.N
        self.prior = distribution(case.get("prior") or even, "the prior", positive=True)

    @property
    def policies(self) -> range:
        return range(self.N)

    def xi(self, t: int, n: int, i: int) -> Number:
        """The probability of arm i by policy n in round t."""
        return self.rows[t - 1][n][i]

    def mixture(self, t: int, p: Vector) -> Vector:
        """q_t(i) = sum_n p_t(n) xi_t(n, i), by the advice of round t (convention 12)."""
        arms = range(len(self.rows[t - 1][0]))
        return [sum(p[n] * self.xi(t, n, i) for n in self.policies) for i in arms]

    def loss(self, script: Script, t: int, n: int) -> Number:
        """y_t(n) = <xi_t(n), l_t>."""
        return sum(self.xi(t, n, i) * script.loss(t, i) for i in range(script.K))

    def best_share(self, t: int) -> Number:
        """S_t = sum_i max_n xi_t(n, i) (Theorem 6)."""
        arms = range(len(self.rows[t - 1][0]))
        return sum(max(self.xi(t, n, i) for n in self.policies) for i in arms)
