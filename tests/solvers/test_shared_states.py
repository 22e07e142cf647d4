"""The learners' fast predictions along real runs, against the plain solvers from the same state.

The state of every round is shared: the fast path predicts from it, and so does the plain solver,
from nothing but the losses, the prior and the rates.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from belated.arrays import Floats
from belated.learners.paper import full_information, partially_concealed
from belated.learners.paper.concealed import Concealed
from belated.learners.paper.full_information import FullInformation
from belated.learners.paper.partially_concealed import PartiallyConcealed
from belated.numerics.random_stream import draw, seeded
from belated.solvers import concealed as concealed_kernel
from belated.solvers.concealed_safe import solve_concealed_safely
from belated.solvers.full_information_safe import solve_full_information_safely
from belated.solvers.multiplier import MOST_STEPS
from belated.solvers.partially_concealed_safe import (
    solve_log_barrier,
    solve_partially_concealed_safely,
)
from belated.types import VARIANTS, Setting
from tests.numerics.test_lanes import jitted

SAME = 1e-12
ARMS = [1, 2, 3, 4, 5, 7, 10, 33, 100, 1000]
KINDS = [Concealed, FullInformation, PartiallyConcealed]
every_learner = pytest.mark.parametrize("kind", KINDS)
both_variants = pytest.mark.parametrize("variant", VARIANTS)


class Count(NamedTuple):
    """How many rounds were predicted by correcting the last one, how many plainly, and passes."""

    fast: int = 0
    plain: int = 0
    passes: int = 0
    most: int = 0

    def __add__(self, other: "Count") -> "Count":  # type: ignore[override]
        sums = (a + b for a, b in zip(self[:3], other[:3], strict=True))
        return Count(*sums, max(self.most, other.most))


def built(kind: Any, arms: int, variant: str, most: int, prior: Any = None) -> Any:
    """A learner of 200 rounds."""
    if kind is Concealed:
        # With a promise there is an entropy also where all losses are prompt.
        return Concealed(arms, variant=variant, gamma_bound="max_missing", max_missing=most)  # type: ignore[arg-type]
    if kind is FullInformation:
        return FullInformation(arms, variant=variant, horizon=200, prior=prior)  # type: ignore[arg-type]
    return PartiallyConcealed(
        arms,
        variant=variant,  # type: ignore[arg-type]
        horizon=200,
        max_missing=most,
        prior=prior,
    )


def fast_passes(learner: Any, state: Any) -> int:
    """The passes of the fast solver from this state; 0 if it is not used or gives up."""
    prediction = learner.predict(state)  # its rates are wanted
    if isinstance(learner, FullInformation):
        start = state.multiplier[0] < np.inf
        same = full_information.most_missing_now(state) == state.most_missing[0]
        if same and state.columns.merged[0] > 0:
            carried = state.carried[0] < full_information.MOST_CARRIED
            passes = full_information.predict_from_weights(state, prediction)[1] if carried else 0
            return int(passes or full_information.predict_from_rows(state, prediction)[1])
        return int(full_information.predict_from_columns(state, prediction)[1]) if start else 0
    start = state.dual[0] < np.inf
    if isinstance(learner, PartiallyConcealed):
        same = state.basis[0] == state.max_missing[0]
        if not (same and state.columns.merged[0] > 0 and start and prediction.eta[0] > 0.0):
            return 0
        return int(partially_concealed.predict_from_rows(state, prediction))
    eta, gamma = prediction.eta[0], prediction.gamma[0]
    if len(prediction.q) == 1 or not (start and gamma < np.inf):
        return 0
    parts = state.losses, state.losses, eta, gamma, prediction.q, state.dual.copy()
    return int(concealed_kernel.correct_together(*parts, prediction.info.work, False))


def plainly(learner: Any, state: Any, prediction: Any) -> Floats:
    """The weights by the plain solvers, cold."""
    q, arms = np.empty(learner.arms), learner.arms
    if isinstance(learner, Concealed):
        rates = prediction.eta[0], prediction.gamma[0]
        solve_concealed_safely(state.losses, *rates, np.inf, q)
        return q
    logs = state.columns.log_prior, state.columns.log_weight
    if isinstance(learner, FullInformation):
        losses = full_information.losses_now(state)
        p = np.empty(losses.shape)
        solve_full_information_safely(losses, *logs, prediction.eta, np.inf, p)
        return p.sum(axis=1)
    losses = partially_concealed.losses_now(state)
    if state.max_missing[0] == 0:
        solve_log_barrier(losses[:, 0], prediction.eta[0], np.inf, q)
        return q
    rates = prediction.gamma, prediction.eta[0]
    guess, dual = np.full((2, arms + 1), np.inf)
    solve_partially_concealed_safely(losses, *logs, *rates, guess, np.empty(losses.shape), q, dual)
    return q


def rounds(
    learner: Any,
    rng: np.random.Generator,
    count: int,
    delays: Callable[[int], int],
    never: float = 0.02,
) -> Iterator[Any]:
    """Play; yields the state before each round. Losses favour the first arms; some never come."""
    state, arms = learner.start(), learner.arms
    full = learner.setting is Setting.FULL_INFORMATION
    due: dict[int, list[Any]] = {}
    missing = np.zeros(arms, dtype=np.int64)
    for t in range(count):
        yield state
        prediction = learner.predict(state)
        arm = -1 if full else int(rng.choice(arms, p=prediction.q / prediction.q.sum()))
        plays = learner.commit(state, prediction, arm)
        losses = (rng.random(arms) < np.linspace(0.2, 0.9, arms)) * rng.random(arms)
        for play, told in zip(plays, range(arms) if full else [arm], strict=True):
            delay = delays(t)
            missing[told] += 1
            if rng.random() >= never:
                due.setdefault(t + delay, []).append((play, told, losses[told], missing[told] - 1))
        for play, told, loss, absent in due.pop(t, ()):
            learner.observe(state, play, told, loss, absent)
            missing[told] -= 1


def compared(learner: Any, state: Any) -> Count:
    """One round by both solvers, from the same state."""
    prediction = learner.predict(state)
    q, truth = prediction.q, plainly(learner, state, prediction)
    assert abs(q.sum() - 1.0) <= SAME
    assert q.min() >= 0.0
    visible = truth >= 1e-12
    rates = prediction.eta if isinstance(learner, FullInformation) else prediction.gamma
    rounding = 0.0
    if not isinstance(learner, Concealed) and np.isfinite(rates).all():
        largest_loss = np.abs(state.columns.losses).max() + np.abs(state.columns.fresh).max()
        rounding = 1e-15 * float(rates.max()) * float(largest_loss)
    assert np.abs(q[visible] / truth[visible] - 1.0).max() <= SAME + rounding
    assert (q[~visible] <= 2e-12).all()
    if not isinstance(learner, Concealed):
        np.testing.assert_allclose(prediction.p.sum(axis=1), q, rtol=1e-12)
    passes = int(prediction.info.passes[0])
    fast = fast_passes(learner, state)
    assert fast in (0, passes)
    return Count(int(fast > 0), int(fast == 0), passes, passes)


@pytest.mark.parametrize("arms", ARMS)
@both_variants
@every_learner
def test_every_round_of_a_run(kind: Any, variant: Any, arms: int) -> None:
    """With and without delays, from little to much that may be missing."""
    count = Count()
    rng = np.random.default_rng([arms, KINDS.index(kind)])
    for most, longest in ((1, 0), (1, 1), (10, 10), (1000, 40), (0, 0), (0, 5)):
        prior = rng.dirichlet(np.ones(arms)) + 1e-3
        if kind is FullInformation and arms > 2:
            prior[rng.integers(arms)] = 0.0
        prior = None if longest == 1 else (prior / prior.sum()).tolist()
        learner = built(kind, arms, variant, most, prior)
        length = 60 if arms <= 100 else 12
        for state in rounds(learner, rng, length, lambda t, d=longest: int(rng.integers(0, d + 1))):
            count += compared(learner, state)
    if arms > 1 or kind is FullInformation:
        assert count.fast > count.plain > 0, count  # without entropy there is no fast way
    assert count.most < MOST_STEPS


@both_variants
@every_learner
def test_rates_that_change_late(kind: Any, variant: Any) -> None:
    """More and more is missing, then old losses arrive all at once under rates long gone."""
    rng = np.random.default_rng(31)
    learner = built(kind, 6, variant, 60)
    count = Count()
    for state in rounds(learner, rng, 150, lambda t: max(0, 100 - t) if t % 3 else 50):
        count += compared(learner, state)
    assert count.fast > 50


def test_max_missing_changed_between_rounds() -> None:
    """From outside, up and down and to nothing at all and back, with losses still under way."""
    rng = np.random.default_rng(32)
    count = Count()
    for arms in (2, 5, 33):
        learner = built(PartiallyConcealed, arms, "paper", 4)
        for t, state in enumerate(rounds(learner, rng, 120, lambda t: int(rng.integers(0, 12)))):
            if t % 10 == 7:
                state.max_missing[0] = rng.choice([0, 1, 2, 4, 9, 50, 1000])
            count += compared(learner, state)
    assert count.fast > count.plain > 30


@pytest.mark.parametrize(("arms", "horizon"), [(3, 1), (1, 9)])
def test_where_there_is_nothing_to_decide_the_weights_are_even(arms: int, horizon: int) -> None:
    """One round, whose barrier is infinitely strong, or one arm: q = 1/K, and p has its sums."""
    learner = PartiallyConcealed(arms, horizon=horizon, max_missing=2)
    prediction = learner.predict(learner.start())
    np.testing.assert_allclose(prediction.q, 1.0 / arms, rtol=1e-15)
    np.testing.assert_allclose(prediction.p.sum(axis=1), prediction.q, rtol=1e-12)


@jitted
def tell_all(state: Any, plays: Floats, losses: Floats) -> None:
    """The losses of all experts in a round."""
    for i in range(losses.shape[0]):
        full_information.observe(state, plays[i], i, losses[i], 0)


def passes_of_experts(learner: Any, longest: int, length: int) -> list[int]:
    """The passes of every round, where the losses of a round come together."""
    rng, state, prediction = np.random.default_rng(33), learner.start(), learner.blank().brief()
    due: dict[int, list[Any]] = {}
    passes = []
    for t in range(length):
        learner.verbs.predict(state, prediction)
        passes.append(int(prediction.info.passes[0]))
        plays = learner.commit(state, prediction)
        losses = rng.random(learner.arms) * np.linspace(0.2, 0.9, learner.arms)
        due.setdefault(t + int(rng.integers(0, longest + 1)), []).append((plays, losses))
        for arrived in due.pop(t, ()):
            tell_all(state, *arrived)
    return passes


def passes_of_a_bandit(learner: Any, longest: int, length: int) -> list[int]:
    """The passes of every round."""
    rng, state, prediction = np.random.default_rng(34), learner.start(), learner.blank().brief()
    stream, due = seeded(34), dict[int, list[Any]]()
    passes = []
    for t in range(length):
        learner.verbs.predict(state, prediction)
        passes.append(int(prediction.info.passes[0]))
        arm = draw(stream, prediction.q)
        (play,) = learner.commit(state, prediction, arm)
        loss = rng.random() * (0.2 + 0.7 * arm / learner.arms)
        due.setdefault(t + int(rng.integers(0, longest + 1)), []).append((play, arm, loss, 0))
        for arrived in due.pop(t, ()):
            learner.verbs.observe(state, *arrived)
    return passes


@pytest.mark.parametrize("arms", [2, 3, 5, 10, 33, 100, 1000, 10_000])
@both_variants
@every_learner
def test_passes_are_few(kind: Any, variant: Any, arms: int) -> None:
    """At most two in the mean, whatever the number of arms, and none that does not end."""
    passes = []
    for most, longest in ((10, 10), (50, 0)):
        learner = built(kind, arms, variant, most)
        if kind is FullInformation:
            passes += passes_of_experts(learner, longest, 300 if arms <= 1000 else 60)
        else:
            passes += passes_of_a_bandit(learner, longest, 1500)
    assert np.mean(passes) <= 2.0
    assert max(passes) < 20 < MOST_STEPS
