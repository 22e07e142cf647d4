"""What DORM and DORM+ share: regrets r_s = <g_s, w_s> 1 - g_s, hints for them, and matching them.

A hint for the regret of an outstanding round needs the play of that round. That of the coming round
is not made yet when it is hinted, and the play before it stands in.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.jit import compiled
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

PLAYED = 2  # one more column of a play: the sum of all plays up to it
WIDTH = 3
ROUNDING = 1e-14  # of all regrets added up: what is smaller may be none


class Matching(NamedTuple):
    """The plays and regrets that regret matching works with.

    played is the sum of all plays, played_told that of the plays up to the last round told, and
    last_play the last play. made holds all plays, by round, if the hint is "recent". regret is r_s
    of the round told last, and scale adds up the ranges of all losses told.
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
    """q in proportion to the positive parts of the values; evenly if there are none.

    What is within the tolerance of zero counts as zero: normalised, rounding would decide it all.
    """
    total = 0.0
    for i in range(q.shape[0]):
        q[i] = values[i] if values[i] > tolerance else 0.0
        total += q[i]
    for i in range(q.shape[0]):
        q[i] = q[i] / total if total > 0.0 else 1.0 / q.shape[0]


@compiled
def tolerance(matching: Matching, hint: Floats) -> float:
    """How far from zero rounding may leave regrets that cancel."""
    return float(ROUNDING * (matching.scale[0] + max(hint.max(), -hint.min())))


@compiled
def fill_regret_hint(rounds: WholeRounds, hints: Hints, matching: Matching, hint: Floats) -> None:
    """The regrets expected of all outstanding rounds together.

    With "prev" and "mean" all these rounds have the same guess g, and <g, sum_s w_s> is found at
    once. With "recent" each has its own, and a round costs K for every round outstanding.
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
    """The sum over k of <g, w> 1 - g, g the k-th most recent told, w the k-th play outstanding."""
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
    """Find r_s of the round that was just told, with losses counted from their least."""
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
    """A learner whose weights are in proportion to its regrets, told and hinted."""

    guarantee: ClassVar[str] = (
        "regret of order sqrt((d + 1) T K) if every loss is d rounds late, less with good hints"
    )
    play_width: ClassVar[int] = WIDTH

    def no_matching(self) -> Matching:
        """The plays and regrets before the first round."""
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
        )  # a row a round, from 1
        if made is matching.made:
            return state
        return state._replace(matching=matching._replace(made=made))

    def blank(self) -> Prediction:
        info = MatchingInfo(hint=np.zeros(self.arms), matched=np.zeros(self.arms))
        return Prediction.blank(self.arms, info=info)
