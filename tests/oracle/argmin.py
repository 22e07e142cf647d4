"""eq:frameworkprediction for the paper's three regularizers, by bracketing in high precision.

Setting the gradient of <p, L> + R_t(p) to a constant c leaves one equation per arm, increasing in
c. Every root is enclosed by a bracket that holds by construction, and no derivative is used.
Arguments may be floats, integers or mpf; all are converted exactly.
"""

from collections.abc import Callable, Sequence
from typing import Any

from mpmath import mp

Number = Any  # mpmath has no type of its own to name
Vector = list[Number]
Matrix = list[Vector]

GUARD_DIGITS = 25
HALF = mp.mpf("0.5")


def argmin_full(
    L: Sequence[Sequence[Number]],
    prior: Sequence[Number],
    weights: Sequence[Number],
    rates: Sequence[Number],
    joint: bool = False,
) -> Vector:
    """q of eq:fullinfopred under eq:fullinforeg, p_1 = prior x weights; K x J p if `joint`.

    p(i,j) = p_1(i,j) exp(eta_j (c - L(i,j))).
    """
    with working_precision():
        L, rates, p1 = matrix(L), vector(rates), product_prior(prior, weights)
        cells = [(i, j) for i in range(len(p1)) for j in range(len(rates)) if p1[i][j] > 0]
        mass = sum(p1[i][j] for i, j in cells)

        def joint_at(c: Number) -> Matrix:
            return [
                [x * mp.exp(eta * (c - y)) for x, y, eta in zip(*row, rates, strict=True)]
                for row in zip(p1, L, strict=True)
            ]

        # Every p(i,j) <= p1(i,j) / mass at the left end, some p(i,j) >= 1 at the right end.
        left = min(L[i][j] - mp.log(mass) / rates[j] for i, j in cells)
        right = min(L[i][j] - mp.log(p1[i][j]) / rates[j] for i, j in cells)
        p = normalised(joint_at, left, right)
        return p if joint else marginal(p)


def argmin_partial(
    L: Sequence[Sequence[Number]],
    prior: Sequence[Number],
    weights: Sequence[Number],
    grid: Sequence[Number],
    eta: Number,
    joint: bool = False,
) -> Vector:
    """q of eq:banditpredictions1 under eq:banditreg1 + eq:banditreg2; K x J p if `joint`.

    p(i,g) = p_1(i,g) exp(g (theta_i - L(i,g))) with theta_i = c + 1/(eta q_i). An infinite grid
    drops Phi (rho* = 0), eta = 0 is an infinite barrier (T = 1): E10.
    """
    with working_precision():
        L, grid, eta, p1 = matrix(L), vector(grid), mp.mpf(eta), product_prior(prior, weights)
        K = len(L)
        arms = [BarrierArm(*row, grid) for row in zip(p1, L, strict=True)]
        if mp.isinf(grid[0]):
            uniform = [mp.mpf(1) / K] * K
            q = log_barrier([row[0] for row in L], eta) if eta else uniform
            # Without Phi only the marginals are determined: split them by the grid's prior.
            p = [[x * y / sum(row) for y in row] for x, row in zip(q, p1, strict=True)]
            return p if joint else q
        if not eta:
            p = [arm.joint(arm.theta_of(mp.mpf(1) / K)) for arm in arms]
            return p if joint else marginal(p)

        def joint_at(c: Number) -> Matrix:
            return [arm.joint(arm.theta_under_barrier(c, eta)) for arm in arms]

        # Every q_i <= 1/K at the left end, some q_i >= 1 at the right end.
        left = min(arm.theta_below(mp.mpf(1) / K) for arm in arms) - K / eta
        right = min(arm.theta_above(mp.mpf(1)) for arm in arms) - 1 / eta
        p = normalised(joint_at, left, right)
        return p if joint else marginal(p)


