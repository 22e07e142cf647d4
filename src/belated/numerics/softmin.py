"""Softmin: weights in proportion to exp(-values/lambda), down to lambda = 0, all on the least."""

import math

from belated.arrays import Floats
from belated.compiled.jit import compiled
from belated.numerics.exponential_weights import weigh_exponentially

COLDEST = 1e-300  # below it 1/lambda is no double


@compiled
def softmin(values: Floats, temperature: float, q: Floats) -> None:
    """Fill q; the temperature is lambda. At zero q is shared evenly among the least values."""
    if temperature >= COLDEST:
        weigh_exponentially(values, 1.0 / temperature, q)
        return
    least, count = values.min(), 0
    for value in values:
        if value == least:
            count += 1
    for i in range(q.shape[0]):
        q[i] = 1.0 / count if values[i] == least else 0.0


@compiled
def below_least(q: Floats, temperature: float) -> float:
    """How far the soft minimum -lambda ln sum_i exp(-v_i/lambda) is from min v, given q = softmin.

    The least value has the weight 1/sum_i exp((min v - v_i)/lambda), so it is lambda ln max q.
    """
    return temperature * math.log(q.max())
