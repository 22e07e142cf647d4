"""The largest changes of the weights, and what happened meanwhile, for each arm."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.service.statistics.weights_over_time import WeightPoint

MOST_PARTS = 24  # pieces into which the time is cut
MOST_MOVES = 4
LEAST_MOVE = 0.05  # of the weight, from some arms to others


class WeightMove(NamedTuple):
    """A piece of time, and the weights before and after it.

    `distance` is the share of the weight that went from some arms to others.
    """

    begin: float
    end: float
    first_round: int
    last_round: int
    before: Floats
    after: Floats
    distance: float


def largest_moves(points: Sequence[WeightPoint]) -> list[WeightMove]:
    """The few pieces of time in which the weights changed most, the latest first.

    The points are cut into pieces of as many points; what changed little is left out.
    """
    step = max(1, -(-(len(points) - 1) // MOST_PARTS))
    ends = [*points[:-1:step], *points[-1:]]
    moves = []
    for (first, begin, before), (last, end, after) in pairwise(ends):
        distance = 0.5 * float(np.abs(after - before).sum())
        if distance >= LEAST_MOVE:
            moves.append(WeightMove(begin, end, first, last - 1, before, after, distance))
    largest = sorted(moves, key=lambda move: move.distance, reverse=True)[:MOST_MOVES]
    return sorted(largest, key=lambda move: move.begin, reverse=True)
