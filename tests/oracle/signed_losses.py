"""Losses of both signs: why lem:drift needs losses >= 0, and two ways around it (Prop. 8, 8').

Numbers may be fractions where only sums and products are taken.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from mpmath import mp

from .argmin import Matrix, Number, Vector
from .script import Script, softmin

# --- the counterexample to lem:drift -------------------------------------------------------------


class Drift(NamedTuple):
    """Both sides of lem:drift in one round, under entropy with one rate."""

    left: Number
    right: Number


def drift(p: Vector, factor: Number, rate: Number, lhat: Vector, missing: Vector) -> Drift:
    """lem:drift with p_t^av = p, for whole-numbered Lhat_t - Lhat_t^av = `missing`.

    `factor` is e^-rate: p_{t+1}(i) ~ p(i) factor^missing(i), which fractions compute exactly. The
    inverse Hessian of the entropy is diag(rate p).
    """
    powers = [x * factor ** int(m) for x, m in zip(p, missing, strict=True)]
    ahead = [x / sum(powers) for x in powers]
    rounds = list(zip(p, ahead, lhat, missing, strict=True))
    left = sum((x - y) * loss for x, y, loss, _ in rounds)
    return Drift(left, sum(rate * x * m * loss for x, _, loss, m in rounds))


# --- Prop. 8: the shift ------------------------------------------------------------------------


def shifted(loss: Number, low: Number, high: Number) -> Number:
    """Prop. 8: what is fed in the place of a loss in [low, high], when it arrives."""
    return (loss - low) / (high - low)


def shifted_case(case: dict[str, Any], low: Number, high: Number) -> dict[str, Any]:
    """A case with losses in [0, 1] from one with losses in [low, high]; all else stays."""
    losses = [[shifted(x, low, high) for x in row] for row in case["losses"]]
    return case | {"losses": losses}


def regret(q: Sequence[Vector], losses: Sequence[Vector], u: int) -> Number:
    """sum_t <q_t, l_t> - l_t(u)."""
    return sum(
        sum(x * y for x, y in zip(*rows, strict=True)) - rows[1][u]
        for rows in zip(q, losses, strict=True)
    )


# --- Prop. 8': no shift, full information --------------------------------------------------------


class SignedExponentialWeights:
    """Prop. 8': exponential weights of what has come, for losses in [-1, 1]."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.script = Script.read(case)
        self.K, self.T = self.script.K, self.script.T
        self.q: Matrix = [
            self.weights(self.cumulative(t), self.rate(t)) for t in range(1, self.T + 1)
        ]

    def most_missing(self, t: int) -> int:
        """rho_t^inf = max_i rho_t(i), the most losses of one arm missing at the start of t."""
        return max(
            sum(not self.script.is_known(s, i, t) for s in range(1, t)) for i in range(self.K)
        )

    def budget(self, t: int) -> int:
        """sum over s <= t of (1 + rho_s^inf)."""
        return sum(1 + self.most_missing(s) for s in range(1, t + 1))

    def rate(self, t: int) -> Number:
        """gamma_t = sqrt(ln K/sum_{s<=t} (1 + rho_s^inf))."""
        return mp.sqrt(mp.log(self.K) / self.budget(t))

    def cumulative(self, t: int) -> Vector:
        """The sums of the losses known at the start of round t."""
        return [
            sum(
                (self.script.loss(s, i) for s in range(1, t) if self.script.is_known(s, i, t)),
                mp.mpf(0),
            )
            for i in range(self.K)
        ]

    def weights(self, L: Vector, rate: Number) -> Vector:
        return softmin([mp.mpf(1) / self.K] * self.K, rate, L)

    def drift(self, t: int) -> Number:
        """<q_t - q_{t+1}, l_t>, with q_{t+1} of eq:lookahead."""
        losses = self.script.losses
        ahead = self.weights([sum(x) for x in zip(*losses[:t], strict=True)], self.rate(t))
        rows = zip(self.q[t - 1], ahead, losses[t - 1], strict=True)
        return sum((x - y) * loss for x, y, loss in rows)

    def drift_bound(self, t: int) -> Number:
        """gamma_t (1 + rho_t^inf)."""
        return self.rate(t) * (1 + self.most_missing(t))

    def regret(self, u: int) -> Number:
        return regret(self.q, self.script.losses, u)

    def bound(self) -> Number:
        """3 sqrt(ln K sum_t (1 + rho_t^inf))."""
        return 3 * mp.sqrt(mp.log(self.K) * self.budget(self.T))
