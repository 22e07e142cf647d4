"""The projection on the probability simplex, by sorting only as far as is needed.

The projection of v is max(v - theta, 0) with the theta that makes it sum to one. The values that
stay positive are the largest ones. They are taken from a heap, one after the other, until the next
value lies below the theta of those taken. The largest value is subtracted from all, so that large
values that are nearly equal lose no digits; the sum does not depend on the order of the arms.
"""

from belated.arrays import Floats
from belated.compiled.kernels import compiled


@compiled
def project(values: Floats, heap: Floats) -> None:
    """Replace the values by their projection on the simplex; `heap` is working space as long."""
    size = values.shape[0]
    for i in range(size):
        heap[i] = values[i]
    for i in range(size // 2 - 1, -1, -1):
        sink(heap, i, size)
    largest, total, theta = heap[0], 0.0, -1.0
    for taken in range(1, size + 1):
        gap = heap[0] - largest
        if gap <= theta:
            break
        total += gap
        theta = (total - 1.0) / taken
        heap[0] = heap[size - taken]
        sink(heap, 0, size - taken)
    for i in range(size):
        values[i] = max(values[i] - largest - theta, 0.0)


@compiled
def sink(heap: Floats, i: int, size: int) -> None:
    """Move the value at index i down the heap of the first `size` values, below all larger ones."""
    value = heap[i]
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = value
