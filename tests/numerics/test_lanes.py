"""The lanes: their arithmetic is numpy's, their exponentials mpmath's, compiled or plain."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from belated.arrays import Floats
from belated.compiled.kernels import compiled
from belated.numerics.lanes import (
    LANES,
    LEAST,
    MOST,
    across,
    decay,
    exponential,
    fused,
    lane,
    larger,
    largest,
    least_of,
    load,
    magnitude,
    side_by_side,
    smaller,
    spread,
    store,
    total,
    unless_below,
    whole,
)

SIZES = range(1, 3 * LANES + 2)
FURTHEST = 0.125  # where `decay` ends
NAMES = ["a + b", "a - b", "a b", "a / b", "2 + a", "a + 2", "2 - a", "a - 2", "2 a", "a / 2"]
NAMES += ["2 / b", "a b + c", "a 2 + c", "a 2 + 3", "larger", "smaller", "larger than 0.5"]
NAMES += ["smaller than 0.5", "magnitude", "unless below"]


def jitted(function: Any) -> Any:
    """The function compiled, or as it is where nothing is compiled."""
    return compiled(function)


@jitted
def exponentials(x: Floats, out: Floats) -> None:
    """e^x of a whole array, by lanes."""
    end = whole(x.shape[0])
    for i in range(0, end, LANES):
        store(out, i, exponential(load(x, i, 0.0, False)), False)
    if end < x.shape[0]:
        store(out, end, exponential(load(x, end, 0.0, True)), True)


@jitted
def decays(x: Floats, out: Floats) -> None:
    """e^-x of a whole array, by lanes."""
    end = whole(x.shape[0])
    for i in range(0, end, LANES):
        store(out, i, decay(load(x, i, 0.0, False)), False)
    if end < x.shape[0]:
        store(out, end, decay(load(x, end, 0.0, True)), True)


@jitted
def operate(a_: Floats, b_: Floats, c_: Floats, out: Floats) -> None:
    """Every operation on lanes, a row of the answer each."""
    a, b, c = load(a_, 0, 0.0, False), load(b_, 0, 0.0, False), load(c_, 0, 0.0, False)
    store(out[0], 0, a + b, False)
    store(out[1], 0, a - b, False)
    store(out[2], 0, a * b, False)
    store(out[3], 0, a / b, False)
    store(out[4], 0, 2.0 + a, False)
    store(out[5], 0, a + 2.0, False)
    store(out[6], 0, 2.0 - a, False)
    store(out[7], 0, a - 2.0, False)
    store(out[8], 0, 2.0 * a, False)
    store(out[9], 0, a / 2.0, False)
    store(out[10], 0, 2.0 / b, False)
    store(out[11], 0, fused(a, b, c), False)
    store(out[12], 0, fused(a, 2.0, c), False)
    store(out[13], 0, fused(a, 2.0, 3.0), False)
    store(out[14], 0, larger(a, b), False)
    store(out[15], 0, smaller(a, b), False)
    store(out[16], 0, larger(a, 0.5), False)
    store(out[17], 0, smaller(a, 0.5), False)
    store(out[18], 0, magnitude(a), False)
    store(out[19], 0, unless_below(a, b, 0.5), False)


def expected(a: Floats, b: Floats, c: Floats) -> list[Floats]:
    """The same by numpy."""
    rows = [a + b, a - b, a * b, a / b, 2 + a, a + 2, 2 - a, a - 2, 2 * a, a / 2, 2 / b]
    rows += [a * b + c, a * 2 + c, a * 2 + 3, np.maximum(a, b), np.minimum(a, b)]
    return [
        *rows,
        np.maximum(a, 0.5),
        np.minimum(a, 0.5),
        np.abs(a),
        np.where(b >= 0.5, a, 0.0),
    ]


@jitted
def summaries(x: Floats, out: Floats) -> None:
    """The sum of four lanes, the largest, one number in all of them, and each by itself."""
    lanes = load(x, 0, 0.0, False)
    out[0] = across(lanes)
    out[1] = largest(lanes)
    out[2] = across(spread(x[1]))
    for k in range(LANES):
        out[3 + k] = lane(lanes, k)


@jitted
def copied(x: Floats, fill: float, out: Floats, beyond: Floats) -> None:
    """Whole lanes and a part, copied; `beyond` gets the part with what fills it up."""
    end = whole(x.shape[0])
    for i in range(0, end, LANES):
        store(out, i, load(x, i, fill, False), False)
    if end < x.shape[0]:
        rest = load(x, end, fill, True)
        store(out, end, rest, True)
        store(beyond, 0, rest, False)


@jitted
def copied_cautiously(x: Floats, out: Floats) -> None:
    """The same where every step asks what is still inside."""
    for i in range(0, x.shape[0], LANES):
        store(out, i, load(x, i, 0.0, True), True)


@jitted
def abreast(x: Floats, place: int, out: Floats) -> None:
    """Numbers of the array side by side, a whole number among them."""
    store(out, 0, side_by_side(x[0], place, x[1], 0.25), False)


def inputs() -> tuple[Floats, Floats, Floats]:
    """Three sets of lanes with both signs."""
    a, b, c = np.random.default_rng(1).normal(size=(3, LANES))
    return a, b, c


def arguments() -> Floats:
    """Arguments of the exponential from end to end, dense near zero."""
    rng = np.random.default_rng(2)
    spread_out, near = rng.uniform(LEAST, MOST, 6000), rng.normal(size=2000)
    tiny = rng.choice([-1.0, 1.0], 500) * 10.0 ** rng.uniform(-20.0, 0.0, 500)
    halves = np.log(2.0) * (np.arange(-1000, 1000) + 0.5)
    return np.concatenate([spread_out, near, tiny, halves, [LEAST, MOST, 0.0, -0.0, 1.0]])


def short_arguments() -> Floats:
    """Arguments of `decay` from end to end, dense, the smallest numbers there are among them."""
    rng = np.random.default_rng(4)
    dense, near_the_end = np.linspace(0.0, FURTHEST, 8001), 10.0 ** rng.uniform(-17.0, -2.0, 1000)
    tiny = 10.0 ** rng.uniform(-323.0, -1.0, 1000)
    random = rng.uniform(0.0, FURTHEST, 6000)
    x = np.concatenate([dense, random, tiny, FURTHEST - near_the_end, [5e-324, 0.0, FURTHEST]])
    return np.minimum(x, FURTHEST)


def answers() -> Floats:
    """All that this file computes with lanes, in one row, as the two ways of running must agree."""
    operations, powers, numbers = np.empty((len(NAMES), LANES)), arguments(), np.empty(3 + LANES)
    operate(*inputs(), operations)
    exponentials(arguments(), powers)
    summaries(inputs()[0], numbers)
    shrunk, row = short_arguments(), np.empty(LANES)
    decays(short_arguments(), shrunk)
    abreast(inputs()[0], 7, row)
    parts = operations.ravel(), powers, numbers, shrunk, row, sums(), *map(cautious_copy, SIZES)
    return np.concatenate(parts)


def cautious_copy(size: int) -> Floats:
    """So many numbers, copied by lanes of which each may be a part."""
    out = np.zeros(size)
    copied_cautiously(np.arange(1.0, size + 1.0), out)
    return out


def sums() -> Floats:
    """Totals of arrays of all lengths, positive and not."""
    rng = np.random.default_rng(3)
    return np.array([total(rng.random(size)) for size in [*SIZES, 1000, 1003]])


def test_exponential_is_within_two_units_of_the_last_digit() -> None:
    """Against mpmath over the whole range."""
    x = arguments()
    x = x[(x >= LEAST) & (x <= MOST)]
    powers = np.empty_like(x)
    exponentials(x, powers)
    with mp.workdps(40):
        for value, power in zip(x.tolist(), powers.tolist(), strict=True):
            error = abs(mp.mpf(power) - mp.exp(mp.mpf(value)))
            assert error <= 2 * np.spacing(float(mp.exp(mp.mpf(value)))), value
    assert powers[x == 0.0].tolist() == [1.0, 1.0]


def test_decay_is_within_two_units_of_the_last_digit() -> None:
    """Against mpmath from 0 to 1/8, both included; nothing decays by nothing or next to it."""
    x = short_arguments()
    shrunk = np.empty_like(x)
    decays(x, shrunk)
    with mp.workdps(40):
        truth = [mp.exp(-mp.mpf(value)) for value in x.tolist()]
        errors = [
            float(abs(mp.mpf(value) - exact) / np.spacing(float(exact)))
            for value, exact in zip(shrunk.tolist(), truth, strict=True)
        ]
    worst = int(np.argmax(errors))
    assert errors[worst] <= 2.0, (errors[worst], x[worst])
    assert {0.0, 5e-324, FURTHEST} <= set(x.tolist())
    assert (shrunk[x <= 1e-17] == 1.0).all()


def test_exponential_beyond_its_range() -> None:
    """Zero below -708, exactly; above 709 as at 709, and never infinite."""
    x = np.array([np.nextafter(LEAST, -np.inf), -745.0, -1e9, -1e308, -np.inf, LEAST, 0.0, 0.0])
    below = np.empty_like(x)
    exponentials(x, below)
    assert (below[:5] == 0.0).all()
    assert below[5] > 0.0
    above = np.empty(6)
    exponentials(np.array([MOST, np.nextafter(MOST, np.inf), 710.0, 1e9, 1e308, np.inf]), above)
    assert np.isfinite(above).all()
    assert (above == above[0]).all()
    assert above[0] == pytest.approx(np.exp(MOST), rel=1e-15)


@pytest.mark.parametrize("row", range(len(NAMES)), ids=NAMES)
def test_arithmetic_is_that_of_numpy(row: int) -> None:
    """Lanes with lanes and with a number; exact, but for the one rounding that `fused` saves."""
    out = np.full((len(NAMES), LANES), np.nan)
    operate(*inputs(), out)
    truth = expected(*inputs())
    assert len(truth) == len(NAMES)
    tolerance = 1e-15 if "+ c" in NAMES[row] or "+ 3" in NAMES[row] else 0.0
    np.testing.assert_allclose(out[row], truth[row], rtol=0, atol=tolerance)


@pytest.mark.parametrize("size", SIZES)
def test_whole_lanes_and_a_part_are_loaded_and_stored(size: int) -> None:
    """Every number where it was, nothing outside the array touched, the rest filled up."""
    room = np.full(size + 2 * LANES, 7.0)
    x, out = np.arange(1.0, size + 1.0), room[LANES : LANES + size]
    beyond = np.full(LANES, np.nan)
    copied(x, -3.0, out, beyond)
    assert (out == x).all()
    assert (room[:LANES] == 7.0).all()
    assert (room[LANES + size :] == 7.0).all()
    rest = size % LANES
    if rest:
        assert beyond.tolist() == [*x[size - rest :], *[-3.0] * (LANES - rest)]
    assert whole(size) == size - rest


@pytest.mark.parametrize("size", SIZES)
def test_a_part_may_be_all_of_the_lanes(size: int) -> None:
    """Loaded and stored as parts throughout, every number is where it was."""
    assert cautious_copy(size).tolist() == list(range(1, size + 1))


def test_numbers_stand_side_by_side() -> None:
    """Each in its lane, in the order given, a whole number like any other."""
    out = np.full(LANES, np.nan)
    for place in (0, 3, 10**6):
        abreast(inputs()[0], place, out)
        assert out.tolist() == [inputs()[0][0], place, inputs()[0][1], 0.25]


def test_sums_and_the_largest_lane_match_numpy() -> None:
    """In every place of the largest, of both signs."""
    out = np.empty(3 + LANES)
    for place in range(LANES):
        for sign in (-1.0, 1.0):
            x = sign * np.random.default_rng(place).random(LANES)
            x[place] += 5.0
            summaries(x, out)
            assert out[0] == pytest.approx(x.sum(), rel=1e-15)
            assert out[1] == x.max() == x[place]
            assert out[2] == LANES * x[1]
            assert (out[3:] == x).all()


def test_totals_match_numpy() -> None:
    """Arrays of every length around that of lanes, and long ones."""
    rng = np.random.default_rng(3)
    truth = [rng.random(size).sum() for size in [*SIZES, 1000, 1003]]
    np.testing.assert_allclose(sums(), truth, rtol=1e-14)


def test_the_least_is_that_of_numpy() -> None:
    """Arrays of every length around that of lanes, with the least number anywhere in them."""
    rng = np.random.default_rng(4)
    for size in [*range(1, 12), 1003]:
        for _ in range(20):
            values = rng.normal(size=size)
            assert least_of(values) == values.min()


def test_plain_python_gives_the_same_numbers(tmp_path: Path) -> None:
    """All of the above without compiling, in a process of its own."""
    there = tmp_path / "answers.npy"
    script = "import sys, numpy; from tests.numerics.test_lanes import answers; "
    script += "numpy.save(sys.argv[1], answers())"
    environment = {**os.environ, "BELATED_COMPILE": "never"}
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", script, str(there)]
    subprocess.run(command, env=environment, cwd=root, check=True)
    assert np.load(there).tobytes() == answers().tobytes()
