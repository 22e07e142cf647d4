"""cvxpy with Clarabel: a modelling language for convex problems, and its interior-point solver."""

from belated.arrays import Floats
from benchmarks.peers.peer import Argmin, Solve, SolverPeer


def solver(problem: Argmin) -> Solve:
    """Set the problem up once, with losses and 1/eta as parameters; returns a solver for it."""
    import cvxpy
    import numpy as np

    losses = cvxpy.Parameter(problem.prior.shape)
    barrier = cvxpy.Parameter(nonneg=True)
    p = cvxpy.Variable(problem.prior.shape)
    scales = np.tile(1.0 / problem.rates, (len(problem.prior), 1))
    linear = scales * (1.0 + np.log(problem.prior))
    objective = (
        cvxpy.sum(cvxpy.multiply(losses, p))
        - barrier * cvxpy.sum(cvxpy.log(cvxpy.sum(p, axis=1)))
        - cvxpy.sum(cvxpy.multiply(scales, cvxpy.entr(p)))
    )
    model = cvxpy.Problem(cvxpy.Minimize(objective), [cvxpy.sum(p) == 1])

    def solve(now: Floats, eta: float) -> Floats:
        losses.value = now - now.min() - linear
        barrier.value = 1.0 / eta
        model.solve(solver=cvxpy.CLARABEL, warm_start=True)
        answer: Floats = p.value
        return answer

    return solve


CVXPY = SolverPeer("cvxpy+Clarabel", "cvxpy", ("cvxpy", "clarabel"), solver=solver)
