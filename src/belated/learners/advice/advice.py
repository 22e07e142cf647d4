"""Policies with full information (Theorem 5 of docs/beyond-the-paper.md).

It is the repaired full-information learner with policies in the place of experts. A policy's loss
comes in parts, one for each arm that it advised. What is missing of a policy is not a number of
rounds but the mass of its advice whose losses have not come: a real number.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import MOST_ROUNDS, as_count
from belated.compiled.kernels import compiled
from belated.learners.advice.policies import OverPolicies, mix
from belated.learners.contract import (
    Certificate,
    GameOutcome,
    Prediction,
    RunOutcome,
    Verbs,
)
from belated.learners.paper.full_information import (
    FullInformation,
    FullInformationState,
    charge,
    losses_now,
    move_on,
)
from belated.learners.paper.full_information import predict as predict_policies
from belated.learners.paper.full_information_certificate import certificate_from
from belated.types import Need, Setting

MOST_MISSING, SHARES = 0, 1  # the columns of a play: rho_s^max, xi_s(., i), and then rho_s(.)
ROUNDING = 1e-9  # how far a sum over all rounds may be off


class AdviceState(NamedTuple):
    """The advice of the coming round, by policy and arm, and the learner over the policies.

    policies.missing is rho_t(n), the missing mass of each policy, and outstanding the number of
    losses that it comes from.
    """

    advice: Floats
    policies: FullInformationState
    outstanding: Counts


class AdviceInfo(NamedTuple):
    """The weights of the policies and what they rest on.

    weights is p_t(n), missing is rho_t(n), and strategies is the advice of the round. multiples has
    1 + rho_t(n), by which the certificate weighs the losses of the policies. inner is the
    prediction of the learner over the policies.
    """

    weights: Floats
    missing: Floats
    strategies: Floats
    multiples: Floats
    inner: Prediction


@compiled
def predict(state: AdviceState, prediction: Prediction) -> None:
    """Compute p_t of Theorem 5 and from it q_t(i) = sum_n p_t(n) xi_t(n, i)."""
    info, inner, missing = prediction.info, prediction.info.inner, state.policies.missing
    inner.detailed[0] = prediction.detailed[0]
    predict_policies(state.policies, inner)
    mix(inner.q, state.advice, prediction.q)
    for j in range(inner.eta.shape[0]):
        prediction.eta[j] = inner.eta[j]
    for n in range(missing.shape[0]):
        info.weights[n] = inner.q[n]
        info.missing[n] = missing[n]
        for i in range(prediction.q.shape[0]):
            info.strategies[n, i] = state.advice[n, i]
        info.multiples[n] = 1.0 + missing[n]
    if prediction.detailed[0] == 1:
        for n in range(inner.p.shape[0]):
            for j in range(inner.p.shape[1]):
                prediction.p[n, j] = inner.p[n, j]


@compiled
def commit(state: AdviceState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Freeze the advice, rho_t(n) and rho_t^max for every arm, whose loss is now missing."""
    advice, missing = state.advice, state.policies.missing
    size = missing.shape[0]
    move_on(state.policies, prediction.info.inner)
    for i in range(advice.shape[1]):
        plays[i, MOST_MISSING] = state.policies.most_missing[0]
        for n in range(size):
            plays[i, SHARES + n] = advice[n, i]
            plays[i, SHARES + size + n] = missing[n]
    for n in range(size):
        for i in range(advice.shape[1]):
            missing[n] += advice[n, i]
    state.outstanding[0] += advice.shape[1]


@compiled
def withdraw(state: AdviceState, play: Floats, arm: int) -> None:
    """Take the advice for an arm out of the missing mass, which is zero if nothing is missing."""
    missing = state.policies.missing
    state.outstanding[0] -= 1
    if state.outstanding[0] == 0:
        missing[:] = 0.0
        return
    for n in range(missing.shape[0]):
        missing[n] -= play[SHARES + n]


@compiled
def observe(state: AdviceState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add xi_s(n, i) l (1 + 4 eta_s(j) (1 + rho_s(n))) of Theorem 5, with all as in round s."""
    withdraw(state, play, arm)
    size = state.policies.missing.shape[0]
    if loss == 0.0:
        return
    for n in range(size):
        part = play[SHARES + n] * loss
        if part > 0.0:
            charge(state.policies, play[MOST_MISSING], play[SHARES + size + n], n, part)


@dataclass(frozen=True)
class Advice(OverPolicies):
    """Weighs policies that give advice, and is told the losses of all arms."""

    horizon: int = 1

    name: ClassVar[str] = "advice"
    setting: ClassVar[Setting] = Setting.FULL_INFORMATION
    needs: ClassVar[tuple[Need, ...]] = (Need.HORIZON, Need.ADVICE)
    guarantee: ClassVar[str] = (
        "regret against policy n at most 4M + 12 + 6 sqrt(c sum_t (1 + rho_t(n)) y_t(n)) + 8cM, "
        "M = 1 + rho_max, c = ln 1/pi(n) + 2(ln T + 1), rho_t(n) the policy's missing mass"
    )
    source: ClassVar[str] = "ours: Theorem 5 of docs/beyond-the-paper.md"
    state: ClassVar[type] = AdviceState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        horizon = as_count(self.horizon, "horizon", 1, MOST_ROUNDS)
        object.__setattr__(self, "horizon", horizon)

    @property
    def over_policies(self) -> FullInformation:
        """The repaired full-information learner whose experts are the policies."""
        horizon, prior = self.horizon, self.prior
        return FullInformation(self.size, variant="repaired", horizon=horizon, prior=prior)

    @property
    def row_width(self) -> int:
        return SHARES + 2 * self.size

    def start(self) -> AdviceState:
        first: FullInformationState = self.over_policies.start()
        return AdviceState(
            advice=self.first_advice(),
            policies=first._replace(missing=np.zeros(self.size), most_missing=np.zeros(1)),
            outstanding=np.zeros(1, dtype=np.int64),
        )

    def losses(self, state: AdviceState) -> Floats:
        return losses_now(state.policies)

    def blank(self) -> Prediction:
        inner, size = self.over_policies.blank(), self.size
        rates = inner.eta.size
        info = AdviceInfo(
            weights=np.zeros(size),
            missing=np.zeros(size),
            strategies=np.zeros((size, self.arms)),
            multiples=np.zeros(size),
            inner=inner,
        )
        blank = Prediction.blank(self.arms, eta=rates, info=info)
        return blank._replace(p=np.zeros((size, rates)))

    def certificate(self, run: RunOutcome, game: GameOutcome) -> Certificate | None:
        """Return what the first form of Theorem 5 proves, unless a window replaces losses.

        It bounds the learner's loss by that of each policy and so, by the best of these bounds,
        its regret against each arm.
        """
        if self.window is not None:
            return None
        apart = -np.log(np.array(self.prior))
        above = certificate_from(apart, run.weighed, run.eta).min(axis=1)
        most = run.strategies + above
        return Certificate(
            bounds=most.min() - game.losses,
            holds=bool((run.loss <= most + ROUNDING * (1.0 + np.abs(most))).all()),
        )
