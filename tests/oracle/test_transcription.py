"""The oracle against the worked cases, the literal objective and the degenerate inputs of E10."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from mpmath import mp

from .literal import (
    DIGITS,
    Problem,
    concealed_problem,
    full_problem,
    objective,
    objective_gradient,
    partial_problem,
    stationarity_spread,
)
from .transcription import (
    Round,
    argmin_concealed,
    argmin_full,
    argmin_partial,
    grid_prior,
    predictions,
    rounds,
)

CASES = sorted((Path(__file__).parents[1] / "cases").glob("*.json"))
HANDFUL = 12
SLOW = {"c04_armdep", "p03_const", "p04_armdep"}  # some seconds each with forty digits
WORKED = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.check] if path.stem in SLOW else [])
    for path in CASES
]


def flat(x: Any) -> list[Any]:
    return [z for y in x for z in flat(y)] if isinstance(x, list) else [x]


def close(found: Any, expected: Any, tolerance: float = 1e-14) -> bool:
    """Whether all entries agree; infinities ("inf" in the worked cases) must match exactly."""
    with mp.workdps(DIGITS):
        pairs = zip(flat(found), map(mp.mpf, flat(expected)), strict=True)
        return all(x == y or abs(x - y) <= tolerance for x, y in pairs)


def problem_of(case: dict[str, Any], played: Round) -> Problem:
    """The argmin problem of one round of a replay, with the literal objective."""
    K, J = case["K"], len(played.L[0])
    with mp.workdps(DIGITS):
        prior, weights = case.get("prior") or [mp.mpf(1) / K] * K, grid_prior(J)
    match case["setting"]:
        case "full":
            return full_problem(played.L, prior, weights, played.eta)
        case "partial":
            return partial_problem(played.L, prior, weights, played.gamma, played.eta)
        case _:
            return concealed_problem([row[0] for row in played.L], played.eta, played.gamma)


def small_case(setting: str, **changes: Any) -> dict[str, Any]:
    """A case of three arms and six rounds, in which some losses never arrive."""
    case = {
        "setting": setting,
        "K": 3,
        "T": 6,
        "losses": [[0.5, 0.25, 1.0], [0.1, 0.9, 0.3]] * 3,
        "delays": [[0, 2, 1], [3, 0, None]] * 3,
        "arms": [0, 2, 1, 2, 0, 1],
        "rho_star": 3,
    }
    return case | changes


@pytest.mark.parametrize("path", WORKED)
def test_worked_case(path: Path) -> None:
    record = json.loads(path.read_text())
    case, answer = record["case"], record["answer"]
    played = rounds(case)
    assert close([r.q for r in played], answer["q"])
    assert close([r.eta for r in played], answer["eta"])
    if case["setting"] == "partial":
        assert close(played[0].gamma, answer["gamma"])
    if case["setting"] == "concealed":
        assert close([r.gamma for r in played], answer["gamma"])
    for r in played[:: max(1, case["T"] // HANDFUL)]:
        assert stationarity_spread(problem_of(case, r), r.p) < 1e-20


@pytest.mark.parametrize("variant", ["paper", "repaired"])
@pytest.mark.parametrize("setting", ["full", "partial", "concealed"])
def test_every_round_is_stationary(setting: str, variant: str) -> None:
    case = small_case(setting, variant=variant)
    for r in rounds(case):
        assert stationarity_spread(problem_of(case, r), r.p) < 1e-30
        with mp.workdps(40):
            assert abs(sum(r.q) - 1) < 1e-35


@pytest.mark.parametrize("setting", ["full", "partial", "concealed"])
def test_more_digits_change_nothing(setting: str) -> None:
    case = small_case(setting, prior=[0.5, 0.25, 0.25])
    assert close(predictions(case).q, predictions(case, digits=60).q, 1e-35)


@pytest.mark.parametrize("setting", ["full", "partial", "concealed"])
def test_gradient_is_the_objectives(setting: str) -> None:
    case = small_case(setting)
    last = rounds(case)[-1]
    problem, p = problem_of(case, last), last.p
    with mp.workdps(DIGITS):
        exact = objective_gradient(problem, p)
        for i, row in enumerate(p):
            for j, x in enumerate(row):
                step = x * mp.mpf(10) ** -30
                up = objective(problem, moved(p, i, j, step))
                down = objective(problem, moved(p, i, j, -step))
                assert abs((up - down) / (2 * step) - exact[i][j]) < 1e-45


def moved(p: list[list[Any]], i: int, j: int, step: Any) -> list[list[Any]]:
    row = [*p[i][:j], p[i][j] + step, *p[i][j + 1 :]]
    return [*p[:i], row, *p[i + 1 :]]


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3, 1e9])
def test_argmins_at_all_sizes(size: float) -> None:
    L = [[size * (i * j % 5) / 4 for j in range(1, 4)] for i in range(1, 6)]
    prior, weights, first = [0.5, 0.25, 0.125, 0.0625, 0.0625], grid_prior(3), [y[0] for y in L]
    for rate in (1e-6, 1e-2, 1.0, 1e2):
        rates = [rate, rate, rate / 4]
        p = argmin_full(L, prior, weights, rates, joint=True)
        assert stationarity_spread(full_problem(L, prior, weights, rates), p) < 1e-25
        for eta in (1e-5, 0.1, 10.0):
            p = argmin_partial(L, prior, weights, rates, eta, joint=True)
            problem = partial_problem(L, prior, weights, rates, eta)
            assert stationarity_spread(problem, p) < 1e-25
            q = [[x] for x in argmin_concealed(first, eta, rate)]
            assert stationarity_spread(concealed_problem(first, eta, rate), q) < 1e-25


@pytest.mark.parametrize("variant", ["paper", "repaired"])
def test_a_single_round(variant: str) -> None:
    """E10, T = 1: q = pi in full information, 1/K in both bandits."""
    prior = [0.5, 0.375, 0.125]
    common: dict[str, Any] = {"T": 1, "prior": prior, "variant": variant}
    assert close(predictions(small_case("full", **common)).q, [prior], 1e-30)
    for rho_star in (0, 2):
        for setting in ("partial", "concealed"):
            answer = predictions(small_case(setting, rho_star=rho_star, **common))
            assert close(answer.q, [[mp.mpf(1) / 3] * 3])
    assert predictions(small_case("partial", **common)).eta == [0]


@pytest.mark.parametrize("variant", ["paper", "repaired"])
@pytest.mark.parametrize("rho_star", [0, 2])
@pytest.mark.parametrize("setting", ["full", "partial", "concealed"])
def test_a_single_arm(setting: str, rho_star: int, variant: str) -> None:
    case = small_case(setting, K=1, arms=[0] * 6, rho_star=rho_star, variant=variant)
    answer = predictions(case | {"losses": [[1.0]] * 6, "delays": [[2], [None]] * 3})
    assert close(answer.q, [[1]] * 6, 1e-30)


def test_partial_without_missing_losses_is_a_log_barrier() -> None:
    """E10, rho* = 0: q_i = 1/(eta (L_i - c)), so 1/(eta q_i) - L_i is the same for all arms."""
    case = small_case("partial", rho_star=0, delays=[[0] * 3] * 6, prior=[0.5, 0.25, 0.25])
    assert predictions(case).gamma == [mp.inf] * 2
    for r in rounds(case):
        with mp.workdps(40):
            levels = [1 / (r.eta * x) - row[0] for x, row in zip(r.q, r.L, strict=True)]
            assert max(levels) - min(levels) < 1e-30
            assert abs(sum(r.q) - 1) < 1e-30


def test_concealed_gamma_is_infinite_while_nothing_is_outstanding() -> None:
    """E10, rho* = 0: at the second play of arm 0 the first is outstanding; it counts afterwards."""
    late = small_case("concealed", rho_star=0, arms=[0, 0, 1, 2, 1, 2], delays=[[2] * 3] * 6)
    gamma = predictions(late).gamma
    assert gamma is not None
    assert gamma[:2] == [mp.inf] * 2
    assert close(gamma[2], math.sqrt(math.log(3) / 3))
    prompt = predictions(late | {"delays": [[0] * 3] * 6})
    assert prompt.gamma == [mp.inf] * 6


@pytest.mark.parametrize("setting", ["full", "partial", "concealed"])
def test_never_is_later_than_the_horizon(setting: str) -> None:
    case = small_case(setting)
    late = [[6 if d is None else d for d in row] for row in case["delays"]]
    assert predictions(case) == predictions(case | {"delays": late})


def test_no_loss_moves_nothing() -> None:
    """E10, all losses zero: q = pi in full information, 1/K concealed, constant in between."""
    prior = [0.5, 0.375, 0.125]
    quiet: dict[str, Any] = {"losses": [[0, 0, 0]] * 6, "prior": prior}
    assert close(predictions(small_case("full", **quiet)).q, [prior] * 6, 1e-30)
    third = mp.mpf(1) / 3
    assert close(predictions(small_case("concealed", **quiet)).q, [[third] * 3] * 6, 1e-14)
    q = predictions(small_case("partial", **quiet)).q
    assert close(q, [q[0]] * 6, 1e-30)
    assert not close(q[0], prior, 1e-3)


@pytest.mark.parametrize(("setting", "moved_to"), [("partial", 0.5449), ("concealed", 0.5681)])
def test_the_game_of_erratum_4(setting: str, moved_to: float) -> None:
    case = {"setting": setting, "K": 2, "T": 2, "rho_star": 1}
    case |= {"losses": [[1, 1]] * 2, "delays": [[1, 0], [0, 0]]}
    assert close(predictions(case | {"arms": [0, 0]}).q[1][0], 0.5)
    assert close(predictions(case | {"arms": [1, 0]}).q[1][0], moved_to, 5e-5)


@pytest.mark.parametrize(("variant", "most"), [("paper", 1), ("repaired", 2)])
def test_the_game_of_erratum_3(variant: str, most: int) -> None:
    case = {"setting": "partial", "K": 2, "T": 3, "rho_star": 1, "variant": variant}
    case |= {"losses": [[1, 1]] * 3, "arms": [0, 1, 0]}
    case |= {"delays": [[None, 0], [0, None], [0, 0]]}
    expected = math.sqrt(2 * math.log(3) / (4 * (1 + most)))
    assert close(predictions(case).eta[2], expected)


@pytest.mark.parametrize(
    ("settings", "exploration", "weight"),
    [
        ({}, 1.0, 10.0),
        ({"options": {"gamma_weight": "q+eps"}}, 1.0, 1 / 1.1),
        ({"variant": "repaired"}, 1 / math.sqrt(10), 1 / (0.1 + 1 / math.sqrt(10))),
        ({"variant": "repaired", "options": {"gamma_weight": "q"}}, 1 / math.sqrt(10), 10.0),
    ],
)
def test_the_game_of_erratum_5(settings: dict[str, Any], exploration: float, weight: float) -> None:
    """K = 10, d = 1, i_1 = i_2: one outstanding play of weight 1/q_1, counted from round 3."""
    case = {"setting": "concealed", "K": 10, "T": 3, "rho_star": 1, "arms": [0, 0, 0]}
    case |= {"losses": [[1] * 10] * 3, "delays": [[1] * 10] * 3} | settings
    gamma = predictions(case).gamma
    assert gamma is not None
    assert close(gamma[1], math.sqrt(math.log(10) / (math.sqrt(2) / exploration)))
    assert close(gamma[2], math.sqrt(math.log(10) / (math.sqrt(3) / exploration + weight)))


def test_the_repaired_grid_of_erratum_1() -> None:
    """Three rates at T = 6, whose uncapped part ignores the missing losses."""
    eta = predictions(small_case("full", variant="repaired")).eta
    scale = math.sqrt(math.log(3) + 2 * (math.log(6) + 1))
    missing = [0, 1, 1, 2, 2, 3]
    expected = [[min(0.25 / (1 + m), scale / 4 / 2**j) for j in (1, 2, 3)] for m in missing]
    assert close(eta, expected)
