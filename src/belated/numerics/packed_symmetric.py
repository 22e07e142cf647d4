"""Symmetric matrices of which only the rows from the diagonal on are kept, one after the other.

Row i has the entries (i, i), (i, i + 1), ..., (i, d - 1). Such a matrix takes half the memory of a
whole one, and is symmetric whatever is rounded. All sums are added up in lanes, in a fixed order.
"""

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled, compiled_apart
from belated.numerics.lanes import (
    LANES,
    across,
    load_part,
    load_whole,
    spread,
    store_part,
    store_whole,
    whole,
)


def packed_size(width: int) -> int:
    """How many numbers a packed matrix of so many rows has."""
    return width * (width + 1) // 2


def packed_identity(width: int) -> Floats:
    """The packed identity matrix of so many rows."""
    rows = [np.eye(1, width - i)[0] for i in range(width)]
    return np.concatenate(rows)


@compiled_apart
def forms(matrix: Floats, x: Floats, v: Floats) -> tuple[float, float]:
    """Return x'Mx and x'Mv for a packed symmetric matrix M.

    The sums over the rows count the entries beside the diagonal once for each of their two places;
    the diagonal is counted twice, and taken out once.
    """
    width, start = x.shape[0], 0
    square, mixed, own, own_mixed = spread(0.0), spread(0.0), 0.0, 0.0
    for i in range(width):
        row, right, other = matrix[start : start + width - i], x[i:], v[i:]
        by_x, by_v, end = spread(0.0), spread(0.0), whole(width - i)
        for k in range(0, end, LANES):
            entries = load_whole(row, k)
            by_x = by_x + entries * load_whole(right, k)
            by_v = by_v + entries * load_whole(other, k)
        if end < width - i:
            entries = load_part(row, end, 0.0)
            by_x = by_x + entries * load_part(right, end, 0.0)
            by_v = by_v + entries * load_part(other, end, 0.0)
        square = square + by_x * (2.0 * x[i])
        mixed = mixed + (by_v * x[i] + by_x * v[i])
        own += row[0] * x[i] * x[i]
        own_mixed += row[0] * x[i] * v[i]
        start += width - i
    return across(square) - own, across(mixed) - own_mixed


@compiled
def fill_product(matrix: Floats, x: Floats, product: Floats) -> None:
    """Fill in Mx for a packed symmetric matrix M."""
    width, start = x.shape[0], 0
    for i in range(width):
        product[i] = 0.0
    for i in range(width):
        row, right, below = matrix[start : start + width - i], x[i:], product[i:]
        sum_, end = spread(0.0), whole(width - i)
        for k in range(0, end, LANES):
            entries = load_whole(row, k)
            sum_ = sum_ + entries * load_whole(right, k)
            store_whole(below, k, load_whole(below, k) + entries * x[i])
        if end < width - i:
            entries = load_part(row, end, 0.0)
            sum_ = sum_ + entries * load_part(right, end, 0.0)
            store_part(below, end, load_part(below, end, 0.0) + entries * x[i])
        product[i] += across(sum_) - row[0] * x[i]
        start += width - i


@compiled_apart
def add_to_inverse(inverse: Floats, x: Floats, weight: float) -> None:
    """Replace P = A^-1 by (A + w xx')^-1 = P - w Pxx'P/(1 + w x'Px) (Sherman and Morrison).

    The weight may be negative if A + w xx' is still positive definite.
    """
    width, start = x.shape[0], 0
    product = np.empty(width)
    fill_product(inverse, x, product)
    square = 0.0
    for i in range(width):
        square += x[i] * product[i]
    share = weight / (1.0 + weight * square)
    for i in range(width):
        row, right = inverse[start : start + width - i], product[i:]
        factor, end = share * product[i], whole(width - i)
        for k in range(0, end, LANES):
            store_whole(row, k, load_whole(row, k) - load_whole(right, k) * factor)
        if end < width - i:
            rest = load_part(row, end, 0.0) - load_part(right, end, 0.0) * factor
            store_part(row, end, rest)
        start += width - i
