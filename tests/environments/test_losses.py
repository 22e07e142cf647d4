"""Loss processes: definitions, moments, and independence of the cut into spans."""

import math
from typing import Any

import numpy as np
import pytest

from belated.environments import changing_losses
from belated.environments import losses as steady_losses
from belated.environments.changing_losses import (
    BlockConstant,
    ConstrainedAdversary,
    RotatingLeaders,
    Switching,
)
from belated.environments.environment import LossProcess
from belated.environments.losses import Bernoulli, Beta, Drifting, FirstOrder, Spread
from tests.environments.drawing import draw_losses, processes_of, spans

RANDOM: list[LossProcess] = [
    Bernoulli([0.2, 0.5, 1.0]),
    Spread(Bernoulli([0.2, 0.5, 1.0]), -1.0, 1.0),
    Beta([0.0, 0.3, 1.0, 0.9]),
    Beta([0.5, 0.1], concentration=0.5),
    Drifting([0.02, 0.5, 0.9], step=0.05),
    Drifting([0.0, 1.0], step=0.3),
    Drifting([0.4], step=0.0),
    Switching([[0.1, 0.9], [0.9, 0.1], [0.5, 0.0]], length=7),
    ConstrainedAdversary(4),
    BlockConstant(3, length=1),
    BlockConstant(3, length=20),
    BlockConstant(2, length=1000),
    FirstOrder(5),
    FirstOrder(1),
]
FIXED: list[LossProcess] = [
    Bernoulli([0.0, 1.0]),
    Spread(Bernoulli([0.0, 1.0]), -3.0, 0.5),
    Beta([0, 1, 1]),
    Drifting([0.0, 1.0], step=0.0),
    Switching([[0, 1], [1, 0]], length=3),
    ConstrainedAdversary(3, gap=0.0),
    ConstrainedAdversary(3, gap=1.0),
    FirstOrder(2, best=0.0, other=1.0),
    RotatingLeaders(3, length=4),
]


def near(sample: np.ndarray, mean: float | np.ndarray, deviation: float | np.ndarray) -> None:
    """Assert that the means of the columns are within five standard errors of those expected."""
    error = np.abs(sample.mean(axis=0) - mean)
    assert (error <= 5.0 * np.asarray(deviation) / math.sqrt(len(sample)) + 1e-12).all(), error


def test_every_process_is_tested() -> None:
    """The lists above contain every process of the two modules."""
    tested = {type(process) for process in RANDOM + FIXED}
    assert tested == processes_of(steady_losses, changing_losses)


@pytest.mark.parametrize("process", RANDOM + FIXED, ids=repr)
@pytest.mark.parametrize("sizes", [(1,), (2, 1, 5), (19, 20, 21), (64, 3)], ids=str)
def test_the_cut_into_spans_changes_nothing(process: LossProcess, sizes: tuple[int, ...]) -> None:
    """Spans of any sizes give the same losses as one single span, bit for bit."""
    whole = draw_losses(process, 203, seed=5)
    assert np.array_equal(draw_losses(process, 203, seed=5, sizes=sizes), whole)


@pytest.mark.parametrize("process", RANDOM, ids=repr)
def test_what_is_random_differs_with_the_seed(process: LossProcess) -> None:
    """With `random` True, two seeds give two games, and one seed always the same game."""
    assert process.random is True
    first = draw_losses(process, 1500, seed=1)
    assert np.array_equal(first, draw_losses(process, 1500, seed=1))
    assert any(not np.array_equal(first, draw_losses(process, 1500, seed=s)) for s in (2, 3, 4, 5))


@pytest.mark.parametrize("process", FIXED, ids=repr)
def test_what_is_not_random_is_the_same_for_every_seed(process: LossProcess) -> None:
    """With `random` False, all seeds give the same losses."""
    assert process.random is False
    first = draw_losses(process, 300, seed=1)
    assert all(np.array_equal(first, draw_losses(process, 300, seed=s)) for s in (2, 3, 4))


def test_bernoulli() -> None:
    """The losses are zeros and ones with the given means."""
    means = np.array([0.0, 0.05, 0.5, 0.9, 1.0])
    losses = draw_losses(Bernoulli(means), 40_000)
    assert set(np.unique(losses)) == {0.0, 1.0}
    near(losses, means, np.sqrt(means * (1 - means)))


@pytest.mark.parametrize("concentration", [0.001, 0.5, 4.0, 100.0, 1e9])
def test_beta(concentration: float) -> None:
    """The losses have the given means, variance m (1-m) / (1+c), and are constant for m = 0, 1."""
    means = np.array([0.0, 0.1, 0.5, 0.8, 1.0])
    losses = draw_losses(Beta(means, concentration), 40_000)
    variance = means * (1 - means) / (1 + concentration)
    near(losses, means, np.sqrt(variance))
    spread = ((losses - means) ** 2 - variance)[:, 1:4]
    near(spread, 0.0, spread.std(axis=0))
    assert (losses[:, 0] == 0.0).all()
    assert (losses[:, 4] == 1.0).all()


