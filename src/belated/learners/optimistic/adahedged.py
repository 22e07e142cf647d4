"""AdaHedgeD of Flaspohler, Orabona, Cohen, Mouatadid, Oprescu, Orenstein and Mackey (2021).

This is AdaHedge for delayed losses. The temperature grows by a bound on the cost of each round,
which is computed when the losses of the round have arrived. Without delays and hints it is
AdaHedge. A round with a perfect hint has no cost.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.compiled.kernels import compiled
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
    """Working space of `cost`: the plays w' and w^, the losses that determine w^, and g_os - h."""

    leader: Floats
    mixed: Floats
    target: Floats
    miss: Floats


class AdaHedgeDState(NamedTuple):
    """State: rounds.losses is G, the losses of the whole rounds; temperature is lambda."""

    rounds: WholeRounds
    hints: Hints
    temperature: Floats
    work: CostWork


@compiled
def commit(state: AdaHedgeDState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze the weights w_t, the losses G, the hint h_t and the temperature lambda_t."""
    freeze(state.rounds, prediction, plays, state.temperature[0])


@compiled
def observe(state: AdaHedgeDState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Store the loss; when its round s is whole, raise the temperature lambda by delta_s/ln K."""
    if gather(state.rounds, play, arm, loss):
        remember(state.rounds, state.hints)
        arms = state.rounds.losses.shape[0]
        if arms > 1:
            delta = cost(state.rounds, state.work, play[FROZEN])
            state.temperature[0] += max(delta, 0.0) / math.log(arms)


@compiled
def cost(rounds: WholeRounds, work: CostWork, temperature: float) -> float:
    """Return delta_s, the smallest of three bounds on the cost of round s.

    lambda_s is the temperature when the round was played. The bounds are the drift
    <g_s, w_s - w'> to w' = softmin(G/lambda_s), which uses g_s and all earlier losses; the cost of
    the hint, aux(h_s, w_s); and, with a hint h^ whose error is at most |g_s| and its play w^,
    aux(h^, w^) + <g_s, w_s - w^>.
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
    """Return <g_s, before - after>.

    The smallest loss is subtracted from all, which does not change the result.
    """
    least, total = gathered[LOSS].min(), 0.0
    for i in range(before.shape[0]):
        total += (gathered[LOSS, i] - least) * (before[i] - after[i])
    return float(total)


@compiled
def fill_target(rounds: WholeRounds, work: CostWork, part: float) -> None:
    """Fill work.target with G - part (g_os - h_s); for part 1 these losses determined w_s."""
    for i in range(work.target.shape[0]):
        work.target[i] = rounds.losses[i] - part * work.miss[i]


@compiled
def auxiliary(
    rounds: WholeRounds, work: CostWork, temperature: float, part: float, weights: Floats
) -> float:
    """Return aux(h, w) = lambda ln sum_i w(i) exp((h - g_os)(i)/lambda) - <h - g_os, w>.

    Here g_os - h is `part` times the error e of the hint, and w is the softmin of G - part e. The
    logarithm is then a difference of two soft minima, so the formula also holds for lambda = 0.
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
    """AdaHedgeD, which needs to know nothing beforehand."""

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
