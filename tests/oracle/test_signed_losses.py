"""Losses of both signs: the counterexample to lem:drift, the shift, and Prop. 8'."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from mpmath import mp

from .advice_full import AdviceFull
from .random_games import random_case
from .signed_losses import SignedExponentialWeights, drift, regret, shifted, shifted_case
from .transcription import predictions

SLACK = mp.mpf(10) ** -35
HALF = Fraction(1, 2)


@pytest.fixture(autouse=True)
def fifty_digits() -> Iterator[None]:
    with mp.workdps(50):
        yield


def signed_case(seed: int, **sizes: int) -> dict[str, Any]:
    """A random game with losses in [-1, 1]."""
    case = random_case("advice-full", seed, **sizes)
    return case | {"losses": [[2 * x - 1 for x in row] for row in case["losses"]]}


# --- lem:drift ---------------------------------------------------------------------------------


def test_the_drift_lemma_is_false_for_losses_of_both_signs() -> None:
    """Exactly: two arms, three rounds, two gains of 1 of arm 2 that have not come in round 3.

    Entropy with rate ln(9/8) < 1/8. Nothing has come, so p = (1/2, 1/2); round 3 loses (1, 0), and
    Lhat_3 - Lhat_3^av = (1, -2). p_2 (1 + m) = 3/2 > 1.
    """
    above_the_rate = Fraction(1, 8)
    found = drift([HALF, HALF], Fraction(8, 9), above_the_rate, [1, 0], [1, -2])
    assert found.left == HALF - Fraction(512, 1241)
    assert found.right == Fraction(1, 16)
    assert found.left > found.right


@pytest.mark.parametrize(("m", "fails"), [(0, False), (1, False), (2, True), (9, True)])
def test_the_drift_lemma_fails_from_the_second_missing_gain_on(m: int, fails: bool) -> None:
    """Small rates: the left side is rate p_1 p_2 (1 + m) + O(rate^2), the right side rate p_1."""
    rate = mp.mpf(10) ** -6
    half = mp.mpf("0.5")
    found = drift([half, half], mp.exp(-rate), rate, [1, 0], [1, -m])
    assert (found.left > found.right) == fails
    assert abs(found.left / rate - (1 + mp.mpf(m)) / 4) < 1e-4


def test_the_drift_lemma_as_a_game() -> None:
    """Three rounds of exponential weights at the fixed rate ln(9/8)."""
    case: dict[str, Any] = {"K": 2, "T": 3, "losses": [[0, -1], [0, -1], [1, 0]]}
    run = SignedExponentialWeights(case | {"delays": [[0, None], [0, 1], [0, 0]]})
    rate = mp.log(mp.mpf(9) / 8)
    now, ahead = run.weights(run.cumulative(3), rate), run.weights([mp.mpf(1), mp.mpf(-2)], rate)
    assert now == [mp.mpf("0.5")] * 2
    assert now[0] - ahead[0] > rate * now[0]


def test_with_losses_of_one_sign_the_same_round_keeps_the_lemma() -> None:
    """What is missing of arm 2 is a loss here."""
    for m in range(6):
        found = drift([HALF, HALF], Fraction(8, 9), Fraction(1, 9), [1, 0], [1, m])
        assert found.left <= found.right  # 1/9 < ln(9/8)


# --- Prop. 8 -----------------------------------------------------------------------------------


def test_regret_is_the_width_of_the_range_times_the_shifted_regret() -> None:
    """Regret(l) = (hi - lo) regret(l'), for any q; in fractions."""
    q = [[Fraction(1, 3), Fraction(2, 3)], [Fraction(3, 4), Fraction(1, 4)]]
    losses = [[Fraction(-2), Fraction(5)], [Fraction(1, 2), Fraction(3)]]
    fed = [[shifted(x, Fraction(-2), Fraction(5)) for x in row] for row in losses]
    assert fed[0] == [0, 1]
    for u in range(2):
        assert regret(q, losses, u) == 7 * regret(q, fed, u)


@pytest.mark.parametrize("seed", range(4))
def test_the_certificate_for_losses_in_a_known_range(seed: int) -> None:
    """Prop. 8: twice the certificate of Theorem 5 on l' = (1 + l)/2 bounds the regret on l."""
    case = signed_case(seed)
    run = AdviceFull(shifted_case(case, -1, 1)).finished()
    signed = [[mp.mpf(x) for x in row] for row in case["losses"]]
    own = sum(x * y for rows in zip(run.q, signed, strict=True) for x, y in zip(*rows, strict=True))
    for n in run.advice.policies:
        policy = sum(
            run.advice.xi(t, n, i) * signed[t - 1][i]
            for t in range(1, run.T + 1)
            for i in range(run.K)
        )
        assert abs(own - policy - 2 * run.regret(n)) < 1e-14  # l' is rounded to a double
        assert own - policy <= 2 * min(run.certificate(n, j) for j in range(run.J))


def test_a_missing_loss_counts_as_the_least() -> None:
    """Prop. 8: nothing has come, so q stays even, as if all losses were -1."""
    case = {"setting": "full", "variant": "repaired", "K": 2, "T": 3}
    case |= {"losses": [[0.5, 1.0]] * 3, "delays": [[None, None]] * 3}
    least = case | {"losses": [[0.0, 0.0]] * 3}
    assert predictions(case).q == predictions(least).q


# --- Prop. 8' ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_exponential_weights_of_signed_losses(seed: int) -> None:
    run = SignedExponentialWeights(signed_case(seed, T=15))
    for t in range(1, run.T + 1):
        assert run.drift(t) <= run.drift_bound(t) + SLACK
        assert t == 1 or run.rate(t) <= run.rate(t - 1)
    assert max(run.regret(u) for u in range(run.K)) <= run.bound()


def test_exponential_weights_of_a_single_arm() -> None:
    case = {"K": 1, "T": 2, "losses": [[-1.0], [1.0]], "delays": [[None], [0]]}
    run = SignedExponentialWeights(case)
    assert run.q == [[1], [1]]
    assert run.regret(0) == run.bound() == 0
