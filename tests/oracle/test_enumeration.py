"""Theorems 4, 6, 9 and Prop. 2 in expectation: every draw of small games, with its probability.

Theorem 4 is computed in fractions, without any rounding; roots and exponentials enter the others,
which are computed in fifty digits.
"""

import itertools
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from mpmath import mp

from . import advice_concealed, skipping, without_promise
from .advice_concealed import AdviceConcealed
from .advice_full import AdviceFull
from .argmin import Number, Vector
from .certified_trust import CertifiedTrust
from .enumeration import all_draws, mean
from .random_games import distribution, random_case
from .skipping import Skipping
from .without_promise import WithoutPromise

SLACK = mp.mpf(10) ** -35


@pytest.fixture(autouse=True)
def fifty_digits() -> Iterator[None]:
    with mp.workdps(50):
        yield


def expected_loss(run: Any) -> Number:
    """sum_t <q_t, l_t> along a path; its mean is the mean of the losses of the arms drawn."""
    return sum(run.expected_loss(t) for t in range(1, run.script.T + 1))


def late_news(K: int, T: int) -> dict[str, Any]:
    """A game in which the loss of round 1 never comes, so that its play is skipped on some paths.

    Arm 0 never loses and all others always do.
    """
    case: dict[str, Any] = {"setting": "concealed", "variant": "repaired", "rho_star": None}
    losses = [[float(i > 0) for i in range(K)]] * T
    return case | {"K": K, "T": T, "losses": losses, "delays": [[None] * K, *[[0] * K] * (T - 1)]}


SMALL = [
    late_news(2, 5),
    random_case("concealed", 0, K=2, T=5),
    random_case("concealed", 2, K=2, T=5),
    random_case("concealed", 5, K=3, T=4),
]


# --- Theorem 6 ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seed", "sizes"),
    [
        (0, {"K": 2, "N": 2, "T": 5}),
        (1, {"K": 2, "N": 3, "T": 5}),
        (2, {"K": 3, "N": 2, "T": 4}),
        (3, {"K": 3, "N": 3, "T": 4}),
        (4, {"K": 3, "N": 3, "T": 3}),
        (5, {"K": 2, "N": 1, "T": 4}),
        (6, {"K": 2, "N": 2, "T": 6}),
        (7, {"K": 2, "N": 3, "T": 5}),
    ],
)
def test_theorem_6(seed: int, sizes: dict[str, int]) -> None:
    case = random_case("advice-concealed", seed, **sizes)
    paths = list(all_draws(AdviceConcealed(case)))
    assert abs(mean(paths, lambda _: 1) - 1) < SLACK
    first = paths[0][1]
    A, root = mean(paths, AdviceConcealed.overlap), mean(paths, AdviceConcealed.root_of_waiting)
    for n in first.advice.policies:
        policy = sum(first.policy_loss(t, n) for t in range(1, case["T"] + 1))
        regret = mean(paths, expected_loss) - policy
        assert regret <= advice_concealed.bound(first.advice, n, case["K"], A, root)
    for _, run in paths:
        check_path_of_theorem_6(run)


def check_path_of_theorem_6(run: AdviceConcealed) -> None:
    """gamma never rises, v + z stays below what was known before, the estimates' regret holds."""
    for t in range(1, run.round):
        assert t == 1 or run.gamma[t - 1] <= run.gamma[t - 2]
        assert run.v(t) + run.z(t) <= mp.sqrt(run.K * t) / 4 + run.most_waiting(t) + SLACK
    for n in run.advice.policies:
        assert run.estimated_regret(n) <= run.estimated_bound(n) + SLACK


def test_the_waiting_weight_estimates_the_missing_mass() -> None:
    """Theorem 6: without exploration E w_t(n) = rho_t(n) exactly; with it, it is smaller."""
    case = random_case("advice-concealed", 3, K=2, N=2, T=4)
    case["advice"] = [[[0.25, 0.75], [0.5, 0.5]], [[1 / 16, 15 / 16], [0.75, 0.25]]] * 2
    case["delays"] = [[2, None], [1, 2], [None, 0], [0, 1]]
    mass = AdviceFull(case).finished().rho
    for t, n in itertools.product(range(1, 5), range(2)):
        assert abs(mean_waiting(Unexplored(case), t, n) - mass[t - 1][n]) < SLACK
        assert mean_waiting(AdviceConcealed(case), t, n) <= mass[t - 1][n]


def mean_waiting(learner: AdviceConcealed, t: int, n: int) -> Number:
    """E w_t(n)."""
    return mean(list(all_draws(learner)), lambda run: run.w[t - 1][n])


class Unexplored(AdviceConcealed):
    """The learner of Theorem 6 with eps = 0."""

    def exploration(self, t: int) -> Number:
        return mp.mpf(0)


# --- Prop. 2 and Theorem 9 ---------------------------------------------------------------------


@pytest.mark.parametrize("case", SMALL)
def test_proposition_2(case: dict[str, Any]) -> None:
    K, T = case["K"], case["T"]
    paths = list(all_draws(WithoutPromise(case)))
    assert abs(mean(paths, lambda _: 1) - 1) < SLACK
    A = mean(paths, lambda run: run.overlap(T + 1))
    bound = without_promise.bound(K, T, A, mean(paths, WithoutPromise.root_of_waiting))
    assert total_missing(case) >= A
    for u in range(K):
        assert mean(paths, expected_loss) - sum(row[u] for row in case["losses"]) <= bound


