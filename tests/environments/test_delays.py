"""Delay processes: definitions, distributions, and independence of the cut into spans."""

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from belated.arrays import Counts, Floats
from belated.environments import changing_delays, combined_delays
from belated.environments import delays as steady_delays
from belated.environments.changing_delays import (
    Batches,
    GrowingLate,
    ProportionalToLoss,
    Unbalanced,
)
from belated.environments.combined_delays import ByOutcome, LogNormal, Pauses, Within
from belated.environments.delays import (
    Constant,
    Geometric,
    HalfNormal,
    PacketLoss,
    Pareto,
    PerArm,
    UniformDelays,
)
from belated.environments.environment import DelayProcess, Environment
from belated.environments.in_memory import GivenDelays
from belated.environments.losses import Bernoulli
from belated.environments.missing import NEVER, missing_counts
from belated.environments.parameters import LONGEST
from tests.environments.drawing import draw_delays, processes_of

RANDOM: list[DelayProcess] = [
    UniformDelays(0, 9),
    UniformDelays(3, [3, 5, 8]),
    UniformDelays([0, 1, 2], 4),
    UniformDelays(0, LONGEST),
    Geometric(5),
    Geometric([0, 0.1, 300]),
    HalfNormal(0, 10),
    HalfNormal([0, 3.5, 100], [1, 0, 0.5]),
    Pareto(1.0),
    Pareto([0.02, 0.3, 2], [1, 10, 0.5]),
    PacketLoss(0.3, Constant(4)),
    PacketLoss(0.3, UniformDelays(0, 9)),
    PacketLoss([0.0, 0.5, 1.0], Batches(10)),
    PacketLoss(0.0, Geometric(3)),
    PacketLoss(0.2, PacketLoss(0.2, Pareto(0.5))),
    PacketLoss(0.2, ProportionalToLoss(50)),
    LogNormal(30.0),
    LogNormal([0.0, 3.0, 1e9], 2.5),
    ByOutcome(Geometric(5), Constant(None)),
    Pauses(20, 20, Geometric(30)),
    Pauses(20, 5, Pareto(0.3)),
    Within(10, Pareto(0.5)),
]
FIXED: list[DelayProcess] = [
    Constant(0),
    Constant(None),
    PerArm([0, 7, None]),
    UniformDelays(4, 4),
    Geometric(0),
    HalfNormal([0, 7.5, 100], 0),
    PacketLoss(0.0, Constant(4)),
    PacketLoss(1.0, Pareto(1.0)),
    PacketLoss([0, 1, 0], PerArm([1, 2, 3])),
    Batches(1),
    Batches(10),
    Batches([1, 7, 500]),
    GrowingLate(0.0, 10),
    GrowingLate(0.5, [0, 40, 1000.5]),
    Unbalanced(),
    ProportionalToLoss(30),
    ProportionalToLoss([0, 3.5, 1e6], rising=False),
    LogNormal(30.0, 0.0),
    ByOutcome(Constant(3), PerArm([5, None, 0]), below=0.25),
    Pauses(7, 3, PerArm([5, None, 0])),
    Within(4, PerArm([5, None, 0])),
]


def some_losses(rounds: int, arms: int = 3) -> Floats:
    """Arbitrary losses; most delay processes use only their shape."""
    return np.random.default_rng(99).random((rounds, arms))


def test_every_process_is_tested() -> None:
    """The lists above contain every process of the modules."""
    tested = {type(process) for process in RANDOM + FIXED}
    assert tested == processes_of(steady_delays, changing_delays, combined_delays)


@pytest.mark.parametrize("process", RANDOM + FIXED, ids=repr)
@pytest.mark.parametrize("sizes", [(1,), (2, 1, 5), (19, 20, 21), (64, 3)], ids=str)
def test_the_cut_into_spans_changes_nothing(process: DelayProcess, sizes: tuple[int, ...]) -> None:
    """Spans of any sizes give the same delays as one single span."""
    losses = some_losses(203)
    whole = draw_delays(process, losses, seed=5)
    assert np.array_equal(draw_delays(process, losses, seed=5, sizes=sizes), whole)


@pytest.mark.parametrize("process", RANDOM, ids=repr)
def test_what_is_random_differs_with_the_seed(process: DelayProcess) -> None:
    """With `random` True, two seeds give two games, and one seed always the same game."""
    assert process.random is True
    losses = some_losses(100)
    first = draw_delays(process, losses, seed=1)
    assert np.array_equal(first, draw_delays(process, losses, seed=1))
    assert any(not np.array_equal(first, draw_delays(process, losses, s)) for s in (2, 3, 4))


