"""A heap of whole numbers: the smallest is taken first, in time logarithmic in their number.

The first entry of the array is the number of items. The items at the indices 2k and 2k + 1 are not
smaller than the item at k.
"""

from belated.arrays import Counts
from belated.compiled.kernels import compiled


@compiled
def push(heap: Counts, number: int) -> None:
    """Add a number to the heap, which must have room for it."""
    heap[0] += 1
    place = heap[0]
    while place > 1 and heap[place // 2] > number:
        heap[place] = heap[place // 2]
        place //= 2
    heap[place] = number


@compiled
def pop(heap: Counts) -> int:
    """Remove and return the smallest number of the heap, which must not be empty."""
    smallest, last, count = heap[1], heap[heap[0]], heap[0] - 1
    heap[0] = count
    place = 1
    while 2 * place <= count:
        below = 2 * place
        if below < count and heap[below + 1] < heap[below]:
            below += 1
        if last <= heap[below]:
            break
        heap[place] = heap[below]
        place = below
    heap[place] = last
    return int(smallest)
