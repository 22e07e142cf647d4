"""Degenerate cases of the settings beyond the paper, and bad input."""

from typing import Any

import pytest

from .answers import answer
from .random_games import SETTINGS, random_case
from .script import BadInputError
from .test_answers import agree

ADVICE = ["advice-full", "advice-concealed"]
OWN_PLAYS = ["concealed", "skipping"]


@pytest.mark.parametrize("setting", ADVICE)
@pytest.mark.parametrize("seed", range(3))
def test_a_single_policy_is_followed(setting: str, seed: int) -> None:
    """N = 1: p = 1 and q is its advice; concealed, gamma is 0 (convention 7)."""
    case = random_case(setting, seed, N=1) | {"prior": [1.0]}
    found = answer(case)
    assert found["p"] == [[1.0]] * case["T"]
    assert found["q"] == [block[0] for block in case["advice"]]
    assert found.get("gamma", [0.0] * case["T"]) == [0.0] * case["T"]


@pytest.mark.parametrize("setting", ADVICE)
def test_a_single_arm_tells_policies_nothing_apart(setting: str) -> None:
    """K = 1: all policies lose the same, and p is the prior (convention 13)."""
    case = random_case(setting, 0, K=1, N=3) | {"prior": [0.5, 0.25, 0.25]}
    found = answer(case)
    assert agree(found["p"], [case["prior"]] * case["T"])
    assert agree(found["q"], [[1.0]] * case["T"])


@pytest.mark.parametrize("setting", OWN_PLAYS)
def test_a_single_arm_is_played(setting: str) -> None:
    """K = 1: q = 1, gamma = 0 (convention 7), and nothing is ever skipped (convention 23)."""
    case = random_case(setting, 2, K=1, T=8) | {"delays": [[None]] * 8}
    found = answer(case)
    assert found["q"] == [[1.0]] * 8
    assert found["gamma"] == [0.0] * 8
    assert found.get("skipped", [[]] * 8) == [[]] * 8


def test_a_single_arm_is_always_trusted() -> None:
    """Convention 31: C is the number of outstanding plays, at most n; also for beta = 0."""
    case = random_case("certified-trust", 1, K=1, T=9) | {"beta": 0}
    found = answer(case | {"losses": [[0.1], [0.7], [0.3]] * 3, "delays": [[0], [3], [1]] * 3})
    assert found["trusted"] == [True] * 9
    assert all(
        [round(C[0])] == C and C[0] <= b for C, b in zip(found["C"], found["b"], strict=True)
    )


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_single_round(setting: str) -> None:
    """T = 1: nothing has been told; full information has one rate (convention 8)."""
    case = random_case(setting, 0, T=1) | {"prior": None}
    found = answer(case)
    if "p" in found:
        assert agree(found["p"], [[1 / case["N"]] * case["N"]])
    if setting == "advice-full":
        assert len(found["eta"][0]) == 1
    if setting in OWN_PLAYS:
        assert agree(found["q"], [[1 / case["K"]] * case["K"]])
        assert found["gamma"] == [None]
    if setting == "certified-trust":
        assert found["trusted"] == [True]


@pytest.mark.parametrize(("T", "J"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (40, 6)])
def test_the_size_of_the_grid(T: int, J: int) -> None:
    """Convention 8."""
    case = random_case("advice-full", 0, T=T, K=2, N=2)
    case |= {"losses": [[0, 0]] * T, "delays": [[0, 0]] * T}
    assert len(answer(case)["eta"][0]) == J


@pytest.mark.parametrize("setting", ADVICE)
def test_equal_policies_share_their_weight(setting: str) -> None:
    """With a prior (1/2, 1/4, 1/4) and equal policies 1 and 2, their p stay equal."""
    case = random_case(setting, 4, N=3, T=8)
    case["advice"] = [[rows[0], rows[1], rows[1]] for rows in case["advice"]]
    case["arms"] = [next(i for i, x in enumerate(rows[1]) if x) for rows in case["advice"]]
    for p in answer(case | {"prior": [0.5, 0.25, 0.25]})["p"]:
        assert agree(p[1], p[2])


@pytest.mark.parametrize("setting", ADVICE)
def test_an_arm_that_nobody_advises_is_never_played(setting: str) -> None:
    case = random_case(setting, 1, K=3, N=2, T=6)
    case["advice"] = [[[*row[:2], 0.0] for row in rows] for rows in two_arms(6)]
    found = answer(case | {"arms": [0, 1] * 3})
    assert [q[2] for q in found["q"]] == [0.0] * 6
    with_other_losses = case | {"losses": [[*row[:2], 0.5] for row in case["losses"]]}
    assert answer(with_other_losses | {"arms": [0, 1] * 3}) == found


