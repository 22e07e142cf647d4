"""Regularizers Psi and Phi, and R_t composed of two of them (eq:FTRLregularizer).

All are functions of an array p of shape (arm, rate). A regularizer of your own needs three methods:
`value`, `gradient` with the shape of p, and `hessian`, a square matrix over the flattened p.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from belated.arrays import Floats


class Regularizer(Protocol):
    """A convex function of p > 0 with its first two derivatives."""

    def value(self, p: Floats) -> float: ...

    def gradient(self, p: Floats) -> Floats: ...

    def hessian(self, p: Floats) -> Floats: ...


@dataclass(frozen=True)
class NegativeEntropy:
    """The negative entropy sum p ln(p) / rate, with one rate for each column of p.

    It is eq:fullinforeg, eq:banditreg2, and eq:regunknown2, which has a single column.
    """

    rates: Floats | float

    def value(self, p: Floats) -> float:
        terms = p * np.log(np.where(p > 0.0, p, 1.0)) / self.rates
        return float(terms.sum())

    def gradient(self, p: Floats) -> Floats:
        return (np.log(p) + 1.0) / self.rates

    def hessian(self, p: Floats) -> Floats:
        return np.diag((1.0 / (self.rates * p)).ravel())


@dataclass(frozen=True)
class LogBarrierOnMarginals:
    """The log barrier -(1/rate) sum_i ln(q_i), with q_i the sum of row i of p (eq:banditreg1)."""

    rate: float

    def value(self, p: Floats) -> float:
        with np.errstate(divide="ignore"):
            return float(-np.log(p.sum(axis=1)).sum() / self.rate)

    def gradient(self, p: Floats) -> Floats:
        marginals = p.sum(axis=1, keepdims=True)
        return np.full(p.shape, -1.0 / (self.rate * marginals))

    def hessian(self, p: Floats) -> Floats:
        """A block-diagonal matrix with one block 1 1^T / (rate q_i^2) for each arm."""
        same_arm = np.repeat(np.eye(p.shape[0]), p.shape[1], axis=1).T
        blocks: Floats = (same_arm / (self.rate * p.sum(axis=1) ** 2)) @ same_arm.T
        return blocks


@dataclass(frozen=True)
class Tsallis:
    """The Tsallis entropy with power 1/2: -(1/rate) sum sqrt(p) (eq:regunknown1)."""

    rate: float

    def value(self, p: Floats) -> float:
        return float(-np.sqrt(p).sum() / self.rate)

    def gradient(self, p: Floats) -> Floats:
        return -0.5 / (self.rate * np.sqrt(p))

    def hessian(self, p: Floats) -> Floats:
        """The diagonal matrix of 1/(4 rate p^(3/2)); the minus sign in the paper is a misprint."""
        return np.diag((0.25 / (self.rate * p**1.5)).ravel())


@dataclass(frozen=True)
class ZeroRegularizer:
    """The zero function, which is Phi in the full-information setting."""

    def value(self, p: Floats) -> float:
        return 0.0

    def gradient(self, p: Floats) -> Floats:
        return np.zeros_like(p)

    def hessian(self, p: Floats) -> Floats:
        return np.zeros((p.size, p.size))


def bregman(function: Regularizer, x: Floats, y: Floats) -> float:
    """The Bregman divergence B_F(x, y) = F(x) - F(y) - <grad F(y), x - y>."""
    slope = float((function.gradient(y) * (x - y)).sum())
    return function.value(x) - function.value(y) - slope


@dataclass(frozen=True)
class HybridRegularizer:
    """R_t of eq:FTRLregularizer: B_Psi(p, prior_psi) + B_Phi(p, prior_phi)."""

    psi: Regularizer
    phi: Regularizer
    prior_psi: Floats
    prior_phi: Floats

    def value(self, p: Floats) -> float:
        return bregman(self.psi, p, self.prior_psi) + bregman(self.phi, p, self.prior_phi)

    def gradient(self, p: Floats) -> Floats:
        from_psi = self.psi.gradient(p) - self.psi.gradient(self.prior_psi)
        return from_psi + self.phi.gradient(p) - self.phi.gradient(self.prior_phi)

    def hessian(self, p: Floats) -> Floats:
        return self.psi.hessian(p) + self.phi.hessian(p)
