"""The nodes and weights of the quadrature, which are written out."""

import math

import numpy as np
import pytest

from belated.learners.adversarial.perturbed_leader import DECLINES
from belated.numerics.gauss_legendre import MOST, NODES, WEIGHTS


@pytest.mark.parametrize("count", range(1, MOST + 1))
def test_nodes_integrate_polynomials_of_twice_their_number(count: int) -> None:
    """The integral of x^k from 0 to 1 is 1/(k + 1), and those of numpy are the same nodes."""
    nodes, weights = NODES[count, :count], WEIGHTS[count, :count]
    for k in range(2 * count):
        assert math.isclose(math.fsum(weights * nodes**k), 1 / (k + 1), rel_tol=1e-14)
    abscissas, doubled = np.polynomial.legendre.leggauss(count)
    assert np.allclose(nodes, 0.5 + 0.5 * abscissas, rtol=0, atol=1e-15)
    assert np.allclose(weights, 0.5 * doubled, rtol=0, atol=1e-15)
    assert not NODES[count, count:].any()
    assert not WEIGHTS[count, count:].any()


def test_declines_are_those_of_their_formula() -> None:
    """8n/e 10^(-6.5/n) for n nodes."""
    assert len(DECLINES) == MOST + 1
    assert DECLINES[0] == 0.0
    for n in range(1, MOST + 1):
        assert math.isclose(DECLINES[n], 8 * n / math.e * 10 ** (-6.5 / n), rel_tol=1e-15)
