"""Bounds on the regret of a learner in a game: the theorem that states one, and if it holds there.

The errata E1 to E13 are entries of docs/errata.md.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from belated.analysis import theorems
from belated.analysis.certificates import mixture_certificate
from belated.analysis.policy_bounds import (
    advised_bandit_terms,
    advised_terms,
    best_by_policies,
    policy_losses,
)
from belated.analysis.regret import Comparator, distribution, divergence
from belated.arrays import Floats
from belated.learners.advice.advice import Advice
from belated.learners.advice.advice_bandit import AdviceBandit
from belated.learners.contract import Facts, Learner, RunOutcome
from belated.learners.paper.concealed import Concealed
from belated.learners.paper.full_information import FullInformation
from belated.learners.paper.partially_concealed import PartiallyConcealed
from belated.learners.practical.practical_bandit import PracticalBandit
from belated.learners.practical.practical_experts import PracticalExperts
from belated.types import Covers

if TYPE_CHECKING:
    from belated.analysis.game_sums import GameSums


# The theorems of the paper by number, in the order of its text; with constants they are in its
# appendices.
FULL_INFORMATION = "Theorem 1 of the paper"  # th:fullinfobound
PARTIALLY_CONCEALED = "Theorem 2 of the paper"  # th:banditbound
CONCEALED = "Theorem 3 of the paper"  # th:concealed

FALSE = "the theorem fails in general (errata {})"
GAPS = "no game is known that breaks it, but its proof has gaps (errata E3, E4, E6 and E8)"
BY_ITS_RUN = "its bound is computed from each run ((2') of docs/theory-practical.md)"
BEYOND = "see docs/beyond-the-paper.md"
GUARDED = "nothing is proven: the repair mends E3 of the errata, but E4, E6 and E8 remain"
UNKNOWN = "no bound is known for this learner"


@dataclass(frozen=True)
class Bound:
    """A bound on the regret of one learner in one game; for a bandit, on its expectation.

    It applies if it is proven and all its conditions are met. A value that does not apply is only
    the paper's statement; without a value, no bound is stated. `why` gives the reason.
    """

    label: str
    value: float | None
    applies: bool
    why: str

    def with_value(self, value: float) -> "Bound":
        """Return a copy of this bound with another value."""
        return replace(self, value=value)

    def in_units(self, width: float) -> "Bound":
        """Return this bound for losses in a range of this width: so many times the value."""
        if self.value is None or width == 1.0:
            return self
        return replace(self, label=f"{width:g} times ({self.label})", value=width * self.value)


def mean_bound(bounds: Sequence[Bound]) -> Bound:
    """Return the mean of a learner's bounds in several games; it applies if all of them apply."""
    weakest = min(bounds, key=lambda bound: (bound.value is not None, bound.applies))
    values = [bound.value for bound in bounds if bound.value is not None]
    if len(values) < len(bounds):
        return weakest
    return weakest.with_value(math.fsum(values) / len(values))


class RunMeans(NamedTuple):
    """Means over runs that the bounds of concealed learners need.

    `expected_missing` is the mean of sum_t <q_t, rho_t>. `overlap` is that of the sum in
    eq:censoredgamma, which is A_T of E2 and Z_T of Theorem 9, and `root_overlap` that of its root.
    `root_waiting` is the mean of sqrt(W_T) of Proposition 2. `waiting` is the mean of W_T, and
    `root_spent` that of the root of sum_t (v_t + z_t), both of Theorem 6. `budget` is the mean of
    b_T of Theorem 4, and `root_by_fallback` that of the root of the number of untrusted rounds.
    """

    expected_missing: float
    overlap: float
    root_overlap: float
    root_waiting: float
    waiting: float = 0.0
    root_spent: float = 0.0
    budget: float = 0.0
    root_by_fallback: float = 0.0


class MeasuredRun(Protocol):
    """What is measured in a run for these means; a `Trace` has it."""

    @property
    def expected_missing(self) -> float: ...

    @property
    def overlap(self) -> float: ...

    @property
    def most_waiting(self) -> float: ...

    @property
    def spent(self) -> float: ...

    @property
    def last_budget(self) -> float: ...

    @property
    def by_fallback(self) -> int: ...


def run_means(runs: Sequence[MeasuredRun]) -> RunMeans:
    """Return the means over runs of one learner."""
    return RunMeans(
        expected_missing=_mean(run.expected_missing for run in runs),
        overlap=_mean(run.overlap for run in runs),
        root_overlap=_mean(math.sqrt(run.overlap) for run in runs),
        root_waiting=_mean(math.sqrt(run.most_waiting) for run in runs),
        waiting=_mean(run.most_waiting for run in runs),
        root_spent=_mean(math.sqrt(run.spent) for run in runs),
        budget=_mean(run.last_budget for run in runs),
        root_by_fallback=_mean(math.sqrt(run.by_fallback) for run in runs),
    )


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