def reflected(start: float, steps: list[float]) -> list[float]:
    """A random walk reflected at 0 and 1, computed step by step."""
    here, direction, path = start, 1.0, [start]
    for step in steps:
        here += direction * step
        while not 0.0 <= here <= 1.0:
            here = -here if here < 0.0 else 2.0 - here
            direction = -direction
        path.append(here)
    return path


@pytest.mark.parametrize("step", [0.0, 0.01, 0.2, 1.0])
def test_drifting_means_are_a_reflected_walk(step: float) -> None:
    """The folded walk equals the literal walk that is reflected at 0 and 1."""
    process = Drifting([0.0, 0.3, 1.0], step)
    walk = process.walk(np.random.default_rng(3))
    means = np.concatenate([walk(span) for span in spans(400, (50, 7))])
    assert means[0].tolist() == [0.0, 0.3, 1.0]
    steps = np.random.default_rng(3).standard_normal((400, 3)) * step
    for arm, start in enumerate(process.means):
        literal = reflected(start, steps[:-1, arm].tolist())
        np.testing.assert_allclose(means[:, arm], literal, rtol=0, atol=1e-12)


def test_drifting_losses_follow_their_means() -> None:
    """Given the walk, losses are independent coin flips with its means."""
    process = Drifting([0.1, 0.5, 0.9], step=0.02)
    losses = draw_losses(process, 30_000, seed=8)
    steps, _ = np.random.default_rng(8).spawn(2)
    (span,) = spans(30_000, (30_000,))
    means = process.walk(steps)(span)
    assert means.std() > 0.2
    near(losses - means, 0.0, 0.5)
    near((losses - means) * (means - 0.5), 0.0, 0.25)
    assert ((losses - 0.5) * (means - 0.5)).mean() > 0.04