def argmin_concealed(L: Sequence[Number], eta: Number, gamma: Number) -> Vector:
    """q under eq:regunknown1 + eq:regunknown2, both centred at 1/K.

    ln(q_i)/gamma - 1/(2 eta sqrt(q_i)) = c - L_i.
    """
    with working_precision():
        L, eta, gamma = vector(L), mp.mpf(eta), mp.mpf(gamma)
        K = len(L)
        if K == 1:
            return [mp.mpf(1)]
        arms = [TsallisArm(y, eta, gamma) for y in L]
        # The smallest L has q = 1/K at the left end and q = 1 at the right end.
        left = min(L) - mp.log(K) / gamma - mp.sqrt(K) / (2 * eta)
        right = min(L) - 1 / (2 * eta)
        return marginal(normalised(lambda c: [[arm.q(c)] for arm in arms], left, right))


class BarrierArm:
    """One arm of the partially concealed setting, with p(i,g) = p_1 exp(g (theta_i - L(i,g)))."""

    def __init__(self, p1: Vector, L: Vector, grid: Vector) -> None:
        self.p1, self.L, self.grid = p1, L, grid
        self.solved = Solved()

    def joint(self, theta: Number) -> Vector:
        cells = zip(self.p1, self.L, self.grid, strict=True)
        return [x * mp.exp(g * (theta - y)) for x, y, g in cells]

    def log_q(self, theta: Number) -> Number:
        return mp.log(sum(self.joint(theta)))

    def theta_below(self, q: Number) -> Number:
        """A theta whose marginal is at most q: every p(i,g) <= p_1(i,g) q / sum_g p_1(i,g)."""
        log_ratio = mp.log(q / sum(self.p1))
        return min(y + log_ratio / g for y, g in zip(self.L, self.grid, strict=True))

    def theta_above(self, q: Number) -> Number:
        """A theta whose marginal is at least q: some p(i,g) >= q."""
        cells = zip(self.p1, self.L, self.grid, strict=True)
        return min(y + mp.log(q / x) / g for x, y, g in cells)

    def theta_of(self, q: Number) -> Number:
        """The theta whose marginal is q."""
        return bracketed_root(
            lambda theta: self.log_q(theta) - mp.log(q), self.theta_below(q), self.theta_above(q)
        )

    def theta_under_barrier(self, c: Number, eta: Number) -> Number:
        """theta = c + 1/(eta q) with q the marginal at theta itself, solved in v = ln q."""

        def residual(v: Number) -> Number:
            return v - self.log_q(c + mp.exp(-v) / eta)

        def ends() -> tuple[Number, Number]:
            # At the left end the marginal is >= 1 >= e^v; the residual's slope is at least 1.
            left = -mp.log(eta * max(self.theta_above(mp.mpf(1)) - c, 1 / eta))
            return left, left - residual(left)

        return c + mp.exp(-self.solved.root(residual, c, ends)) / eta


class TsallisArm:
    """One arm of the concealed setting."""

    def __init__(self, L: Number, eta: Number, gamma: Number) -> None:
        self.L, self.eta, self.gamma = L, eta, gamma
        self.solved = Solved()

    def q(self, c: Number) -> Number:
        """The q <= 1 with -ln(q)/gamma + 1/(2 eta sqrt(q)) = L - c, solved in v = ln q."""
        y, eta, gamma = self.L - c, self.eta, self.gamma
        if mp.isinf(gamma):
            return 1 / (2 * eta * y) ** 2

        def residual(v: Number) -> Number:
            return v / gamma - mp.exp(-v / 2) / (2 * eta) + y

        def ends() -> tuple[Number, Number]:
            # One term alone makes up y at the left end; neither exceeds y/2 at the right end.
            left = max(-gamma * y, -2 * mp.log(2 * eta * y))
            return left, min(mp.mpf(0), max(-gamma * y / 2, -2 * mp.log(eta * y)))

        return mp.exp(self.solved.root(residual, c, ends))