class BoundInputs(NamedTuple):
    """The inputs of a bound: a game, a comparator, the means over runs that bandits need, a run."""

    sums: "GameSums"
    u: Floats
    means: RunMeans | None
    run: RunOutcome | None

    def against(self, prior: Floats) -> theorems.ComparatorTerms:
        """Return the terms of the comparator in the theorems, for a learner with this prior."""
        missing = float(self.u @ self.sums.missing_losses)
        return theorems.ComparatorTerms(divergence(self.u, prior), self.own_loss, missing)

    @property
    def own_loss(self) -> float:
        """The loss of the comparator, <u, L_T>."""
        return float(self.u @ self.sums.losses)


def bound_for(
    learner: object,
    sums: "GameSums",
    u: Comparator,
    means: RunMeans | None = None,
    run: RunOutcome | None = None,
) -> Bound:
    """Return the bound on a learner's regret against u, an arm or a distribution, in a game.

    The bound of a concealed learner also depends on means over runs (`run_means`), and that of a
    learner over policies with full information on its run in the game.
    """
    if isinstance(learner, Learner) and learner.arms != sums.losses.size:
        arms = sums.losses.size
        raise ValueError(f"the learner has {learner.arms} arms; it must have the game's {arms}")
    weights = distribution(u, sums.losses.size)
    return statement(learner, BoundInputs(sums, weights, means, run))


@singledispatch
def statement(learner: object, played: BoundInputs) -> Bound:
    """Return the bound for a kind of learner; each kind with a theorem registers a function."""
    return Bound("none", None, False, UNKNOWN)


@statement.register
def for_advice(learner: Advice, played: BoundInputs) -> Bound:
    """Return the bound of Theorem 5, by the best of the policies."""
    horizon, run = learner.horizon, played.run
    ample = -4.0 * math.log(max(learner.prior or (1.0,))) + 6.0 * (math.log(horizon) + 1.0)
    broken = _broken(
        _about_delivery(learner),
        *_about_time(played.sums, horizon),
        (math.log(learner.size) > ample, f"{learner.size} policies are too many (E13)"),
        (run is None, "the run is not given; the theorem needs what its policies have lost"),
    )
    if broken or run is None:
        return Bound("Theorem 5", None, False, broken)
    lost = policy_losses(learner, played.sums)
    value = best_by_policies(lost, advised_terms(learner, run), played.own_loss)
    return Bound("Theorem 5", value, True, BEYOND)


@statement.register
def for_advice_bandit(learner: AdviceBandit, played: BoundInputs) -> Bound:
    """Return the bound of Theorem 6, by the best of the policies."""
    means, sums = played.means, played.sums
    broken = _broken(
        _about_delivery(learner),
        (means is None, "means over runs are not given; the theorem needs them"),
    )
    if broken or means is None:
        return Bound("Theorem 6", None, False, broken)
    terms = advised_bandit_terms(learner, sums.rounds, means.root_spent, means.waiting)
    value = best_by_policies(policy_losses(learner, sums), terms, played.own_loss)
    return Bound("Theorem 6", value, True, BEYOND)


@statement.register
def for_any(learner: Learner, played: BoundInputs) -> Bound:
    """Return the guarantee that a learner declares, and whether it covers this game's delays."""
    sums = played.sums
    waits = sums.waits[learner.delivery or "own"]
    facts = Facts(
        arms=learner.arms,
        rounds=sums.rounds,
        most_missing=waits.most_missing,
        total_delay=waits.total_delay,
        best_loss=float(sums.losses.min()),
        longest_wait=waits.longest_wait,
    )
    value = learner.bound(facts)
    if value is None:
        return Bound("none", None, False, UNKNOWN)
    horizon = getattr(learner, "horizon", sums.rounds)
    alike = learner.delivery != "own" or not sums.arm_dependent
    broken = _broken(
        (learner.window is not None, "losses that arrive after the window count as 1"),
        (learner.covers is Covers.NOTHING, "nothing is proven"),
        (learner.covers is Covers.NO_DELAY and facts.most_missing > 0, "proven without delays"),
        (
            learner.covers is Covers.SHARED and not alike,
            "proven only if all arms have the same delay; delivery='padded' makes it so",
        ),
        (sums.rounds > horizon, f"there are {sums.rounds} rounds; the horizon is {horizon}"),
    )
    return Bound(learner.stated_guarantee(), value, not broken, broken or learner.source)


@statement.register
def for_full_information(learner: FullInformation, played: BoundInputs) -> Bound:
    """Return the bound th:fullinfobound; for the repaired variant, the one that E1 proves."""
    u, horizon = played.against(np.array(learner.prior)), learner.horizon
    most = int(played.sums.most_missing.max())
    paper = learner.variant == "paper"
    label = FULL_INFORMATION if paper else "Theorem 1, repaired"
    ample = 4.0 * u.divergence + 6.0 * (math.log(horizon) + 1.0)
    broken = _broken(
        _about_delivery(learner),
        *_about_time(played.sums, horizon),
        (math.isinf(u.divergence), "u has weight on an arm of prior 0: KL(u, pi) is infinite"),
        (math.log(learner.arms) > ample, f"{learner.arms} arms are too many (E13)"),
    )
    if broken:
        return Bound(label, None, False, broken)
    if not paper:
        value = theorems.repaired_full_information(u, horizon, most)
        return Bound(label, value, True, "see E1 of the errata")
    value = theorems.full_information(u, learner.arms, horizon, most)
    if most == 0:
        return Bound(label, value, True, "nothing is outstanding, so the proof holds")
    if played.sums.charged is not None:
        certified = mixture_certificate(played.sums, learner, played.u).min() <= value
        if certified:
            return Bound(
                label,
                value,
                True,
                f"{FALSE.format('E1')}, but the certificate of this run confirms it",
            )
    return Bound(label, value, False, FALSE.format("E1"))


