"""Softmin: weights proportional to exp(-value/lambda), for a temperature lambda >= 0."""

import math

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.numerics.exponential_weights import weigh_exponentially

COLDEST = 1e-300  # 1/lambda overflows for smaller lambda


@compiled
def softmin(values: Floats, temperature: float, q: Floats) -> None:
    """Fill q with exp(-value/temperature), normalised to sum to one.

    At temperature zero q is shared evenly among the smallest values.
    """
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
    """-lambda ln sum_i exp(-v_i/lambda) - min v, the soft minimum less the minimum (<= 0).

    q is the softmin of v. The weight of the smallest value is 1/sum_i exp((min v - v_i)/lambda),
    so the difference is lambda ln max q.
    """
    return temperature * math.log(q.max())
