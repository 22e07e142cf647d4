"""Algorithm 1 (alg:framework), line for line: delayed FTRL with corrections."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from belated.arrays import Floats
from belated.ftrl.argmin import argmin
from belated.ftrl.corrections import Correction
from belated.ftrl.estimators import Estimator
from belated.ftrl.ledger import Ledger, Play
from belated.ftrl.rates import Grid
from belated.ftrl.regularizers import Hybrid, Regularizer
from belated.types import Setting

Hint = Callable[[Ledger], Floats]
Explore = Callable[[Ledger, Floats], Floats]


@dataclass
class State:
    """Lhat_t^av and the ledger of what was played and what has arrived."""

    losses: Floats
    ledger: Ledger


@dataclass(frozen=True)
class Forecast:
    """One round's answer: p_t^av, its marginals q_t, and the regularizer and rates behind it."""

    p: Floats
    q: Floats
    regularizer: Hybrid
    rates: Floats


@dataclass(frozen=True)
class DelayedFTRL:
    """Algorithm 1 from its parts; all that changes lives in the State.

    psi and phi give the regularizers Psi_t and Phi_t from what is known before round t; `rates` are
    those of the pseudo-experts, frozen with each play for its correction. The hint is added to
    Lhat_t^av for the prediction only, and `explore` changes the argmin before it is played; the
    paper has neither. A regularizer may be any convex function
    with value, gradient and Hessian, as long as Psi_t + Phi_t is Legendre on the positive cone.
    """

    setting: Setting
    prior_psi: Floats
    prior_phi: Floats
    psi: Callable[[Ledger], Regularizer]
    phi: Callable[[Ledger], Regularizer]
    rates: Grid
    estimate: Estimator
    correct: Correction
    hint: Hint | None = None
    explore: Explore | None = None

    def start(self) -> State:
        """The state before the first round."""
        return State(np.zeros_like(self.prior_psi), Ledger(arms=self.prior_psi.shape[0]))

    def regularizer(self, state: State) -> Hybrid:
        """R_t (eq:FTRLregularizer)."""
        psi, phi = self.psi(state.ledger), self.phi(state.ledger)
        return Hybrid(psi, phi, self.prior_psi, self.prior_phi)

    def predict(self, state: State) -> Forecast:
        """eq:frameworkprediction: p_t^av = argmin <p, Lhat_t^av> + R_t(p), and its marginals."""
        regularizer = self.regularizer(state)
        hint = self.hint(state.ledger) if self.hint else 0.0
        p = argmin(regularizer, state.losses + hint).p
        if self.explore:
            p = self.explore(state.ledger, p)
        return Forecast(p, p.sum(axis=1), regularizer, self.rates(state.ledger))

    def commit(self, state: State, forecast: Forecast, arm: int = -1) -> list[Play]:
        """Play the round; returns what was in force, once for each loss that will be told."""
        ledger = state.ledger
        bandit = self.setting is not Setting.FULL_INFORMATION
        play = Play(
            round=ledger.round,
            arm=arm if bandit else None,
            q=forecast.q,
            p=forecast.p,
            rates=forecast.rates,
            regularizer=forecast.regularizer,
            available=state.losses.copy(),
            missing=ledger.missing(),
            waiting=ledger.outstanding_rounds(arm) if bandit else (),
        )
        ledger.record(play)
        return [play for _ in play.due(ledger.arms)]

    def observe(self, state: State, play: Play, arm: int, loss: float, missing: int = -1) -> None:
        """A loss arrives: Lhat^av(i') grows by lhat_s(i') = ltil_s(i') + a_s(i')."""
        state.ledger.receive(play, arm, loss)
        state.losses[arm] += sum(self.charge(play, arm, loss, missing))

    def withdraw(self, state: State, play: Play, arm: int) -> None:
        """The loss is not waited for any longer, and nothing is learned from it."""
        state.ledger.withdraw(play, arm)

    def charge(self, play: Play, arm: int, loss: float, missing: int) -> tuple[float, Floats]:
        """ltil_s(i) and the corrections a_s(i, .), whose sum is lhat_s(i, .)."""
        estimate = self.estimate(play, arm, loss)
        return estimate, self.correct(play, arm, estimate, missing)