def log_barrier(L: Vector, eta: Number) -> Vector:
    """q_i = 1/(eta (L_i - c)): eq:banditreg1 alone."""
    left, right = min(L) - len(L) / eta, min(L) - 1 / eta
    return marginal(normalised(lambda c: [[1 / (eta * (y - c))] for y in L], left, right))


class Solved:
    """ln q_i at the multipliers c solved so far; it increases in c, so they bracket later roots."""

    def __init__(self) -> None:
        self.roots: list[tuple[Number, Number]] = []

    def root(
        self,
        residual: Callable[[Number], Number],
        c: Number,
        ends: Callable[[], tuple[Number, Number]],
    ) -> Number:
        below = [v for b, v in self.roots if b <= c]
        above = [v for b, v in self.roots if b >= c]
        left, right = (max(below), min(above)) if below and above else ends()
        v = bracketed_root(residual, left, right)
        self.roots.append((c, v))
        return v


def normalised(p_at: Callable[[Number], Matrix], left: Number, right: Number) -> Matrix:
    """p(c) at the multiplier c in [left, right] where its entries, increasing in c, sum to one."""
    p = p_at(bracketed_root(lambda c: mp.log(sum(marginal(p_at(c)))), left, right))
    if abs(sum(marginal(p)) - 1) > mp.mpf(10) ** (GUARD_DIGITS - mp.dps):
        raise ArithmeticError("the probabilities do not sum to one")
    return p


def bracketed_root(f: Callable[[Number], Number], left: Number, right: Number) -> Number:
    """A root of the increasing f in [left, right], by Chandrupatla's method (1997).

    Inverse quadratic interpolation where the three last points permit it, else bisection. An end
    where rounding hides the sign change is itself the root.
    """
    f_left, f_right = f(left), f(right)
    if f_left >= 0:
        return left
    if f_right <= 0:
        return right
    tolerance = mp.mpf(10) ** (5 - mp.dps) * max(abs(left), abs(right))
    a, fa, b, fb, t = left, f_left, right, f_right, HALF
    while True:
        x = a + t * (b - a)
        fx = f(x)
        if (fx > 0) == (fa > 0):
            old, f_old = a, fa
        else:
            old, f_old, b, fb = b, fb, a, fa
        a, fa = x, fx
        if fx == 0 or abs(b - a) <= tolerance:
            return a if abs(fa) < abs(fb) else b
        t = interpolated_step(a, fa, b, fb, old, f_old)
        nearest = tolerance / abs(b - a) / 2
        t = min(max(t, nearest), 1 - nearest)


def interpolated_step(
    a: Number, fa: Number, b: Number, fb: Number, old: Number, f_old: Number
) -> Number:
    """The fraction of the way from a to b at which Chandrupatla's method looks next."""
    ab, ob, ao = fb - fa, fb - f_old, f_old - fa
    xi, phi = (b - a) / (b - old), ab / ob
    if not (phi**2 < xi and (1 - phi) ** 2 < 1 - xi):
        return HALF
    return fa / ob * (f_old / ab - (old - a) / (b - a) * fb / ao)


def marginal(p: Matrix) -> Vector:
    """eq:fullinfopred and eq:banditpredictions1: q(i) = sum over the grid of p(i, .)."""
    return [sum(row) for row in p]


def product_prior(prior: Sequence[Number], weights: Sequence[Number]) -> Matrix:
    """eq:fullinfoprior: p_1(i, j) = pi(i) w_j."""
    return [[x * w for w in vector(weights)] for x in vector(prior)]


def vector(x: Sequence[Number]) -> Vector:
    return [mp.mpf(y) for y in x]


def matrix(x: Sequence[Sequence[Number]]) -> Matrix:
    return [vector(row) for row in x]


def working_precision() -> Any:
    """At least 40 digits, and guard digits for cancellation in c - L."""
    return mp.workdps(max(mp.dps, 40) + GUARD_DIGITS)
