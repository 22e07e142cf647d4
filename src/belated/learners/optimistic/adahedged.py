"""AdaHedgeD of Flaspohler, Orabona, Cohen, Mouatadid, Oprescu, Orenstein and Mackey (2021).

AdaHedge for delayed losses: the temperature grows by what each round has cost, found out when its
losses come. Without delay and hint it is AdaHedge; a perfect hint costs nothing.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.jit import compiled
from belated.learners.contract import Prediction, Verbs
from belated.learners.optimistic.hints import remember
from belated.learners.optimistic.optimistic_hedge import (
    FROZEN,
    OptimisticHedge,
    fill_miss,
    freeze,
    predict,
)
from belated.learners.whole_rounds import LOSS, WEIGHT, gather, withdraw
from belated.numerics.softmin import below_least, softmin

LEADER, MIXED, TARGET, MISS = range(4)  # rows of the room to work in


class AdaHedgeDState(NamedTuple):
    """losses is G, of the whole rounds told; temperature is lambda."""

    losses: Floats
    gathered: Floats
    coming: Counts
    told: Counts
    round: Counts
    hint: Counts
    latest: Floats
    history: Floats
    temperature: Floats
    room: Floats


@compiled
def commit(state: AdaHedgeDState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze w_t, G, h_t and lambda_t."""
    freeze(state, prediction, plays, state.temperature[0])


@compiled
def observe(state: AdaHedgeDState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """When round s is whole, lambda grows by delta_s/ln K."""
    if gather(state, play, arm, loss):
        remember(state)
        if state.losses.shape[0] > 1:
            delta = cost(state, play[FROZEN])
            state.temperature[0] += max(delta, 0.0) / math.log(state.losses.shape[0])


@compiled
def cost(state: AdaHedgeDState, temperature: float) -> float:
    """The least of three bounds on what round s has cost, with lambda_s as it was at the play.

    They are the drift <g_s, w_s - w'> to w' = softmin(G/lambda_s), who knows g_s and all before;
    what the hint has cost, aux(h_s, w_s); and, with a hint h^ that is off by no more than |g_s| and
    its play w^, aux(h^, w^) + <g_s, w_s - w^>.
    """
    leader, mixed, miss = state.room[LEADER], state.room[MIXED], state.room[MISS]
    weights = state.gathered[WEIGHT]
    softmin(state.losses, temperature, leader)
    sizes = fill_miss(state, miss)
    drift = gained(state.gathered, weights, leader)
    hinted = auxiliary(state, temperature, 1.0, weights)
    if sizes.miss <= sizes.loss:  # h^ is the hint itself
        return float(min(drift, hinted))
    part, target = sizes.loss / sizes.miss, state.room[TARGET]
    fill_target(state, part, target)
    softmin(target, temperature, mixed)
    between = auxiliary(state, temperature, part, mixed)
    return float(min(drift, hinted, between + gained(state.gathered, weights, mixed)))


@compiled
def gained(gathered: Floats, before: Floats, after: Floats) -> float:
    """<g_s, before - after>, with losses counted from their least, which changes no difference."""
    least, total = gathered[LOSS].min(), 0.0
    for i in range(before.shape[0]):
        total += (gathered[LOSS, i] - least) * (before[i] - after[i])
    return float(total)


@compiled
def fill_target(state: AdaHedgeDState, part: float, target: Floats) -> None:
    """The losses G - part (g_os - h_s): with part 1 those that w_s was made from."""
    for i in range(target.shape[0]):
        target[i] = state.losses[i] - part * state.room[MISS, i]


@compiled
def auxiliary(state: AdaHedgeDState, temperature: float, part: float, weights: Floats) -> float:
    """aux(h, w) = lambda ln sum_i w(i) exp((h - g_os)(i)/lambda) - <h - g_os, w>.

    Here g_os - h is a part of the miss e, and w the softmin of G - part e. The logarithm is then a
    difference of two soft minima, and so the formula holds down to lambda = 0.
    """
    miss, target = state.room[MISS], state.room[TARGET]
    fill_target(state, part, target)
    least, total = part * miss.min(), 0.0
    for i in range(weights.shape[0]):
        total += (part * miss[i] - least) * weights[i]
    lifted = target.min() + least - state.losses.min()
    soft = below_least(weights, temperature) - below_least(state.room[LEADER], temperature)
    return float(total + lifted + soft)


@dataclass(frozen=True)
class AdaHedgeD(OptimisticHedge):
    """AdaHedgeD, which must be told nothing beforehand."""

    name: ClassVar[str] = "adahedged"
    state: ClassVar[type] = AdaHedgeDState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> AdaHedgeDState:
        room = np.full((4, self.arms), 1.0 / self.arms)
        return AdaHedgeDState(**self.nothing_told(), temperature=np.zeros(1), room=room)
