"""The regret of small games taken apart, round after round."""

import functools

import numpy as np
import pytest

from belated.analysis.certificates import certificate
from belated.analysis.regret import regrets
from belated.environments.missing import missing_counts
from belated.ftrl.analysis import decompose, framework_bound
from belated.learners.paper.full_information import FullInformation
from belated.replay.case import Case
from belated.replay.decomposition import DecompositionOverTime, analysed_run, decompose_case
from belated.replay.replay import learner_for, replay
from tests.theory.games import VARIANTS, partial_case, random_game

ROUNDS = 16
every_kind = pytest.mark.parametrize(
    ("setting", "variant", "seed"),
    [
        (setting, variant, seed)
        for setting in ("full", "partial", "concealed")
        for variant in VARIANTS
        for seed in range(3)
    ],
)


@functools.cache
def played(setting: str, variant: str, seed: int) -> tuple[Case, DecompositionOverTime]:
    case = random_game(setting, seed, ROUNDS, variant)
    return case, decompose_case(case)


@every_kind
def test_the_parts_add_up_to_the_regret_in_every_round(
    setting: str, variant: str, seed: int
) -> None:
    """eq:decomp, for every number of rounds."""
    _, course = played(setting, variant, seed)
    for rounds in range(1, ROUNDS + 1):
        parts = course.after(rounds)
        assert parts.total == pytest.approx(parts.regret, abs=1e-9 * (1 + abs(parts.drift)))


@every_kind
def test_the_course_ends_where_the_analysis_does(setting: str, variant: str, seed: int) -> None:
    """The last running sums are the decomposition of the whole run, against the same u."""
    case, course = played(setting, variant, seed)
    whole, last = decompose(analysed_run(case), course.u), course.after(ROUNDS)
    for name in ("regret", "comparator_corrections", "cheating_regret", "drift"):
        assert getattr(last, name) == pytest.approx(getattr(whole, name), rel=1e-9, abs=1e-9)
    assert last.learner_corrections == pytest.approx(whole.learner_corrections, rel=1e-9)
    assert all(len(part) == ROUNDS for part in (course.regret, course.drift))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", range(4))
def test_the_regret_is_that_of_the_learner(seed: int, variant: str) -> None:
    """Full information: against the best arm, and at the rate whose certificate is least."""
    case, course = played("full", variant, seed)
    best = int(case.losses.sum(axis=0).argmin())
    assert course.u[best, course.rate] == course.u.sum() == 1.0
    learner = learner_for(case)
    assert isinstance(learner, FullInformation)
    predictions = replay(case, learner).predictions
    q, rates = (np.array([getattr(p, name) for p in predictions]) for name in ("q", "eta"))
    expected = regrets(float((q * case.losses).sum()), case.losses.sum(axis=0))[best]
    assert course.regret[-1] == pytest.approx(expected, abs=1e-9)
    bounds = certificate(case.losses, missing_counts(case.delays), rates, np.array(learner.prior))
    assert bounds[best, course.rate] == pytest.approx(bounds[best].min(), rel=1e-12)


@pytest.mark.parametrize("setting", ["full", "concealed"])
def test_the_rate_is_the_best_for_a_given_comparator(setting: str) -> None:
    """u inside the simplex: no other rate makes the right side of lem:frameworkregret smaller."""
    case = random_game(setting, 1, ROUNDS)
    arms = case.losses.shape[1]
    weights = np.arange(1.0, arms + 1) / np.arange(1.0, arms + 1).sum()
    course = decompose_case(case, weights)
    np.testing.assert_allclose(course.u.sum(axis=1), weights)
    rounds = analysed_run(case)
    others = []
    for rate in range(course.u.shape[1]):
        placed = np.zeros(course.u.shape)
        placed[:, rate] = weights
        others.append(framework_bound(rounds, placed))
    assert framework_bound(rounds, course.u) == pytest.approx(min(others), rel=1e-12)


def test_the_infinite_barrier_does_not_hide_the_best_rate() -> None:
    """Partially concealed: against an arm the log barrier is infinite, so it must not decide.

    Next to that arm it is finite and the same for every rate. One loss is always missing, and an
    arm that always loses is corrected so often that the fastest rate is not the best.
    """
    rounds = 40
    plays = np.arange(rounds) % 2
    case = partial_case(np.ones((rounds, 2)), np.ones((rounds, 2), dtype=np.int64), plays)
    assert decompose_case(case, 0).rate == decompose_case(case, [1.0 - 1e-6, 1e-6]).rate == 1


def test_bad_comparators_are_refused_before_anything_is_played() -> None:
    case = random_game("full", 0, ROUNDS)
    with pytest.raises(ValueError, match="u is arm 99"):
        decompose_case(case, 99)
