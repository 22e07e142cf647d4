"""Exponential weights: q proportional to exp(-eta L), with one vectorised exponential per arm."""

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.numerics.lanes import LANES, Lanes, across, exponential, load, spread, store, whole


@compiled
def weigh_exponentially(losses: Floats, eta: float, q: Floats) -> None:
    """Fill q with the weights exp(-eta L), normalised to sum to one; eta must be finite."""
    least = losses.min()
    sum_, end = spread(0.0), whole(losses.shape[0])
    for i in range(0, end, LANES):
        sum_ = sum_ + weigh(losses, eta, least, q, i, False)
    if end < losses.shape[0]:
        sum_ = sum_ + weigh(losses, eta, least, q, end, True)
    share = 1.0 / across(sum_)
    for i in range(q.shape[0]):
        q[i] *= share


@compiled
def weigh(losses: Floats, eta: float, least: float, q: Floats, i: int, part: bool) -> Lanes:
    """Store and return the unnormalised weights exp(eta (least - L)) of the four arms from i on."""
    weight = exponential(eta * (least - load(losses, i, np.inf, part)))
    store(q, i, weight, part)
    return weight
