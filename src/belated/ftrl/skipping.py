"""Skipping (Theorem 9 of docs/beyond-the-paper.md), worked out from the ledger in every round."""

import math
from collections.abc import Callable
from typing import NamedTuple

from belated.ftrl.ledger import Ledger, Play

Weight = Callable[[Play], float]


class SkippedPlays(NamedTuple):
    """What skipping has come to at the start of round t.

    `since` has the round at whose start each skipped play was skipped, `cost` is Z_t, and
    `most_waiting` is W_t over the plays that are not skipped.
    """

    since: dict[int, int]
    cost: float
    most_waiting: float


def skipped_plays(ledger: Ledger, weight: Weight) -> SkippedPlays:
    """Go through all rounds up to the coming one, and skip what has cost too much by then."""
    since: dict[int, int] = {}
    costs: dict[int, float] = {}  # the contribution c_s of each play
    most, total = 0.0, 0.0
    for t in range(1, ledger.round + 1):
        total = math.fsum(costs.values())
        limit = math.sqrt(total / math.log(ledger.arms)) if ledger.arms > 1 else math.inf
        waiting = [play for play in ledger.outstanding_at(t) if play.round not in since]
        since |= {play.round: t for play in waiting if costs.get(play.round, 0.0) > limit}
        waiting = [play for play in waiting if play.round not in since]
        for arm in range(ledger.arms):
            most = max(most, math.fsum(weight(play) for play in waiting if play.arm == arm))
        if t < ledger.round:
            arm_played = ledger.plays[t - 1].arm
            for play in waiting:
                if play.arm == arm_played:
                    costs[play.round] = costs.get(play.round, 0.0) + weight(play)
    return SkippedPlays(since, total, most)
