"""A heap of whole numbers: the smallest is taken first, each step in the logarithm of their number.

The first entry of the array counts the numbers; those in places 2k and 2k + 1 are not below k's.
"""

from belated.arrays import Counts
from belated.compiled.jit import compiled


@compiled
def push(heap: Counts, number: int) -> None:
    """Add a number; there must be room."""
    heap[0] += 1
    place = heap[0]
    while place > 1 and heap[place // 2] > number:
        heap[place] = heap[place // 2]
        place //= 2
    heap[place] = number


@compiled
def pop(heap: Counts) -> int:
    """Take out the smallest number; there must be one."""
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
