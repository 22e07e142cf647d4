"""AdaHedgeD of Flaspohler, Orabona, Cohen, Mouatadid, Oprescu, Orenstein and Mackey (2021).

AdaHedge for delayed losses: the temperature grows by what each round has cost, found out when its
losses come. Without delay and hint it is AdaHedge; a perfect hint costs nothing.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.jit import compiled
from belated.learners.contract import Prediction, Verbs
from belated.learners.optimistic.hints import Hints, remember
from belated.learners.optimistic.optimistic_hedge import (
    FROZEN,
    OptimisticHedge,
    fill_miss,
    freeze,
    predict,
)
from belated.learners.whole_rounds import LOSS, WEIGHT, WholeRounds, gather, withdraw
from belated.numerics.softmin import below_least, softmin


class CostWork(NamedTuple):
    """Working space of `cost`: the plays w' and w^, the losses that give w^, and g_os - h."""

    leader: Floats
    mixed: Floats
    target: Floats
    miss: Floats


class AdaHedgeDState(NamedTuple):
    """The losses of the whole rounds are G; temperature is lambda."""

    rounds: WholeRounds
    hints: Hints
    temperature: Floats
    work: CostWork


@compiled
def commit(state: AdaHedgeDState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze w_t, G, h_t and lambda_t."""
    freeze(state.rounds, prediction, plays, state.temperature[0])


@compiled
def observe(state: AdaHedgeDState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """When round s is whole, lambda grows by delta_s/ln K."""
    if gather(state.rounds, play, arm, loss):
        remember(state.rounds, state.hints)
        arms = state.rounds.losses.shape[0]
        if arms > 1:
            delta = cost(state.rounds, state.work, play[FROZEN])
            state.temperature[0] += max(delta, 0.0) / math.log(arms)


@compiled
def cost(rounds: WholeRounds, work: CostWork, temperature: float) -> float:
    """The least of three bounds on what round s has cost, with lambda_s as it was at the play.

    They are the drift <g_s, w_s - w'> to w' = softmin(G/lambda_s), who knows g_s and all before;
    what the hint has cost, aux(h_s, w_s); and, with a hint h^ that is off by no more than |g_s| and
    its play w^, aux(h^, w^) + <g_s, w_s - w^>.
    """
    weights = rounds.gathered[WEIGHT]
    softmin(rounds.losses, temperature, work.leader)
    sizes = fill_miss(rounds, work.miss)
    drift = gained(rounds.gathered, weights, work.leader)
    hinted = auxiliary(rounds, work, temperature, 1.0, weights)
    if sizes.miss <= sizes.loss:  # h^ is the hint itself
        return float(min(drift, hinted))
    part = sizes.loss / sizes.miss
    fill_target(rounds, work, part)
    softmin(work.target, temperature, work.mixed)
    between = auxiliary(rounds, work, temperature, part, work.mixed)
    return float(min(drift, hinted, between + gained(rounds.gathered, weights, work.mixed)))


@compiled
def gained(gathered: Floats, before: Floats, after: Floats) -> float:
    """<g_s, before - after>, with losses counted from their least, which changes no difference."""
    least, total = gathered[LOSS].min(), 0.0
    for i in range(before.shape[0]):
        total += (gathered[LOSS, i] - least) * (before[i] - after[i])
    return float(total)


@compiled
def fill_target(rounds: WholeRounds, work: CostWork, part: float) -> None:
    """The losses G - part (g_os - h_s): with part 1 those that w_s was made from."""
    for i in range(work.target.shape[0]):
        work.target[i] = rounds.losses[i] - part * work.miss[i]


@compiled
def auxiliary(
    rounds: WholeRounds, work: CostWork, temperature: float, part: float, weights: Floats
) -> float:
    """aux(h, w) = lambda ln sum_i w(i) exp((h - g_os)(i)/lambda) - <h - g_os, w>.

    Here g_os - h is a part of the miss e, and w the softmin of G - part e. The logarithm is then a
    difference of two soft minima, and so the formula holds down to lambda = 0.
    """
    miss, target = work.miss, work.target
    fill_target(rounds, work, part)
    least, total = part * miss.min(), 0.0
    for i in range(weights.shape[0]):
        total += (part * miss[i] - least) * weights[i]
    lifted = target.min() + least - rounds.losses.min()
    soft = below_least(weights, temperature) - below_least(work.leader, temperature)
    return float(total + lifted + soft)


@dataclass(frozen=True)
class AdaHedgeD(OptimisticHedge):
    """AdaHedgeD, which must be told nothing beforehand."""

    name: ClassVar[str] = "adahedged"
    state: ClassVar[type] = AdaHedgeDState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def start(self) -> AdaHedgeDState:
        even = np.full((4, self.arms), 1.0 / self.arms)
        return AdaHedgeDState(
            rounds=self.no_rounds(),
            hints=self.no_hints(),
            temperature=np.zeros(1),
            work=CostWork(*even),
        )
