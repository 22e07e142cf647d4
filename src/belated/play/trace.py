"""The trace of a run: the losses and weights of one learner in one game, as sums at checkpoints."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from belated.arrays import Counts, Floats
from belated.learners.contract import NO_INFO, Learner, TrustStanding
from belated.learners.states import copied
from belated.play.game import Game

_NONE = np.empty(0)


@dataclass(frozen=True)
class Trace:
    """The record of one run of a learner through a game.

    Arrays named `_at` have a row for each checkpoint, with sums from the first round on. loss_at is
    the sum of <q_t, l_t>, the expected loss given the past; realised_at is the sum of l_t(i_t),
    which is equal to it in full information. weight_at is the sum of q_t, and rate_weight_at the
    weight of each learning rate at the checkpoint.
    """

    learner: Any
    checkpoints: Counts
    loss_at: Floats
    realised_at: Floats
    weight_at: Floats
    rate_weight_at: Floats
    rates: Floats
    plays: Counts
    expected_missing: float  # sum_t <q_t, rho_t>
    strategies: Floats  # sum_t <q_t^m, l_t> of each strategy that the learner mixes, if any
    weighed: Floats  # sum_t eta_t(j) f_t(m) <q_t^m, l_t>, if the learner's info has multiples f
    last: Floats  # q_T
    eta: Floats  # the rates of the last prediction
    info: Any  # the learner's own info in the last prediction
    trust_at: tuple[TrustStanding, ...]  # at each checkpoint; empty if nothing is certified
    seconds: float

    @property
    def trust(self) -> TrustStanding | None:
        """Where certified trust stands after the last round; None if nothing is certified."""
        return self.trust_at[-1] if self.trust_at else None

    @property
    def overlap(self) -> float:
        """The double sum of eq:censoredgamma; 0 for learners that do not have it.

        Of a certified learner it is that of its fallback.
        """
        if self.trust is not None:
            return self.trust.overlap
        return float(self.info.overlap[0]) if hasattr(self.info, "overlap") else 0.0

    @property
    def most_waiting(self) -> float:
        """W_T of Proposition 2, like `overlap`; 0 for learners that do not have it."""
        if self.trust is not None:
            return self.trust.most_waiting
        return float(self.info.most_waiting[0]) if hasattr(self.info, "most_waiting") else 0.0

    @property
    def last_budget(self) -> float:
        """b_T of Theorem 4; 0 for learners that do not have it."""
        return 0.0 if self.trust is None else self.trust.last_budget

    @property
    def by_fallback(self) -> int:
        """The number of rounds that were not trusted (Theorem 4)."""
        return 0 if self.trust is None else self.trust.by_fallback

    @property
    def spent(self) -> float:
        """The sum of v_t + z_t of Theorem 6; 0 for learners that do not have it."""
        return float(self.info.all_spent[0]) if hasattr(self.info, "all_spent") else 0.0

    @property
    def skipped(self) -> int:
        """The number of plays that the learner skipped (Theorem 9)."""
        return int(self.info.skipped[0]) if hasattr(self.info, "skipped") else 0

    @property
    def loss(self) -> float:
        """The learner's expected loss over all rounds."""
        return float(self.loss_at[-1])

    @property
    def realised(self) -> float:
        """The loss of the arms that were drawn, over all rounds."""
        return float(self.realised_at[-1])


class Recorder:
    """Records the sums of a run at its checkpoints, and makes the trace of the run."""

    def __init__(self, learner: Any, game: Game) -> None:
        check_policies(learner, game)
        count, arms = game.checkpoints.size, game.environment.arms
        self.learner = learner
        self.checkpoints = game.checkpoints
        self.loss_at = np.empty(count)
        self.realised_at = np.empty(count)
        self.weight_at = np.empty((count, arms))
        self.rate_weights: list[Floats] = []
        self.trust: list[TrustStanding] = []
        self.passed = 0
        self.seconds = 0.0

    def note(self, end: int, totals: Floats, weights: Floats, prediction: Any, state: Any) -> None:
        """Record the sums after `end` rounds, and the state's trust, if that is a checkpoint."""
        if end != self.checkpoints[self.passed]:
            return
        self.loss_at[self.passed], self.realised_at[self.passed] = totals[:2]
        self.weight_at[self.passed] = weights
        self.rate_weights.append(prediction.p.sum(axis=0) if rates_of(prediction).size else _NONE)
        trust = self.learner.trust(state) if isinstance(self.learner, Learner) else None
        self.trust += [] if trust is None else [trust]
        self.passed += 1

    def close(
        self,
        prediction: Any,
        plays: Counts,
        strategies: Floats,
        weighed: Floats,
        expected_missing: float,
    ) -> Trace:
        """Return the trace of the whole run."""
        return Trace(
            learner=self.learner,
            checkpoints=self.checkpoints,
            loss_at=self.loss_at,
            realised_at=self.realised_at,
            weight_at=self.weight_at,
            rate_weight_at=np.array(self.rate_weights),
            rates=rates_of(prediction),
            plays=plays,
            expected_missing=expected_missing,
            strategies=strategies,
            weighed=weighed,
            last=np.array(prediction.q),
            eta=np.array(getattr(prediction, "eta", _NONE), dtype=np.float64),
            info=copied(getattr(prediction, "info", NO_INFO)),
            trust_at=tuple(self.trust),
            seconds=self.seconds,
        )


def check_policies(learner: Any, game: Game) -> None:
    """Make sure that as many policies give advice in the game as the learner weighs."""
    weighed, given = len(getattr(learner, "policy_names", ())), len(game.environment.policies)
    if weighed not in (0, given):
        raise ValueError(
            f"{type(learner).__name__} has {weighed} policies; in the game {given} give advice"
        )


def no_losses(prediction: Any) -> Floats:
    """Return a zero for each strategy that the learner mixes; most learners mix none."""
    info = getattr(prediction, "info", NO_INFO)
    return np.zeros(len(info.strategies) if hasattr(info, "strategies") else 0)


def no_weighed_losses(prediction: Any) -> Floats:
    """Return a zero for each multiple in a learner's info and rate; most learners have none."""
    if not hasattr(getattr(prediction, "info", NO_INFO), "multiples"):
        return np.zeros((0, 0))
    return np.zeros((prediction.info.multiples.size, prediction.eta.size))


def rates_of(prediction: Any) -> Floats:
    """Return the learning rates, one for each column of p; empty if there is only one rate."""
    columns = prediction.p.shape[1] if hasattr(prediction, "p") else 1
    for name in ("eta", "gamma", "rates"):
        rates = np.asarray(getattr(prediction, name, _NONE))
        if columns > 1 and rates.size == columns:
            return rates.astype(np.float64)
    return _NONE
