"""The decomposition of a game's regret as in eq:decomp, after every round.

The readable learners play the game, so it should be of moderate size: a few hundred rounds and a
handful of arms take seconds.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass

import numpy as np

from belated.analysis.regret import Comparator, distribution
from belated.arrays import Floats
from belated.environments.missing import missing_counts
from belated.ftrl import DelayedFTRL, instances
from belated.ftrl.analysis import Decomposition, Round, analysed, decompose
from belated.ftrl.regularizers import bregman
from belated.replay.case import Case
from belated.replay.replay import replay
from belated.types import Setting


@dataclass(frozen=True)
class DecompositionOverTime:
    """The terms of eq:decomp after every round, for a comparator u at one rate.

    They are sums over the rounds so far. For a bandit the regret is that of its estimates,
    sum_t <p_t^av - u, ltil_t>.
    """

    u: Floats  # over (arm, rate)
    rate: int
    regret: Floats
    comparator_corrections: Floats
    cheating_regret: Floats
    drift: Floats
    learner_corrections: Floats

    def after(self, rounds: int) -> Decomposition:
        """Return the decomposition of the regret of the first `rounds` rounds."""
        last = rounds - 1
        return Decomposition(
            regret=float(self.regret[last]),
            comparator_corrections=float(self.comparator_corrections[last]),
            cheating_regret=float(self.cheating_regret[last]),
            drift=float(self.drift[last]),
            learner_corrections=float(self.learner_corrections[last]),
        )


def decompose_case(case: Case, u: Comparator | None = None) -> DecompositionOverTime:
    """Play the case and decompose its regret, against the best arm unless u is given."""
    arms = case.losses.shape[1]
    if 0.0 in (case.options.get("prior") or ()):
        raise ValueError("prior holds 0.0; to decompose a regret every weight must be above 0")
    weights = distribution(int(case.losses.sum(axis=0).argmin()) if u is None else u, arms)
    rounds = analysed_run(case)
    placed = [_at_rate(weights, rate, rounds[0].p.shape) for rate in range(rounds[0].p.shape[1])]
    rate = int(np.argmin([_cost(rounds, u) for u in placed]))
    parts = [astuple(decompose([round_], placed[rate])) for round_ in rounds]
    return DecompositionOverTime(placed[rate], rate, *np.cumsum(parts, axis=0).T)


def readable(case: Case) -> DelayedFTRL:
    """The readable learner of `belated.ftrl` that a case names."""
    kinds: dict[Setting, Callable[..., DelayedFTRL]] = {
        Setting.FULL_INFORMATION: instances.full_information,
        Setting.PARTIALLY_CONCEALED: instances.partially_concealed,
        Setting.CONCEALED: instances.concealed,
    }
    return kinds[case.setting](**case.options)


def analysed_run(case: Case) -> list[Round]:
    """All rounds of the readable learner along a case, ready for the paper's analysis."""
    learner = readable(case)
    plays = replay(case, learner).state.ledger.plays
    return analysed(learner, plays, case.losses, missing_counts(case.delays))


def _at_rate(weights: Floats, rate: int, shape: tuple[int, ...]) -> Floats:
    """Return u' of the paper's proofs, which is u(i) at one rate and 0 at all others."""
    placed = np.zeros(shape)
    placed[:, rate] = weights
    return placed


def _cost(rounds: Sequence[Round], u: Floats) -> float:
    """Return the part of lem:frameworkregret that depends on the rate of u.

    It is R_T(u) and the corrections of u. The log barrier of an arm without weight is infinite at
    every rate, so it is left out.
    """
    last = rounds[-1].regularizer
    parts = [
        bregman(last.psi, u, last.prior_psi),
        bregman(last.phi, u, last.prior_phi),
        *(float((u * r.correction).sum()) for r in rounds),
    ]
    return sum(part for part in parts if math.isfinite(part))