def test_switching() -> None:
    """Phases follow in turn, exactly for means of 0 and 1 and on average for others."""
    table = [[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 1]]
    literal = [table[t // 5 % 4] for t in range(103)]
    assert draw_losses(Switching(table, 5), 103, sizes=(8,)).tolist() == literal
    phases = np.array([[0.1, 0.6], [0.7, 0.3]])
    rounds = draw_losses(Switching(phases, 3), 6 * 5000).reshape(5000, 2, 3, 2)
    near(rounds, phases[:, None, :], 0.5)


def constrained_means(arms: int, gap: float, growth: float, rounds: int) -> list[list[float]]:
    """The means of the stochastically constrained adversary, computed round by round."""
    means: list[list[float]] = []
    phase = 1
    while len(means) < rounds:
        best, other = (1.0 - gap, 1.0) if phase % 2 == 1 else (0.0, gap)
        means += [[other] * (arms - 1) + [best]] * math.floor(growth**phase)
        phase += 1
    return means[:rounds]


@pytest.mark.parametrize("growth", [1.01, 1.6, 2.0, 7.5, 1000.0])
@pytest.mark.parametrize("gap", [0.0, 1.0])
def test_constrained_adversary_without_chance(growth: float, gap: float) -> None:
    """With a gap of 0 or 1 the losses equal the means, so that every phase is visible."""
    process = ConstrainedAdversary(3, gap, growth)
    literal = constrained_means(3, gap, growth, 2500)
    assert draw_losses(process, 2500, sizes=(100, 37)).tolist() == literal


def test_constrained_adversary_keeps_its_gap() -> None:
    """Levels of 0 and 1 are exact; the others and the gap are right on average."""
    rounds = 60_000
    means = np.array(constrained_means(4, 0.125, 1.6, rounds))
    losses = draw_losses(ConstrainedAdversary(4), rounds)
    certain = (means == 0.0) | (means == 1.0)
    assert np.array_equal(losses[certain], means[certain])
    near(losses - means, 0.0, math.sqrt(0.125 * 0.875))
    near(losses[:, :3] - losses[:, 3:], 0.125, 0.5)


def test_block_constant_is_constant_in_blocks() -> None:
    """Each block has one vector of fair coin flips, also the last and shorter block."""
    losses = draw_losses(BlockConstant(3, 20), 20_011, sizes=(7, 64))
    for first in range(0, len(losses), 20):
        assert (losses[first : first + 20] == losses[first]).all()
    vectors = losses[::20]
    assert set(np.unique(vectors)) == {0.0, 1.0}
    near(vectors, 0.5, 0.5)
    signs = 2.0 * vectors - 1.0
    near(signs[1:] * signs[:-1], 0.0, 1.0)
    near(signs * signs[:, [1, 2, 0]], 0.0, 1.0)


def test_block_constant_has_the_regret_that_no_learner_escapes() -> None:
    """T/2 - E min of the arms' losses is 56.1269 for T=600, K=4 and blocks of 20."""
    n, arms, length = 30, 4, 20
    above = [sum(math.comb(n, m) for m in range(j + 1, n + 1)) / 2**n for j in range(n)]
    exact = length * (n / 2 - sum(chance**arms for chance in above))
    assert exact == pytest.approx(56.1269, abs=5e-5)
    regrets = [
        300.0 - draw_losses(BlockConstant(arms, length), 600, seed).sum(axis=0).min()
        for seed in range(3000)
    ]
    near(np.array(regrets)[:, None], exact, np.std(regrets))


def test_first_order() -> None:
    """The last arm is the best one."""
    means = np.array([0.5, 0.5, 0.5, 0.01])
    near(draw_losses(FirstOrder(4), 40_000), means, np.sqrt(means * (1 - means)))


def test_rotating_leaders() -> None:
    """Each arm leads in turn for `length` rounds."""
    literal = [[0.0 if t // 7 % 3 == arm else 1.0 for arm in range(3)] for t in range(100)]
    assert draw_losses(RotatingLeaders(3, 7), 100, sizes=(9,)).tolist() == literal
    assert (draw_losses(RotatingLeaders(1, 7), 20) == 0.0).all()


def test_records_of_the_same_parameters_are_equal() -> None:
    """Lists, tuples and arrays of parameters give equal processes with equal hashes."""
    assert Bernoulli([0.5, 1]) == Bernoulli(np.array([0.5, 1.0])) == Bernoulli((0.5, 1.0))
    assert Switching(np.eye(2), 3) == Switching([[1, 0], [0, 1]], length=3.0)  # type: ignore[arg-type]
    assert hash(Beta([0.5])) == hash(Beta(means=(0.5,), concentration=4))
    assert Bernoulli([0.5]) != Drifting([0.5], step=0.0)


BAD: list[tuple[type, dict[str, Any], str]] = [
    (Bernoulli, {"means": 0.5}, "the mean is 0.5; it must be a list with a number for each arm"),
    (Bernoulli, {"means": []}, "the mean is []; it must be a list with a number for each arm"),
    (Bernoulli, {"means": [0.5, 1.5]}, "the mean of arm 2 is 1.5; it must be in [0, 1]"),
    (Bernoulli, {"means": [math.nan]}, "the mean of arm 1 is nan; it must be finite"),
    (Bernoulli, {"means": ["a"]}, "the mean of arm 1 is 'a'; it must be a number"),
    (
        Beta,
        {"means": [0.5], "concentration": 0},
        "concentration is 0; it must be in [0.001, 1e+09]",
    ),
    (Drifting, {"means": [0.5], "step": -0.1}, "step is -0.1; it must be in [0, 1]"),
    (
        Switching,
        {"phases": [], "length": 1},
        "phases is []; it must be a list with the means of each phase",
    ),
    (
        Switching,
        {"phases": [[0.5], [0.5, 0.5]], "length": 1},
        "phase 2 has 2 arms; it must have 1, like phase 1",
    ),
    (
        Switching,
        {"phases": [[0.5], [2]], "length": 1},
        "the mean in phase 2 of arm 1 is 2; it must be in [0, 1]",
    ),
    (
        Switching,
        {"phases": [[0.5]], "length": 0},
        "length is 0; it must be a whole number from 1 to 1000000000000000",
    ),
    (ConstrainedAdversary, {"arms": 2, "gap": 1.1}, "gap is 1.1; it must be in [0, 1]"),
    (ConstrainedAdversary, {"arms": 2, "growth": 1}, "growth is 1; it must be in [1.01, 1000]"),
    (
        BlockConstant,
        {"arms": 0, "length": 1},
        "arms is 0; it must be a whole number from 1 to 10000000",
    ),
    (
        BlockConstant,
        {"arms": 2, "length": 2.5},
        "length is 2.5; it must be a whole number from 1 to 1000000000000000",
    ),
    (
        FirstOrder,
        {"arms": 2, "best": 0.6},
        "best is 0.6 and other is 0.5; best must not be above other",
    ),
    (
        RotatingLeaders,
        {"arms": 2, "length": None},
        "length is None; it must be a whole number from 1 to 1000000000000000",
    ),
]


@pytest.mark.parametrize(("process", "parameters", "sentence"), BAD)
def test_bad_parameters_get_one_sentence(
    process: type, parameters: dict[str, Any], sentence: str
) -> None:
    """The error message names the value and the rule."""
    with pytest.raises(ValueError) as error:
        process(**parameters)
    assert str(error.value) == sentence
