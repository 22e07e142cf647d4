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
from belated.ftrl.regularizers import HybridRegularizer, Regularizer
from belated.types import Setting

Counts = Callable[[Ledger, Play], bool]


@dataclass
class State:
    """The state of the algorithm: `losses` is Lhat_t^av; the ledger records plays and arrivals.

    `advice` is what each policy advises for the coming round, of shape (policy, arm). It is None if
    the coordinates are the arms themselves.
    """

    losses: Floats
    ledger: Ledger
    advice: Floats | None = None


@dataclass(frozen=True)
class Forecast:
    """The prediction of one round: p_t^av, its marginals q_t, the regularizer R_t and the rates."""

    p: Floats
    q: Floats
    regularizer: HybridRegularizer
    rates: Floats


@dataclass(frozen=True)
class DelayedFTRL:
    """Algorithm 1 (alg:framework), composed of its parts; everything that changes is in `State`.

    `psi` and `phi` return the regularizers Psi_t and Phi_t, given the ledger before round t. They
    may be any convex functions with value, gradient and Hessian, as long as Psi_t + Phi_t is
    Legendre on the positive cone. `rates` returns the rates of the pseudo-experts, which are stored
    with each play because its correction uses them. An optional part is not in the paper: `counts`
    says whether the loss of a play that has just arrived is used at all.

    If `arms` is given, the coordinates are policies (Theorems 5 and 6 of docs/beyond-the-paper.md).
    Before each round `advise` sets a distribution over so many arms for each policy, and the arms
    are weighed by the mixture. A loss of an arm then charges all policies, each by its advice.
    """

    setting: Setting
    prior_psi: Floats
    prior_phi: Floats
    psi: Callable[[Ledger], Regularizer]
    phi: Callable[[Ledger], Regularizer]
    rates: Grid
    estimate: Estimator
    correct: Correction
    counts: Counts | None = None
    arms: int | None = None

    @property
    def takes_advice(self) -> bool:
        """Whether the coordinates are policies, whose advice must be set before each round."""
        return self.arms is not None

    def start(self) -> State:
        """The state before the first round; policies advise all arms equally by default."""
        coordinates = self.prior_psi.shape[0]
        losses = np.zeros_like(self.prior_psi)
        if self.arms is None:
            return State(losses, Ledger(coordinates))
        even = np.full((coordinates, self.arms), 1.0 / self.arms)
        return State(losses, Ledger(self.arms), even)

    def advise(self, state: State, advice: Floats) -> None:
        """Set what each policy advises for the coming round, an array of shape (policy, arm)."""
        state.advice = np.array(advice, dtype=np.float64)

    def regularizer(self, state: State) -> HybridRegularizer:
        """R_t (eq:FTRLregularizer)."""
        psi, phi = self.psi(state.ledger), self.phi(state.ledger)
        return HybridRegularizer(psi, phi, self.prior_psi, self.prior_phi)

    def predict(self, state: State) -> Forecast:
        """eq:frameworkprediction: p_t^av = argmin <p, Lhat_t^av> + R_t(p), and marginals q_t."""
        regularizer = self.regularizer(state)
        p = argmin(regularizer, state.losses).p
        weights = p.sum(axis=1)
        q = weights if state.advice is None else weights @ state.advice
        return Forecast(p, q, regularizer, self.rates(state.ledger))

    def commit(self, state: State, forecast: Forecast, arm: int = -1) -> list[Play]:
        """Record that the round was played; returns its `Play` once per loss to be observed."""
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
            advice=state.advice,
            missing_mass=ledger.missing_mass(len(forecast.p)) if self.takes_advice else None,
        )
        ledger.record(play)
        return [play for _ in play.due(ledger.arms)]

    def observe(self, state: State, play: Play, arm: int, loss: float, missing: int = -1) -> None:
        """Add an arrived loss: Lhat^av(i') grows by lhat_s(i') = ltil_s(i') + a_s(i')."""
        state.ledger.receive(play, arm, loss)
        if self.counts and not self.counts(state.ledger, play):
            return
        state.losses[self.charged(arm)] += sum(self.charge(play, arm, loss, missing))

    def withdraw(self, state: State, play: Play, arm: int) -> None:
        """Stop waiting for a loss: it is no longer pending, and Lhat^av does not change."""
        state.ledger.withdraw(play, arm)

    def charged(self, arm: int) -> int | slice:
        """The coordinates that a loss of this arm is charged to: its own, or all policies."""
        return slice(None) if self.takes_advice else arm

    def charge(
        self, play: Play, arm: int, loss: float, missing: int
    ) -> tuple[float | Floats, Floats]:
        """The estimate ltil_s(i) and the corrections a_s(i, .); their sum is lhat_s(i, .).

        For policies both have a row for each policy.
        """
        estimate = self.estimate(play, arm, loss)
        return estimate, self.correct(play, arm, estimate, missing)