@statement.register
def for_practical_experts(learner: PracticalExperts, played: BoundInputs) -> Bound:
    """Return no value: the proof bounds a run, not a game (`belated.analysis.run_certificates`)."""
    return Bound("none", None, False, BY_ITS_RUN)


@statement.register
def for_practical_bandit(learner: PracticalBandit, played: BoundInputs) -> Bound:
    """Return the bound of Theorem 4, with (11) for the rounds of the fallback."""
    means = played.means
    broken = _broken(
        _about_delivery(learner),
        (not learner.is_certified, "nothing is proven unless the learner is certified"),
        (means is None, "means over runs are not given; the theorem needs them"),
    )
    if broken or means is None:
        return Bound("Theorem 4", None, False, broken)
    value = theorems.certified_trust(
        learner.arms, means.budget, means.root_by_fallback, means.overlap, means.root_waiting
    )
    return Bound("Theorem 4", value, True, BEYOND)


@statement.register
def for_partially_concealed(learner: PartiallyConcealed, played: BoundInputs) -> Bound:
    """Return the bound th:banditbound; for the repaired variant nothing is proven."""
    if learner.variant == "repaired":
        return Bound("Theorem 2, repaired", None, False, GUARDED)
    arms, horizon, most = learner.arms, learner.horizon, learner.max_missing
    prior = np.array(learner.prior)
    least = float(prior.min())
    broken = _broken(
        _about_delivery(learner),
        *_about_time(played.sums, horizon),
        _about_missing(played.sums, most),
        (most < 1, "max_missing is 0; the theorem is claimed from 1 on (E13)"),
        (least < horizon**-2.0, f"prior holds {least:.3g}; it must be at least 1/horizon^2"),
        (most == 1 and arms * horizon < math.exp(3.0), "arms times horizon is below e^3 (E13)"),
    )
    if broken:
        return Bound(PARTIALLY_CONCEALED, None, False, broken)
    value = theorems.partially_concealed(played.against(prior), arms, horizon, most)
    return Bound(PARTIALLY_CONCEALED, value, False, GAPS)


@statement.register
def for_concealed(learner: Concealed, played: BoundInputs) -> Bound:
    """Return the bound th:concealed, or what E2, Proposition 2 and Theorem 9 prove instead."""
    paper, promised = learner.variant == "paper", learner.rests_on_promise
    label, weight = (CONCEALED, "q") if paper else ("Theorem 3, repaired", "q+eps")
    means, most = played.means, learner.max_missing or 0
    broken = _broken(
        _about_delivery(learner),
        _about_missing(played.sums, most) if promised else (False, ""),
        (learner.gamma_weight != weight, f"the theorem is about gamma_weight={weight!r}"),
        (paper and not promised, "the theorem is about gamma_bound='max_missing'"),
        (means is None, "means over runs are not given; the theorem needs them"),
    )
    if broken or means is None:
        return Bound(label, None, False, broken)
    size = learner.arms, played.sums.rounds
    if paper:
        value = theorems.concealed(*size, most, means.expected_missing)
        return Bound(label, value, False, FALSE.format("E2"))
    if promised:
        value = theorems.repaired_concealed(*size, most, means.overlap)
        return Bound(label, value, True, "see E2 of the errata")
    if learner.skipping:
        value = theorems.skipping_concealed(*size, means.root_overlap, means.root_waiting)
        return Bound("Theorem 9", value, True, BEYOND)
    value = theorems.unpromised_concealed(*size, means.overlap, means.root_waiting)
    return Bound("Proposition 2", value, True, BEYOND)


def _about_time(sums: "GameSums", horizon: int) -> list[tuple[bool, str]]:
    return [
        (sums.rounds > horizon, f"there are {sums.rounds} rounds; the horizon is {horizon}"),
        (horizon < 3, f"the horizon is {horizon}; the theorem is claimed from 3 on (E13)"),
    ]


def _about_delivery(learner: Learner) -> tuple[bool, str]:
    return not learner.told_on_arrival, "the theorem needs every loss delivered when it arrives"


def _about_missing(sums: "GameSums", promised: int) -> tuple[bool, str]:
    most = int(sums.most_missing.max())
    return most > promised, f"{most} losses of an arm are missing; max_missing is {promised} (E12)"


def _broken(*conditions: tuple[bool, str]) -> str:
    """Return the first sentence whose condition is true, or an empty text."""
    return next((sentence for broken, sentence in conditions if broken), "")