@pytest.mark.parametrize("process", FIXED, ids=repr)
def test_what_is_not_random_is_the_same_for_every_seed(process: DelayProcess) -> None:
    """With `random` False, all seeds give the same delays."""
    assert process.random is False
    losses = some_losses(100)
    first = draw_delays(process, losses, seed=1)
    assert all(np.array_equal(first, draw_delays(process, losses, s)) for s in (2, 3, 4))


@pytest.mark.parametrize("process", RANDOM + FIXED, ids=repr)
def test_every_process_makes_an_environment(process: DelayProcess) -> None:
    """An environment can be built and missing losses counted, however long the delays are."""
    environment = Environment("any", Bernoulli([0.1, 0.5, 0.9]), process, rounds=50)
    (block,) = environment.blocks(np.random.SeedSequence(1))
    missing = missing_counts(block.delays)
    assert ((missing >= 0) & (missing <= np.arange(50)[:, None])).all()


def test_constant_and_per_arm() -> None:
    """The delays are those given; None, infinity and NEVER all mean never."""
    losses = some_losses(20)
    assert (draw_delays(Constant(6), losses) == 6).all()
    assert Constant(None) == Constant(math.inf) == Constant(NEVER)
    assert PerArm([None, 3]) == PerArm(np.array([np.inf, 3.0])) == PerArm((NEVER, 3))
    assert draw_delays(PerArm([None, 0, 3]), losses).tolist() == [[NEVER, 0, 3]] * 20


def tail_is(delays: Counts, exact: list[float]) -> None:
    """Assert that P(d >= x), x = 0, 1, 2, ..., is within five standard errors of `tail`."""
    for least, chance in enumerate(exact):
        share = (delays >= least).mean()
        error = 5.0 * math.sqrt(chance * (1.0 - chance) / delays.size)
        assert abs(share - chance) <= error + 1e-12, (least, share, chance)


def test_uniform() -> None:
    """All whole numbers from low to high are equally likely, with separate limits per arm."""
    low, high = [0, 2, 5], [0, 3, 14]
    delays = draw_delays(UniformDelays(low, high), some_losses(60_000))
    for arm in range(3):
        ends = low[arm], high[arm]
        tail = [min(1.0, max(0.0, (ends[1] + 1 - x) / (ends[1] + 1 - ends[0]))) for x in range(17)]
        tail_is(delays[:, arm], tail)


def test_geometric() -> None:
    """P(d >= x) = (mean/(1+mean))^x, whose mean is the given one."""
    means = [0.0, 0.5, 40.0]
    delays = draw_delays(Geometric(means), some_losses(60_000))
    for arm, mean in enumerate(means):
        tail_is(delays[:, arm], [(mean / (1.0 + mean)) ** x for x in range(200)])
        error = 5.0 * math.sqrt(mean * (1.0 + mean) / 60_000)
        assert abs(delays[:, arm].mean() - mean) <= error


def test_half_normal() -> None:
    """P(d >= x) = P(|N| >= x); with spread 0 the delay is the mean, rounded down."""
    parameters = [(0.0, 10.0), (12.5, 10.0), (100.0, 5.0)]
    mean, spread = zip(*parameters, strict=True)
    delays = draw_delays(HalfNormal(mean, spread), some_losses(60_000))
    for arm, (centre, width) in enumerate(parameters):
        law = NormalDist(centre, width)
        tail_is(delays[:, arm], [1.0 - law.cdf(x) + law.cdf(-x) for x in range(150)])
    fixed = draw_delays(HalfNormal([0, 7.9, 100], 0), some_losses(20))
    assert fixed.tolist() == [[0, 7, 100]] * 20


def test_pareto() -> None:
    """P(d >= x) = (1 + x/scale)^-index."""
    parameters = [(1.0, 1.0), (0.3, 10.0), (2.0, 0.5)]
    index, scale = zip(*parameters, strict=True)
    delays = draw_delays(Pareto(index, scale), some_losses(60_000))
    for arm, (alpha, unit) in enumerate(parameters):
        tail_is(delays[:, arm], [(1.0 + x / unit) ** -alpha for x in range(200)])


def test_the_heaviest_tail_fits_an_integer() -> None:
    """Delays too large for an int64 are limited to LONGEST, to which a round can be added."""
    delays = draw_delays(Pareto([0.001, 1e-300, 1.0], [1.0, 1e300, 1e-300]), some_losses(1000))
    assert delays.max(axis=0).tolist() == [LONGEST, LONGEST, 0]
    assert (np.arange(1000)[:, None] + 1 + delays > 0).all()


