"""Regret against arms and mixtures, and the balanced comparator against brute force."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import rel_entr, softmax

from belated.analysis.game_sums import GameSums, sum_up
from belated.analysis.regret import (
    _dips,
    _terms,
    balance,
    balanced_comparator,
    distribution,
    divergence,
    regret,
    regrets,
)
from belated.arrays import Floats
from tests.play.test_engine import given

Random = np.random.Generator


def sums(losses: list[float], missing_losses: list[float], prior: list[float]) -> GameSums:
    """An account with these sums; the rest of it does not matter here."""
    arms = len(losses)
    blank = sum_up(given(np.zeros((1, arms)), np.zeros((1, arms), dtype=np.int64)))
    own, missing, start = (np.array(part, float) for part in (losses, missing_losses, prior))
    return replace(blank, losses=own, missing_losses=missing, prior=start)


def random_sums(random: Random, arms: int) -> GameSums:
    """Sums of very different sizes and priors of any steepness."""
    losses = random.random(arms) * 10.0 ** random.uniform(-2, 5) * 10.0 ** random.uniform(-2, 0)
    missing = losses * 10.0 ** random.uniform(-2, 3, arms)
    prior = random.dirichlet(np.full(arms, random.choice([0.05, 1.0, 10.0])))
    prior = np.maximum(prior, 1e-290)
    return sums(list(losses), list(missing), list(prior / prior.sum()))


def balances(game: GameSums, points: Floats) -> Floats:
    """The balance of many distributions at once, written as the paper has it."""
    apart = rel_entr(points, game.prior).sum(axis=1)
    charged = points @ (game.losses + game.missing_losses)
    values: Floats = points @ game.losses + np.sqrt(np.maximum(apart, 0.0) * charged)
    return values


def simplex(arms: int, steps: int) -> Floats:
    """All points of a regular grid of the simplex."""
    cuts = itertools.product(range(steps + 1), repeat=arms - 1)
    points = [(*cut, steps - sum(cut)) for cut in cuts if sum(cut) <= steps]
    return np.array(points) / steps


def test_regret_is_the_excess_over_the_comparator() -> None:
    """Against an arm, against each arm, and against a mixture."""
    losses = np.array([[0.2, 0.9], [0.4, 0.1], [0.0, 1.0]])
    total = 0.55 + 0.325
    np.testing.assert_allclose(regrets(total, losses.sum(axis=0)), [total - 0.6, total - 2.0])
    assert regret(total, losses.sum(axis=0), 1) == pytest.approx(total - 2.0)
    assert regret(total, losses.sum(axis=0), [0.5, 0.5]) == pytest.approx(total - 1.3)


@pytest.mark.parametrize(
    ("u", "sentence"),
    [
        (2, "u is arm 2; it must be one of 0 to 1"),
        (-1, "u is arm -1; it must be one of 0 to 1"),
        ([1.0], "u has the shape"),
        ([[0.5, 0.5]], "u has the shape"),
        ([1.5, -0.5], "u holds -0.5; every weight must be at least 0"),
        ([math.nan, 1.0], "u holds nan; every weight must be at least 0"),
        ([0.5, 0.4], "u sums to 0.9; it must sum to 1"),
    ],
)
def test_what_is_no_distribution_is_refused(u: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence.replace("[", r"\[")):
        distribution(u, 2)  # type: ignore[arg-type]


def test_divergence_is_exact_far_from_the_prior_and_close_to_it() -> None:
    """Against the definition, and next to the prior, where that cancels, against its series."""
    random = np.random.default_rng(1)
    for _ in range(50):
        u, prior = random.dirichlet(np.full(5, 0.3)), random.dirichlet(np.full(5, 0.3))
        expected = float(rel_entr(u, prior).sum())
        assert divergence(u, prior) == pytest.approx(expected, rel=1e-11, abs=1e-14)
    for kappa in (100.0, 700.0):
        prior = np.array([math.exp(-kappa), -math.expm1(-kappa)])
        assert divergence(np.array([1.0, 0.0]), prior) == pytest.approx(kappa, rel=1e-12)
    prior = np.full(2, 0.5)
    moved = prior + np.array([1e-9, -1e-9])
    assert divergence(moved, prior) == pytest.approx(2e-18, rel=1e-6)
    assert divergence(prior, prior) == 0.0
    assert divergence(np.array([0.5, 0.5]), np.array([1.0, 0.0])) == math.inf


def test_balance_is_the_papers_expression() -> None:
    random = np.random.default_rng(2)
    game = random_sums(random, 4)
    points = random.dirichlet(np.full(4, 0.5), 100)
    found = [balance(game, u) for u in points]
    np.testing.assert_allclose(found, balances(game, points), rtol=1e-9)
    barred = sums([1.0, 0.0], [0.0, 0.0], [1.0, 0.0])
    assert balance(barred, 1) == math.inf  # an arm of prior 0, though it loses nothing


@pytest.mark.parametrize(("arms", "steps"), [(2, 20_000), (3, 150), (4, 40)])
def test_no_point_of_a_grid_has_less_balance(arms: int, steps: int) -> None:
    """Brute force over the simplex; for two arms the grid also comes close."""
    points = simplex(arms, steps)
    for seed in range(20):
        game = random_sums(np.random.default_rng([arms, seed]), arms)
        found, least = balance(game, balanced_comparator(game)), balances(game, points).min()
        assert found <= least * (1.0 + 1e-12)
        if arms == 2 and game.prior.min() > 1e-3:
            assert found >= least * (1.0 - 1e-2)


def test_no_local_search_finds_less_balance() -> None:
    """Nelder and Mead in the logarithms of u, from many starts."""
    for seed in range(25):
        random = np.random.default_rng([9, seed])
        game = random_sums(random, int(random.integers(2, 6)))
        found = balance(game, balanced_comparator(game))
        for _ in range(6):
            scale = random.choice([1.0, 5.0, 20.0])
            start = np.log(game.prior) * random.uniform(0, 2) + scale * random.normal(
                size=game.prior.size
            )
            search = minimize(
                lambda logs, game=game: balance(game, softmax(logs)),
                start,
                method="Nelder-Mead",
                options={"maxiter": 1500, "xatol": 1e-9, "fatol": 1e-12 * found},
            )
            assert found <= search.fun * (1.0 + 1e-11)


def test_several_dips_are_all_looked_into() -> None:
    """As a function of lam the least value is not unimodal, and the answer jumps between its dips.

    One arm is delayed, one hardly believed in; how hardly decides which of them takes the weight.
    """
    chosen, dips = [], []
    for kappa in np.linspace(5.0, 60.0, 23):
        tiny = math.exp(-kappa)
        game = sums([1000.0, 50.0, 200.0], [0.0, 2e4, 0.0], [0.9, 0.1 - tiny, tiny])
        u = balanced_comparator(game)
        assert balance(game, u) <= balances(game, simplex(3, 100)).min() * (1.0 + 1e-12)
        chosen.append(int(u.argmax()))
        dips.append(len(_dips(_terms(game))))
    assert chosen == sorted(chosen, reverse=True)
    assert {1, 2} == set(chosen)
    assert max(dips) == 2


def test_the_prior_itself_may_be_the_answer() -> None:
    """If arms hardly differ, every move away from the prior costs more than it gains."""
    game = sums([1.0, 1.1, 0.9], [50.0, 60.0, 55.0], [0.2, 0.3, 0.5])
    assert balanced_comparator(game).tolist() == game.prior.tolist()
    alike = sums([3.0, 3.0], [5.0, 5.0], [0.25, 0.75])
    assert balanced_comparator(alike).tolist() == [0.25, 0.75]


def test_arms_without_prior_are_never_in_the_support() -> None:
    """The answer is that of the game without them, even if such an arm never loses."""
    rest = sums([40.0, 10.0, 25.0], [5.0, 900.0, 60.0], [0.5, 0.25, 0.25])
    game = sums([40.0, 0.0, 10.0, 25.0], [5.0, 0.0, 900.0, 60.0], [0.5, 0.0, 0.25, 0.25])
    u = balanced_comparator(game)
    assert u[1] == 0.0
    np.testing.assert_allclose(np.delete(u, 1), balanced_comparator(rest), rtol=1e-12)


def test_arms_that_cost_nothing() -> None:
    """The balance is zero on them, and among them the prior decides."""
    game = sums([0.0, 5.0, 0.0], [0.0, 1.0, 0.0], [0.1, 0.6, 0.3])
    np.testing.assert_allclose(balanced_comparator(game), [0.25, 0.0, 0.75])
    assert balance(game, balanced_comparator(game)) == 0.0


def test_a_single_arm() -> None:
    assert balanced_comparator(sums([7.0], [3.0], [1.0])).tolist() == [1.0]
    assert balanced_comparator(sums([7.0, 1.0], [3.0, 1.0], [1.0, 0.0])).tolist() == [1.0, 0.0]


def test_delay_is_traded_for_loss() -> None:
    """The paper's point: a slightly worse arm whose losses are never missing takes the weight."""
    uniform = [1.0 / 3.0] * 3
    late = sums([1000.0, 1100.0, 9000.0], [3e6, 0.0, 0.0], uniform)
    assert balanced_comparator(late)[1] > 0.95
    prompt = sums([1000.0, 1100.0, 9000.0], [0.0, 0.0, 0.0], uniform)
    assert balanced_comparator(prompt)[0] > 0.95
