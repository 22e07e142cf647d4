"""The parts that DORM and DORM+ share: regrets r_s = <g_s, w_s> 1 - g_s, their hints, matching.

A hint for the regret of an outstanding round needs the play of that round. The play of the coming
round is not known yet when its regret is hinted, so the previous play is used in its place.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Prediction
from belated.learners.optimistic.hints import (
    RECENT,
    Hints,
    OptimisticLearner,
    fill_guess,
    outstanding,
    remember,
    with_room,
)
from belated.learners.whole_rounds import LOSS, ROUND, WEIGHT, WholeRounds

PLAYED = 2  # a further column of a play: the sum of all plays up to and including it
WIDTH = 3
ROUNDING = 1e-14  # a regret smaller than this share of the sum of all may be a rounding error


class Matching(NamedTuple):
    """The plays and regrets that regret matching works with.

    played is the sum of all plays, played_told the sum of the plays up to the last whole round, and
    last_play the last play. made holds all plays, by round, if the hint is "recent". regret is r_s
    of the last whole round, and scale is the sum over whole rounds of the range of their losses.
    """

    played: Floats
    played_told: Floats
    last_play: Floats
    made: Floats
    regret: Floats
    scale: Floats


class MatchingInfo(NamedTuple):
    """The hint for the regrets of the outstanding rounds, and the regrets that are matched."""

    hint: Floats
    matched: Floats


@compiled
def match(values: Floats, tolerance: float, q: Floats) -> None:
    """Fill q in proportion to the positive parts of the values, or evenly if there are none.

    Values up to the tolerance count as zero, since otherwise rounding errors alone could decide the
    normalised weights.
    """
    total = 0.0
    for i in range(q.shape[0]):
        q[i] = values[i] if values[i] > tolerance else 0.0
        total += q[i]
    for i in range(q.shape[0]):
        q[i] = q[i] / total if total > 0.0 else 1.0 / q.shape[0]


@compiled
def tolerance(matching: Matching, hint: Floats) -> float:
    """Return how far from zero regrets that cancel may be because of rounding."""
    return float(ROUNDING * (matching.scale[0] + max(hint.max(), -hint.min())))


@compiled
def fill_regret_hint(rounds: WholeRounds, hints: Hints, matching: Matching, hint: Floats) -> None:
    """Fill hint with the sum of the regrets expected of all outstanding rounds.

    With "prev" and "mean" all these rounds have the same guess g, and <g, sum_s w_s> is computed
    directly. With "recent" each round has its own guess, and the cost is K per outstanding round.
    """
    if hints.hint[0] == RECENT:
        fill_recent_regrets(rounds, hints, matching, hint)
        return
    fill_guess(rounds, hints, hint)
    least, shared = hint.min(), 0.0
    for i in range(hint.shape[0]):
        hint[i] -= least
        shared += hint[i] * (matching.played[i] - matching.played_told[i] + matching.last_play[i])
    for i in range(hint.shape[0]):
        hint[i] = shared - outstanding(rounds) * hint[i]


@compiled
def fill_recent_regrets(
    rounds: WholeRounds, hints: Hints, matching: Matching, hint: Floats
) -> None:
    """Fill hint with the sum over k of <g, w> 1 - g, for the hint "recent".

    g are the losses of the k-th most recent whole round, and w is the k-th outstanding play.
    """
    hint[:] = 0.0
    told, shared = rounds.told.number[0], 0.0
    for k in range(1, min(outstanding(rounds), told) + 1):
        after, before = hints.history[told - k + 1], hints.history[told - k]
        play = matching.made[min(rounds.told.latest[0] + k, rounds.round[0] - 1)]
        for i in range(hint.shape[0]):
            shared += (after[i] - before[i]) * play[i]
            hint[i] -= after[i] - before[i]
    for i in range(hint.shape[0]):
        hint[i] += shared


@compiled
def freeze_matched(
    rounds: WholeRounds, hints: Hints, matching: Matching, q: Floats, plays: Floats
) -> None:
    """Play the round: freeze its number, and for each arm w_t and the sum of all plays."""
    if hints.hint[0] == RECENT:
        for i in range(plays.shape[0]):
            matching.made[rounds.round[0], i] = q[i]
    for i in range(plays.shape[0]):
        matching.last_play[i] = q[i]
        matching.played[i] += q[i]
        plays[i, ROUND] = rounds.round[0]
        plays[i, WEIGHT] = q[i]
        plays[i, PLAYED] = matching.played[i]
    rounds.round[0] += 1


@compiled
def learn_regret(rounds: WholeRounds, hints: Hints, matching: Matching) -> None:
    """Compute r_s of the round that has just become whole.

    The smallest loss is subtracted from all, which does not change r_s but reduces rounding.
    """
    remember(rounds, hints)
    losses, weights = rounds.gathered[LOSS], rounds.gathered[WEIGHT]
    least, expected = losses.min(), 0.0
    for i in range(losses.shape[0]):
        expected += (losses[i] - least) * weights[i]
    for i in range(losses.shape[0]):
        matching.regret[i] = expected - (losses[i] - least)
        matching.played_told[i] = rounds.gathered[PLAYED, i]
    matching.scale[0] += losses.max() - least


@dataclass(frozen=True)
class RegretMatcher(OptimisticLearner):
    """A learner whose weights are in proportion to its regrets, including the hinted ones."""

    guarantee: ClassVar[str] = (
        "regret of order sqrt((d + 1) T K) if every loss is d rounds late, less with good hints"
    )
    play_width: ClassVar[int] = WIDTH

    def no_matching(self) -> Matching:
        """Return the record of plays and regrets before the first round."""
        return Matching(
            played=np.zeros(self.arms),
            played_told=np.zeros(self.arms),
            last_play=np.full(self.arms, 1.0 / self.arms),
            made=np.zeros((1, self.arms)),
            regret=np.zeros(self.arms),
            scale=np.zeros(1),
        )

    def reserved(self, state: Any, rounds: int) -> Any:
        state = super().reserved(state, rounds)
        if self.hint != "recent":
            return state
        matching = state.matching
        made = with_room(
            matching.made, int(state.rounds.round[0]) + rounds
        )  # one row for each round, from 1
        if made is matching.made:
            return state
        return state._replace(matching=matching._replace(made=made))

    def blank(self) -> Prediction:
        info = MatchingInfo(hint=np.zeros(self.arms), matched=np.zeros(self.arms))
        return Prediction.blank(self.arms, info=info)
