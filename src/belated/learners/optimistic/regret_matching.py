"""What DORM and DORM+ share: regrets r_s = <g_s, w_s> 1 - g_s, hints for them, and matching them.

A hint for the regret of an outstanding round needs the play of that round. That of the coming round
is not made yet when it is hinted, and the play before it stands in.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from belated.arrays import Floats
from belated.compiled.jit import compiled
from belated.learners.contract import Prediction
from belated.learners.optimistic.hints import (
    RECENT,
    Hinted,
    OptimisticLearner,
    fill_guess,
    outstanding,
    remember,
    with_room,
)
from belated.learners.whole_rounds import COUNT, LATEST, LOSS, ROUND, WEIGHT

PLAYED = 2  # one more column of a play: the sum of all plays up to it
WIDTH = 3
HINTED, MATCHED = 0, 1  # rows of a prediction's room to work in
WORK = 2
ROUNDING = 1e-14  # of all regrets added up: what is smaller may be none


class Matches(Hinted, Protocol):
    """The part of a state that matches regrets.

    `played` is the sum of all plays, `played_told` that of the plays up to the last round told,
    `last_play` the last of them; `made` holds them all, by round, if the hint is "recent".
    `regret` is r_s of the round told last, and `scale` adds up the ranges of all losses told.
    """

    @property
    def played(self) -> Floats: ...

    @property
    def played_told(self) -> Floats: ...

    @property
    def last_play(self) -> Floats: ...

    @property
    def made(self) -> Floats: ...

    @property
    def regret(self) -> Floats: ...

    @property
    def scale(self) -> Floats: ...


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
def tolerance(state: Matches, hint: Floats) -> float:
    """What rounding may have made of regrets that cancel."""
    return float(ROUNDING * (state.scale[0] + max(hint.max(), -hint.min())))


@compiled
def fill_regret_hint(state: Matches, hint: Floats) -> None:
    """The regrets expected of all outstanding rounds together.

    With "prev" and "mean" all these rounds have the same guess g, and <g, sum_s w_s> is found at
    once. With "recent" each has its own, and a round costs K for every round outstanding.
    """
    if state.hint[0] == RECENT:
        fill_recent_regrets(state, hint)
        return
    fill_guess(state, hint)
    least, shared = hint.min(), 0.0
    for i in range(hint.shape[0]):
        hint[i] -= least
        shared += hint[i] * (state.played[i] - state.played_told[i] + state.last_play[i])
    for i in range(hint.shape[0]):
        hint[i] = shared - outstanding(state) * hint[i]


@compiled
def fill_recent_regrets(state: Matches, hint: Floats) -> None:
    """The sum over k of <g, w> 1 - g, g the k-th most recent told, w the k-th play outstanding."""
    hint[:] = 0.0
    told, shared = state.told[COUNT], 0.0
    for k in range(1, min(outstanding(state), told) + 1):
        after, before = state.history[told - k + 1], state.history[told - k]
        play = state.made[min(state.told[LATEST] + k, state.round[0] - 1)]
        for i in range(hint.shape[0]):
            shared += (after[i] - before[i]) * play[i]
            hint[i] -= after[i] - before[i]
    for i in range(hint.shape[0]):
        hint[i] += shared


@compiled
def freeze_matched(state: Matches, prediction: Prediction, plays: Floats) -> None:
    """The round is played: freeze it, and for each arm w_t and the sum of all plays."""
    if state.hint[0] == RECENT:
        for i in range(plays.shape[0]):
            state.made[state.round[0], i] = prediction.q[i]
    for i in range(plays.shape[0]):
        state.last_play[i] = prediction.q[i]
        state.played[i] += prediction.q[i]
        plays[i, ROUND] = state.round[0]
        plays[i, WEIGHT] = prediction.q[i]
        plays[i, PLAYED] = state.played[i]
    state.round[0] += 1


@compiled
def regret_told(state: Matches) -> None:
    """r_s of the round told just now, with losses counted from their least; no more is frozen."""
    remember(state)
    losses, weights = state.gathered[LOSS], state.gathered[WEIGHT]
    least, expected = losses.min(), 0.0
    for i in range(losses.shape[0]):
        expected += (losses[i] - least) * weights[i]
    for i in range(losses.shape[0]):
        state.regret[i] = expected - (losses[i] - least)
        state.played_told[i] = state.gathered[PLAYED, i]
    state.scale[0] += losses.max() - least


@dataclass(frozen=True)
class RegretMatcher(OptimisticLearner):
    """A learner whose weights are in proportion to its regrets, told and hinted."""

    guarantee: ClassVar[str] = (
        "regret of order sqrt((d + 1) T K) if every loss is d rounds late, less with good hints"
    )
    play_width: ClassVar[int] = WIDTH

    def nothing_told(self) -> dict[str, Any]:
        return {
            **super().nothing_told(),
            "played": np.zeros(self.arms),
            "played_told": np.zeros(self.arms),
            "last_play": np.full(self.arms, 1.0 / self.arms),
            "made": np.zeros((1, self.arms)),
            "regret": np.zeros(self.arms),
            "scale": np.zeros(1),
        }

    def reserved(self, state: Any, rounds: int) -> Any:
        state = super().reserved(state, rounds)
        if self.hint != "recent":
            return state
        made = with_room(state.made, int(state.round[0]) + rounds)  # a row for each round, from 1
        return state if made is state.made else state._replace(made=made)

    def blank(self) -> Prediction:
        return Prediction.blank(self.arms, work=WORK)
