"""cvxopt: convex optimisation in Python and C, here with derivatives written by hand."""

from typing import Any

import numpy as np

from belated.arrays import Floats
from benchmarks.peers.peer import Argmin, Solve, SolverPeer


def solver(problem: Argmin) -> Solve:
    """Return a solver by `cvxopt.solvers.cp` with a sparse Hessian, from the previous solution."""
    from cvxopt import matrix, solvers, spmatrix

    arms, size = problem.prior.shape
    count = arms * size
    rates = np.tile(problem.rates, arms)
    log_prior = np.log(problem.prior).ravel()
    start = matrix(np.full(count, 1.0 / count))
    ones, one = matrix(1.0, (1, count)), matrix(1.0)
    # the lower triangle of the block of each arm
    row, column = np.tril_indices(size)
    rows = (np.arange(arms)[:, None] * size + row).ravel()
    columns = (np.arange(arms)[:, None] * size + column).ravel()
    diagonal = rows == columns

    def solve(now: Floats, eta: float) -> Floats:
        losses = (now - now.min()).ravel()

        def oracle(x: Any = None, z: Any = None) -> Any:
            """Return the value, gradient and Hessian, as cvxopt requests them."""
            if x is None:
                return 0, +start
            p = np.array(x).ravel()
            if p.min() <= 0.0:
                return None
            q = p.reshape(arms, size).sum(axis=1)
            log_ratio = np.log(p) - log_prior
            value = losses @ p - np.log(q).sum() / eta + (p * (log_ratio - 1.0) / rates).sum()
            gradient = losses - np.repeat(1.0 / (eta * q), size) + log_ratio / rates
            first = matrix(gradient, (1, count))
            if z is None:
                return matrix(value), first
            entries = np.repeat(1.0 / (eta * q * q), len(row))
            entries[diagonal] += 1.0 / (rates * p)
            return matrix(value), first, spmatrix(z[0] * entries, rows, columns, (count, count))

        answer = solvers.cp(oracle, A=ones, b=one, options={"show_progress": False})
        start[:] = answer["x"]
        return np.array(answer["x"]).reshape(arms, size)

    return solve


CVXOPT = SolverPeer("cvxopt", "cvxopt", ("cvxopt",), solver=solver)
