"""The probability that each of several normal values is the largest, by other nodes."""

import math

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.special import ndtr

from belated.arrays import Floats


def chances_to_be_largest(means: Floats, deviations: Floats) -> Floats:
    """P(z_a is the largest) for independent normals, by Gauss and Legendre between many points."""
    ends = np.unique(np.add.outer(np.linspace(-9.0, 9.0, 73), means / deviations) * deviations)
    nodes, weights = leggauss(10)
    middle, half = (ends[1:] + ends[:-1]) / 2.0, (ends[1:] - ends[:-1]) / 2.0
    z = (middle[:, None] + half[:, None] * nodes).ravel()
    weight = (half[:, None] * weights).ravel()
    standard = (z - means[:, None]) / deviations[:, None]
    below = ndtr(standard)
    density = np.exp(-0.5 * standard**2) / (deviations[:, None] * math.sqrt(2.0 * math.pi))
    others = [np.prod(np.delete(below, a, axis=0), axis=0) for a in range(len(means))]
    q = np.array([(weight * f * rest).sum() for f, rest in zip(density, others, strict=True)])
    answer: Floats = q / q.sum()
    return answer
