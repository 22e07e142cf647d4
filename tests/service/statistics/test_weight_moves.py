"""The largest changes of the weights are found, and little ones are not."""

import numpy as np

from belated.service.statistics.weight_moves import MOST_MOVES, MOST_PARTS, largest_moves
from belated.service.statistics.weights_over_time import WeightPoint


def points(shares: list[float]) -> list[WeightPoint]:
    """Weights of two arms, the first with these shares, ten seconds apart."""
    return [(k + 1, 10.0 * k, np.array([q, 1.0 - q])) for k, q in enumerate(shares)]


def test_a_swing_is_found() -> None:
    """Its times, rounds and weights are those around it; the latest is first."""
    found = largest_moves(points([0.5, 0.5, 0.9, 0.9, 0.1, 0.1]))
    assert [(move.begin, move.end) for move in found] == [(30.0, 40.0), (10.0, 20.0)]
    assert [round(move.distance, 9) for move in found] == [0.8, 0.4]
    assert (found[0].first_round, found[0].last_round) == (4, 4)
    assert (found[0].before[0], found[0].after[0]) == (0.9, 0.1)


def test_little_is_no_move() -> None:
    """Nor is there one with fewer than two points."""
    assert largest_moves(points([0.5, 0.52, 0.5])) == []
    assert largest_moves(points([0.5])) == largest_moves([]) == []


def test_many_points_make_few_pieces() -> None:
    """Slow changes add up within a piece, and only the largest pieces are kept."""
    shares = [0.5 + 0.5 * np.sin(k / 20.0) for k in range(400)]
    found = largest_moves(points(shares))
    assert len(found) == MOST_MOVES
    assert all(10.0 * 399 / MOST_PARTS <= move.end - move.begin <= 200.0 for move in found)
