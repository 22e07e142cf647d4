"""What the theorems beyond the paper say of every single run, on random games and worked ones."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from mpmath import mp

from .advice_concealed import AdviceConcealed
from .advice_full import AdviceFull
from .argmin import Number
from .certified_trust import CertifiedTrust, with_floor
from .random_games import random_case
from .script import Drawn
from .skipping import Skipping
from .transcription import predictions
from .without_promise import WithoutPromise

SLACK = mp.mpf(10) ** -35  # rounding in fifty digits
GAMES = range(8)
WITH_SKIPS = [1, 3, 4, 8, 11]  # of one to four plays


@pytest.fixture(autouse=True)
def fifty_digits() -> Iterator[None]:
    with mp.workdps(50):
        yield


def played(learner: Any, case: dict[str, Any]) -> Any:
    """The learner at the end of a case."""
    run = learner(case)
    for _ in run.replay(case["arms"]):
        pass
    return run


def never_rises(rates: list[Any]) -> bool:
    return all(later <= earlier for earlier, later in itertools.pairwise(rates))


def one_hot(case: dict[str, Any]) -> dict[str, Any]:
    """Policy n is arm n for good."""
    rows = [[float(i == n) for i in range(case["K"])] for n in range(case["K"])]
    return case | {"N": case["K"], "advice": [rows] * case["T"], "prior": None}


# --- Theorem 5 ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", GAMES)
def test_the_certificate_of_theorem_5(seed: int) -> None:
    run = AdviceFull(random_case("advice-full", seed)).finished()
    for n in run.advice.policies:
        regret, bound = run.regret(n), run.bound(n)
        assert regret <= min(run.certificate(n, j) for j in range(run.J)) + SLACK
        assert bound is None or regret <= bound


@pytest.mark.parametrize("seed", GAMES)
def test_corrections_pay_for_the_drift(seed: int) -> None:
    """Proof of Theorem 5: <p_t - p_{t+1}, lhat_t> <= <p_t, a_t> in every round."""
    run = AdviceFull(random_case("advice-full", seed, T=6)).finished()
    for t in range(1, run.T + 1):
        assert run.drift(t) <= run.mean_correction(t) + SLACK


@pytest.mark.parametrize("seed", GAMES)
def test_missing_mass_is_at_most_the_missing_losses(seed: int) -> None:
    """Theorem 5: rho_t(n) <= sum_i rho_t(i) and <= t - 1; and no rate ever rises."""
    run = AdviceFull(random_case("advice-full", seed)).finished()
    for t, row in enumerate(run.rho, start=1):
        assert max(row) <= min(t - 1, len(run.missing(t))) + SLACK
    for j in range(run.J):
        assert never_rises([row[j] for row in run.eta])


def test_missing_mass_can_exceed_the_missing_losses_of_every_arm() -> None:
    """Where advice moves, rho_t(n) <= max_i rho_t(i) is false: 2 > 1."""
    case: dict[str, Any] = {"setting": "advice-full", "K": 2, "N": 1, "T": 3}
    case |= {"losses": [[1, 1]] * 3, "delays": [[None, 0], [0, None], [0, 0]]}
    run = AdviceFull(case | {"advice": [[[1, 0]], [[0, 1]], [[1, 0]]]}).finished()
    assert run.rho[2] == [2]
    assert run.missing(3) == [(1, 0), (2, 1)]


@pytest.mark.parametrize("seed", GAMES)
def test_one_hot_policies_are_the_repaired_full_information_learner(seed: int) -> None:
    case = one_hot(random_case("advice-full", seed))
    run = AdviceFull(case).finished()
    arms = predictions(case | {"setting": "full", "variant": "repaired"}, digits=50)
    for found, expected in zip(run.q, arms.q, strict=True):
        assert max(abs(x - y) for x, y in zip(found, expected, strict=True)) < SLACK
    assert run.eta == arms.eta


# --- Theorem 6 ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", GAMES)
def test_every_run_of_theorem_6(seed: int) -> None:
    case = random_case("advice-concealed", seed)
    run, T, K = played(AdviceConcealed, case), case["T"], case["K"]
    assert abs(run.gamma[0] - 2 * mp.sqrt(mp.log(case["N"]) / mp.sqrt(K))) < SLACK
    assert never_rises(run.gamma)
    for t in range(1, T + 1):
        assert run.v(t) <= mp.sqrt(K * t) / 4 + SLACK
        assert run.z(t) <= run.most_waiting(t) + SLACK
        assert run.drift(t) <= run.gamma[t - 1] * (run.v(t) + run.z(t)) + SLACK
    for n in run.advice.policies:
        assert run.estimated_regret(n) <= run.estimated_bound(n) + SLACK
    most = max(len(run.outstanding(t)) for t in range(1, T + 1))
    assert run.most_waiting(T) <= most * mp.sqrt(K * T)


# --- Prop. 2 and Theorem 9 ---------------------------------------------------------------------


@pytest.mark.parametrize("seed", WITH_SKIPS)
@pytest.mark.parametrize("kind", [WithoutPromise, Skipping])
def test_every_run_without_a_promise(kind: type[WithoutPromise], seed: int) -> None:
    case = random_case("skipping", seed, K=2 + seed % 2)
    run, T, K = played(kind, case), case["T"], case["K"]
    assert never_rises(run.gamma)
    for t in range(1, T + 1):
        assert run.w[t - 1][run.arm(t)] <= run.most_waiting(t)
        assert run.drift(t) <= run.drift_bound(t) + SLACK
    for u in range(K):
        assert run.estimated_regret(u) <= run.estimated_bound() + SLACK
    assert run.most_waiting(T) <= run.most_outstanding() / run.exploration(T)


@pytest.mark.parametrize("seed", GAMES)
def test_contributions_are_the_overlap_of_plays_not_skipped(seed: int) -> None:
    """Z_t by convention 22 is the sum over s < t of w_s(i_s), after the skips of round s."""
    case = random_case("skipping", seed, K=2)
    run = played(Skipping, case)
    for t in range(1, case["T"] + 2):
        assert abs(run.Z(t) - run.overlap(t)) < SLACK


@pytest.mark.parametrize("seed", WITH_SKIPS)
def test_only_plays_of_the_arm_played_last_are_skipped(seed: int) -> None:
    """Convention 23: Z never falls, and only their contributions have grown."""
    run = played(Skipping, random_case("skipping", seed, K=2 + seed % 2))
    for t, plays in enumerate(run.skipped, start=1):
        assert all(run.arm(s) == run.arm(t - 1) for s in plays)


class WithPromise(WithoutPromise):
    """Convention 21: rho* sqrt(K t) in the place of W_t."""

    def __init__(self, case: dict[str, Any]) -> None:
        super().__init__(case)
        self.promise = case["rho_star"]

    def most_waiting(self, t: int) -> Number:
        return self.promise * mp.sqrt(self.K * t)


@pytest.mark.parametrize("rho_star", [0, 2])
@pytest.mark.parametrize("seed", range(2))
def test_with_a_promise_it_is_the_repaired_learner(rho_star: int, seed: int) -> None:
    case = random_case("concealed", seed, K=2) | {"rho_star": rho_star}
    run, expected = played(WithPromise, case), predictions(case, digits=50)
    assert expected.gamma is not None
    for t in range(case["T"]):
        assert run.gamma[t] == expected.gamma[t] or abs(run.gamma[t] - expected.gamma[t]) < SLACK
        assert max(abs(x - y) for x, y in zip(run.q[t], expected.q[t], strict=True)) < SLACK


def late_news(T: int) -> dict[str, Any]:
    """Two arms, the first of which is always played; only the loss of round 1 never comes."""
    case: dict[str, Any] = {"setting": "concealed", "variant": "repaired", "rho_star": None}
    case |= {"K": 2, "T": T, "arms": [0] * T, "options": {"skipping": True}}
    return case | {"losses": [[0.5, 0.5]] * T, "delays": [[None, None], *[[0, 0]] * (T - 1)]}


@pytest.mark.parametrize("seed", [0, 3, 5, 11])
def test_how_many_plays_are_skipped(seed: int) -> None:
    """Theorem 9 (i), and (iii) for every set S of plays."""
    case = random_case("skipping", seed, K=2, T=7)
    case = case if seed else late_news(7)
    run = played(Skipping, case)
    assert 1 <= run.number_skipped() <= run.most_skipped()
    root = mp.sqrt(mp.log(2) * run.final_Z())
    for S in subsets(case["T"]):
        assert root <= run.root_bound(S) + SLACK


def subsets(T: int) -> Iterator[set[int]]:
    """All sets of rounds."""
    for size in range(T + 1):
        yield from map(set, itertools.combinations(range(1, T + 1), size))


def test_a_play_is_skipped() -> None:
    """c_1 = 2 w_1 > sqrt(2 w_1/ln 2) at the start of round 4, w_1 = 1/(1/2 + 1/sqrt 2)."""
    run = played(Skipping, late_news(6))
    assert run.skipped == [[], [], [], [1], [], []]
    w_1 = 1 / (mp.mpf("0.5") + 1 / mp.sqrt(2))
    assert abs(run.Z(4) - 2 * w_1) < SLACK
    assert abs(run.final_Z() - 2 * w_1) < SLACK
    assert run.w[3] == [0, 0]
    assert abs(run.most_waiting(6) - w_1) < SLACK


def test_the_last_play_is_part_of_Z() -> None:
    """Convention 26: with Z at the start of round T, gamma_2 z_2 = 0.758 would have to be 0."""
    case = late_news(2) | {"delays": [[1, 1], [0, 0]]}
    run = played(Skipping, case)
    assert run.Z(2) == 0
    assert abs(run.gamma[1] * run.w[1][0] - mp.mpf("0.758")) < 5e-4
    assert run.gamma[1] * run.w[1][0] <= 2 * mp.sqrt(mp.log(2) * run.final_Z())


# --- Theorem 4 ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_the_estimated_regret_stays_within_the_budget(seed: int) -> None:
    """Proof of Theorem 4: C_t(u) <= b_t + 1, with b of the last round before t."""
    case = random_case("certified-trust", seed)
    run: CertifiedTrust = played(CertifiedTrust, case)
    for t in range(2, case["T"] + 2):
        assert max(run.regret_estimates(t)) <= run.budget(t - 1) + 1 + SLACK
    assert never_rises([-run.budget(t) for t in range(1, case["T"] + 1)])


def test_the_floor_of_exploration() -> None:
    """Convention 32, with b = 3: floors 1/4 of a tie, 1/100 far below, 1/9 in between."""
    q = with_floor([mp.mpf(0), mp.mpf(1)], [mp.mpf(3), mp.mpf(-7)], mp.mpf(3), 1, mp.mpf(1))
    assert q == [mp.mpf(1) / 5, mp.mpf(4) / 5]
    q = with_floor([mp.mpf(0), mp.mpf(1)], [mp.mpf(0), mp.mpf(-7)], mp.mpf(3), 1, mp.mpf(1))
    assert abs(q[0] - mp.mpf(1) / 10) < SLACK
    q = with_floor([mp.mpf(1), mp.mpf(0)], [mp.mpf(0), mp.mpf(-7)], mp.mpf(3), 1, mp.mpf(1))
    assert abs(q[1] - mp.mpf(1) / 101) < SLACK


# --- conventions -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "setting", ["advice-concealed", "concealed", "skipping", "certified-trust"]
)
def test_a_prefix_has_the_prefix_of_the_answer(setting: str, seed: int) -> None:
    """Convention 6: only Theorem 5 depends on the horizon."""
    case = random_case(setting, seed, T=6)
    rows = list(learner_of(setting)(case).replay(case["arms"]))
    short = {key: x[:4] if isinstance(x, list) and len(x) == 6 else x for key, x in case.items()}
    assert list(learner_of(setting)(short | {"T": 4}).replay(short["arms"])) == rows[:4]


def learner_of(setting: str) -> Any:
    kinds: dict[str, type[Drawn]] = {
        "advice-concealed": AdviceConcealed,
        "concealed": WithoutPromise,
        "skipping": Skipping,
        "certified-trust": CertifiedTrust,
    }
    return kinds[setting]
