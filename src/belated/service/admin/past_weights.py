"""The weights of a problem after each of its latest events, for decisions that were made from them.

With several workers a decision is made from a state that may be older than its place in the
journal. The decision names that state (`state_version`), so it can be judged exactly.
"""

from bisect import bisect_right
from collections.abc import Mapping

from belated.arrays import Floats
from belated.service.core.replica import Replica
from belated.service.core.snapshots import made_from, short_code_version
from belated.service.store import START, Decision, Position

MOST_NUMBERS, FEWEST_STATES = 2_000_000, 100  # kept of one problem

NamedWeights = tuple[Mapping[str, int], Floats]  # the places of the arms, and their weights


class PastWeights:
    """Weights by position, the oldest of which are forgotten."""

    def __init__(self) -> None:
        self._positions: list[Position] = []
        self._weights: list[NamedWeights] = []

    def add(self, position: Position, replica: Replica, is_first: bool = True) -> None:
        """Add the weights after the event at a position.

        Before the first event of all they are alike.
        """
        weights = replica.weights().copy()
        self._positions.append(position if self._positions or not is_first else START)
        self._weights.append((replica.problem.places, weights))
        most = max(FEWEST_STATES, MOST_NUMBERS // len(weights))
        if len(self._positions) > 2 * most:
            del self._positions[:most], self._weights[:most]

    def of(self, decision: Decision) -> NamedWeights | None:
        """The weights that a decision was made from; None if this code cannot tell."""
        position, code = made_from(decision)
        place = bisect_right(self._positions, position) - 1
        return self._weights[place] if code == short_code_version() and place >= 0 else None