def two_arms(T: int) -> list[list[list[float]]]:
    """Advice of two policies that concerns two arms of three."""
    return [[[0.25, 0.75, 0.0], [0.5, 0.5, 0.0]], [[1.0, 0.0, 0.0], [0.125, 0.875, 0.0]]] * (T // 2)


def test_full_information_without_losses_keeps_the_prior() -> None:
    """Convention 13, and nothing that never comes moves anything but the rates."""
    case = random_case("advice-full", 6, K=2, N=2, T=5) | {"prior": [0.75, 0.25]}
    quiet = answer(case | {"losses": [[0.0, 0.0]] * 5})
    assert agree(quiet["p"], [[0.75, 0.25]] * 5)
    never = answer(case | {"delays": [[None, None]] * 5})
    assert agree(never["p"], [[0.75, 0.25]] * 5)
    assert agree(never["rho"], [[float(t)] * 2 for t in range(5)])


@pytest.mark.parametrize("setting", ["advice-concealed", *OWN_PLAYS])
def test_losses_that_never_come_only_wait(setting: str) -> None:
    """p and q are the first ones for good; gamma falls."""
    case = random_case(setting, 3, K=2, N=2, T=8) | {"delays": [[None, None]] * 8}
    if "advice" in case:
        case |= {"advice": case["advice"][:1] * 8, "arms": [int(case["advice"][0][0][0] == 0)] * 8}
    found = answer(case)
    for row in found["q"]:
        assert agree(row, found["q"][0])
    assert found["gamma"][-1] < found["gamma"][1]


@pytest.mark.parametrize("setting", OWN_PLAYS)
def test_gamma_is_infinite_until_something_is_outstanding(setting: str) -> None:
    """Convention 20."""
    case = random_case(setting, 0, K=2, T=6) | {"delays": [[0, 0]] * 6}
    assert answer(case)["gamma"] == [None] * 6
    assert answer(case)["W"] == [0.0] * 6


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("seed", range(2))
def test_never_is_later_than_the_horizon(setting: str, seed: int) -> None:
    """Convention 4: a delay of null equals one of T."""
    case = random_case(setting, seed, T=6)
    case["delays"] = [[None if d == 3 else d for d in row] for row in case["delays"]]
    late = [[6 if d is None else d for d in row] for row in case["delays"]]
    assert answer(case) == answer(case | {"delays": late})


@pytest.mark.parametrize("setting", ["advice-concealed", *OWN_PLAYS, "certified-trust"])
def test_only_the_losses_of_own_plays_are_used(setting: str) -> None:
    """Convention 17: losses and delays of arms that were not drawn are no matter."""
    case = random_case(setting, 5, T=6)
    hidden = [
        [(x, d) if i == arm else (1 - x, 0) for i, (x, d) in enumerate(zip(*rows, strict=True))]
        for arm, *rows in zip(case["arms"], case["losses"], case["delays"], strict=True)
    ]
    other = {
        "losses": [[x for x, _ in row] for row in hidden],
        "delays": [[d for _, d in row] for row in hidden],
    }
    assert answer(case) == answer(case | other)


def bad_cases() -> list[Any]:
    """Cases that break convention 5, or that are not of this oracle."""
    advice = random_case("advice-concealed", 1, K=2, N=2, T=2)
    fine = {"advice": [[[1.0, 0.0], [0.5, 0.5]]] * 2, "arms": [0, 1], "prior": None}
    concealed = random_case("concealed", 0)
    trust = random_case("certified-trust", 0, K=2, T=1)
    return [
        pytest.param(advice | fine | {"advice": [[[1.0, 0.0], [0.0, 0.0]]] * 2}, id="all zero"),
        pytest.param(advice | fine | {"advice": [[[1.5, -0.5], [0.5, 0.5]]] * 2}, id="negative"),
        pytest.param(advice | fine | {"advice": [[[1.0, 1e-11], [0.5, 0.5]]] * 2}, id="sum"),
        pytest.param(advice | fine | {"advice": [[[1.0, 0.0]]] * 2}, id="a policy is missing"),
        pytest.param(advice | fine | {"prior": [1.0, 0.0]}, id="zero prior"),
        pytest.param(
            advice | fine | {"advice": [[[1.0, 0.0]] * 2] * 2, "arms": [0, 1]}, id="q = 0 advised"
        ),
        pytest.param(trust | {"q": [[1.0, 0.0]], "arms": [1]}, id="q = 0 given"),
        pytest.param(concealed | {"rho_star": 1}, id="a promise"),
        pytest.param(concealed | {"variant": "paper"}, id="the paper's variant"),
        pytest.param(concealed | {"setting": "full"}, id="the paper's setting"),
        pytest.param(concealed | {"T": 99}, id="too few rounds"),
    ]


@pytest.mark.parametrize("case", bad_cases())
def test_bad_input(case: dict[str, Any]) -> None:
    with pytest.raises(BadInputError):
        answer(case)


def test_an_all_zero_row_is_bad_with_full_information_too() -> None:
    case = random_case("advice-full", 1, K=2, N=1, T=1)
    with pytest.raises(BadInputError):
        answer(case | {"advice": [[[0.0, 0.0]]]})