def total_missing(case: dict[str, Any]) -> int:
    """Prop. 1: sum_t sum_i rho_t(i), which A_T cannot exceed."""
    T = case["T"]
    return sum(
        min(T - s, T if d is None else d)
        for s, row in enumerate(case["delays"], start=1)
        for d in row
    )


@pytest.mark.parametrize("case", SMALL)
def test_theorem_9(case: dict[str, Any]) -> None:
    K, T = case["K"], case["T"]
    paths = list(all_draws(Skipping(case)))
    assert abs(mean(paths, lambda _: 1) - 1) < SLACK
    root_Z = mean(paths, lambda run: mp.sqrt(mp.log(K) * run.final_Z()))
    bound = skipping.bound(K, T, root_Z, mean(paths, Skipping.root_of_waiting))
    sets = [set(S) for size in range(T + 1) for S in itertools.combinations(range(1, T + 1), size)]
    price = mean(paths, lambda run: min(run.price_of(S) for S in sets))
    by_sets = skipping.bound_by_sets(K, T, mean(paths, Skipping.most_outstanding), price)
    for u in range(K):
        regret = mean(paths, expected_loss) - sum(row[u] for row in case["losses"])
        assert regret <= min(bound, by_sets)
    for _, run in paths:
        check_path_of_theorem_9(run, sets)


def check_path_of_theorem_9(run: Skipping, sets: list[set[int]]) -> None:
    """(i), (iii) for every set of plays, and the regret of the estimates on which (ii) rests."""
    assert run.number_skipped() <= run.most_skipped()
    root = mp.sqrt(mp.log(run.K) * run.final_Z())
    assert all(root <= run.root_bound(S) + SLACK for S in sets)
    for u in range(run.K):
        assert run.estimated_regret(u) <= run.estimated_bound() + SLACK


def test_some_paths_skip() -> None:
    """The play of round 1, at the latest in round 5, if two of the next three repeat it."""
    paths = list(all_draws(Skipping(late_news(2, 5))))
    assert len(paths) == 32
    for _, run in paths:
        repeated = sum(arm == run.arms[0] for arm in run.arms[1:4])
        assert run.number_skipped() == (repeated >= 2)


# --- Theorem 4 ---------------------------------------------------------------------------------


class AnyBehaviour(CertifiedTrust):
    """Certified trust in fractions, of a learner that does whatever a seed says with what it knows.

    Its q is any function of what it has been told, with zeros, and so is its budget, which never
    falls.
    """

    def __init__(self, case: dict[str, Any], seed: int) -> None:
        super().__init__(case, Fraction)
        self.seed = seed
        self.budgets: list[Fraction] = []

    def chance(self, t: int, what: str) -> random.Random:
        """A source that depends on the draws so far and on the losses told by round t."""
        known = [(s, self.arm(s), self.own_loss(s)) for s in self.told(t)]
        return random.Random(f"{self.seed} {what} {self.arms} {known}")

    def propensities(self, t: int) -> Vector:
        return [Fraction(x) for x in distribution(self.chance(t, "q"), self.K)]

    def budget(self, t: int) -> Fraction:
        while len(self.budgets) < t:
            rise = Fraction(self.chance(t, "b").randint(0, 7), 8)
            self.budgets.append((self.budgets[-1] if self.budgets else 0) + rise)
        return self.budgets[t - 1]

    def trusted_regret(self, u: int) -> Fraction:
        """sum over the trusted rounds of l_t(i_t) - l_t(u)."""
        trusted = [t for t in range(1, self.round) if self.trusted[t - 1]]
        return sum((self.own_loss(t) - self.script.loss(t, u) for t in trusted), Fraction(0))


@pytest.mark.parametrize("seed", range(25))
def test_theorem_4(seed: int) -> None:
    """E regret of the trusted rounds <= E C_{T+1}(u) <= E b_T + 1; C_t <= b_t + 1 on all paths."""
    K = 2 + seed % 2
    T = 6 - seed % 2 * 2
    case = random_case("certified-trust", seed, K=K, T=T)
    paths = list(all_draws(AnyBehaviour(case, seed)))
    assert mean(paths, lambda _: 1) == 1
    for u in range(K):
        regret, final = means_of_trust(paths, u)
        assert regret <= final <= mean(paths, lambda run: run.budget(T)) + 1
    for _, run in paths:
        for t in range(2, T + 2):
            assert max(run.regret_estimates(t)) <= run.budget(t - 1) + 1


def means_of_trust(paths: list[tuple[Number, AnyBehaviour]], u: int) -> tuple[Number, Number]:
    """The mean regret of the trusted rounds against arm u, and the mean of C_{T+1}(u)."""
    regret = mean(paths, lambda run: run.trusted_regret(u))
    return regret, mean(paths, lambda run: run.regret_estimates(run.round)[u])


def test_behaviours_that_lose_trust() -> None:
    """The 25 games are not all trusted in all rounds, nor distrusted."""
    runs = [
        run
        for seed in range(0, 24, 2)
        for _, run in all_draws(AnyBehaviour(random_case("certified-trust", seed, K=2, T=6), seed))
    ]
    shares = [sum(run.trusted) for run in runs]
    assert min(shares) < 4
    assert max(shares) == 6