@pytest.mark.parametrize("every", [1, 2, 7, 100])
def test_batches(every: int) -> None:
    """All losses of a batch arrive at its end, and none at any other time."""
    delays = draw_delays(Batches(every), some_losses(60), sizes=(11,))
    for t in range(60):
        assert (t + delays[t] == (t // every + 1) * every - 1).all()
    mixed = draw_delays(Batches([1, every, 3]), some_losses(60))
    assert np.array_equal(mixed[:, 1], delays[:, 1])
    assert (mixed[:, 0] == 0).all()


def test_packet_loss() -> None:
    """A loss never arrives with the given chance; the others have the inner process's delays."""
    chances = np.array([0.0, 0.3, 1.0])
    losses = some_losses(40_000)
    delays = draw_delays(PacketLoss(chances, UniformDelays(0, 9)), losses, seed=2)
    lost = delays == NEVER
    error = 5.0 * np.sqrt(chances * (1.0 - chances) / 40_000)
    assert (np.abs(lost.mean(axis=0) - chances) <= error).all()
    tail_is(delays[:, 1][~lost[:, 1]], [1.0 - x / 10.0 for x in range(11)])
    inner = draw_delays(PacketLoss(0.0, UniformDelays(0, 9)), losses, seed=2)
    assert np.array_equal(delays[~lost], inner[~lost])


def test_packet_loss_leaves_given_delays_alone() -> None:
    """The array of an inner process is not written to, as it may be the process's own."""
    given = GivenDelays(np.full((30, 3), 5))
    assert (draw_delays(PacketLoss(1.0, given), some_losses(30)) == NEVER).all()
    assert (given.values == 5).all()


@pytest.mark.parametrize("start", [0.0, 0.25, 0.9])
def test_growing_late(start: float) -> None:
    """Delay 0 up to the fraction `start` of the rounds, then a linear rise to the end."""
    rounds, most = 400, [0.0, 10.0, 1000.0]
    delays = draw_delays(GrowingLate(start, most), some_losses(rounds), sizes=(33,))
    for t in range(1, rounds + 1):
        rise = max(0.0, (t / rounds - start) / (1.0 - start))
        assert delays[t - 1].tolist() == [round(height * rise) for height in most]
    assert (delays[: int(start * rounds)] == 0).all()
    assert delays[-1].tolist() == most
    assert (np.diff(delays, axis=0) >= 0).all()


@pytest.mark.parametrize(("arms", "rounds"), [(2, 100), (3, 1000), (10, 5), (8, 1)])
def test_unbalanced(arms: int, rounds: int) -> None:
    """The first floor(sqrt(K T / ln K)) rounds arrive in the last round, the others at once."""
    delays = draw_delays(Unbalanced(), some_losses(rounds, arms), sizes=(13,))
    late = math.floor(math.sqrt(arms * rounds / math.log(arms)))
    for t in range(1, rounds + 1):
        assert (delays[t - 1] == (rounds - t if t <= late else 0)).all()


def test_unbalanced_with_one_arm() -> None:
    """With one arm (ln 1 = 0) no round is late."""
    assert (draw_delays(Unbalanced(), some_losses(50, 1)) == 0).all()


def test_proportional_to_loss() -> None:
    """The delay is most * loss, or most * (1 - loss) if not rising."""
    losses = np.vstack([[0.0, 1.0, 0.5], some_losses(200)])
    most = [100, 7.0, 1e5]
    rising = draw_delays(ProportionalToLoss(most), losses)
    falling = draw_delays(ProportionalToLoss(most, rising=False), losses)
    for row, up, down in zip(losses.tolist(), rising.tolist(), falling.tolist(), strict=True):
        assert up == [round(m * loss) for m, loss in zip(most, row, strict=True)]
        assert down == [round(m * (1.0 - loss)) for m, loss in zip(most, row, strict=True)]


WHOLE = f"a whole number from 0 to {LONGEST}"
BAD: list[tuple[type, dict[str, Any], str]] = [
    (Constant, {"delay": -2}, f"delay is -2; it must be {WHOLE}, or None for never"),
    (Constant, {"delay": 1.5}, f"delay is 1.5; it must be {WHOLE}, or None for never"),
    (Constant, {"delay": math.nan}, f"delay is nan; it must be {WHOLE}, or None for never"),
    (Constant, {"delay": [1]}, f"delay is [1]; it must be {WHOLE}, or None for never"),
    (PerArm, {"delays": 3}, "the delay is 3; it must be a list with a number for each arm"),
    (
        PerArm,
        {"delays": [0, "1"]},
        f"the delay of arm 2 is '1'; it must be {WHOLE}, or None for never",
    ),
    (UniformDelays, {"low": -1, "high": 3}, f"low is -1; it must be {WHOLE}"),
    (UniformDelays, {"low": 0, "high": [3, None]}, f"high of arm 2 is None; it must be {WHOLE}"),
    (UniformDelays, {"low": 4, "high": 3}, "low is 4 and high is 3; low must not be above high"),
    (
        UniformDelays,
        {"low": [0, 4], "high": 3},
        "low is (0, 4) and high is 3; low must not be above high",
    ),
    (
        UniformDelays,
        {"low": [0, 0], "high": [1, 1, 1]},
        "low has 2 numbers; it must have one for each of 3 arms",
    ),
    (Geometric, {"mean": -0.5}, "mean is -0.5; it must be in [0, 4.61169e+18]"),
    (Geometric, {"mean": math.inf}, "mean is inf; it must be finite"),
    (HalfNormal, {"mean": -1, "spread": 1}, "mean is -1; it must be in [0, 4.61169e+18]"),
    (
        HalfNormal,
        {"mean": 0, "spread": [1, -1]},
        "spread of arm 2 is -1; it must be in [0, 4.61169e+18]",
    ),
    (Pareto, {"index": 0}, "index is 0; it must be above 0"),
    (Pareto, {"index": 1, "scale": [1, -1]}, "scale of arm 2 is -1; it must be above 0"),
    (Batches, {"every": 0}, "every is 0; it must be a whole number from 1 to 1000000000000000"),
    (PacketLoss, {"chance": 1.2, "delays": Constant(0)}, "chance is 1.2; it must be in [0, 1]"),
    (PacketLoss, {"chance": 0.1, "delays": 3}, "delays is 3; it must be a delay process"),
    (
        GrowingLate,
        {"start": 1, "most": 3},
        "start is 1; it must be below 1, so that delays have time to rise",
    ),
    (GrowingLate, {"start": -0.1, "most": 3}, "start is -0.1; it must be in [0, 1]"),
    (ProportionalToLoss, {"most": -1}, "most is -1; it must be in [0, 4.61169e+18]"),
]


@pytest.mark.parametrize(("process", "parameters", "sentence"), BAD)
def test_bad_parameters_get_one_sentence(
    process: type, parameters: dict[str, Any], sentence: str
) -> None:
    """The error message names the value and the rule."""
    with pytest.raises(ValueError) as error:
        process(**parameters)
    assert str(error.value) == sentence


TWO_ARMS: list[tuple[DelayProcess, str]] = [
    (PerArm([1, 2]), "delays"),
    (PerArm([1]), "delays"),
    (UniformDelays(0, [1, 2]), "low or high"),
    (Geometric([1, 2]), "mean"),
    (HalfNormal([1, 2], 1), "mean"),
    (HalfNormal(1, [1, 2]), "spread"),
    (Pareto([1, 2]), "index"),
    (Pareto(1, [1, 2]), "scale"),
    (Pareto([1, 1, 1], [1, 2]), "scale"),
    (Batches([1, 2]), "every"),
    (PacketLoss([0.1, 0.2], Constant(0)), "chance"),
    (PacketLoss(0.1, PerArm([1, 2])), "delays"),
    (GrowingLate(0.5, [1, 2]), "most"),
    (ProportionalToLoss([1, 2]), "most"),
]


@pytest.mark.parametrize(("process", "name"), TWO_ARMS, ids=repr)
def test_parameters_for_another_number_of_arms_get_one_sentence(
    process: DelayProcess, name: str
) -> None:
    """A list of the wrong length is refused with the first span, which tells the number of arms."""
    count = 1 if process == PerArm([1]) else 2
    rule = f"^{name} has {count} numbers; it must have one for each of 3 arms$"
    with pytest.raises(ValueError, match=rule):
        draw_delays(process, some_losses(10))


def test_log_normal_delays_have_their_median_and_spread() -> None:
    """The logarithm is normal; rounding down hardly matters for long delays."""
    delays = draw_delays(LogNormal(10_000.0, 0.7), some_losses(20_000, 1))
    assert abs(np.log(np.median(delays) / 10_000.0)) < 0.05
    assert abs(np.log(delays).std() - 0.7) < 0.02


def test_delays_by_outcome_follow_the_loss() -> None:
    """Good ones below the threshold, bad ones at or above it."""
    losses = np.array([[0.0, 0.5], [0.49, 1.0]])
    delays = draw_delays(ByOutcome(Constant(2), Constant(None)), losses)
    assert delays.tolist() == [[2, NEVER], [2, NEVER]]


def test_pauses_end_with_all_that_waited() -> None:
    """Of every 10 rounds the last 4 are silent but for their end; what never comes, never comes."""
    delays = draw_delays(Pauses(10, 4, PerArm([0, 1, None])), some_losses(20))
    due = (np.arange(20)[:, None] + delays)[:, :2] % 10
    assert set(np.unique(due)) == {0, 1, 2, 3, 4, 5, 9}
    assert (delays[:, 2] == NEVER).all()
    days = draw_delays(Pauses(10, 10, Geometric(7)), some_losses(200))
    assert ((np.arange(200)[:, None] + days) % 10 == 9).all()


def test_within_ends_every_wait() -> None:
    """Also of what never comes."""
    delays = draw_delays(Within(4, PerArm([2, 9, None])), some_losses(3))
    assert delays.tolist() == [[2, 4, 4]] * 3
