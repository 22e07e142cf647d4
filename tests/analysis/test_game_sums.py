"""The account of a game equals what one adds up by hand from all its losses and delays."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from belated.analysis.game_sums import LARGEST_TAIL_INDEX, LEVELS, LONGEST_LAW, GameSums, sum_up
from belated.arrays import Counts
from belated.comparison import contenders
from belated.environments.missing import NEVER, missing_counts
from belated.learners.needs import TOLD_BY_ROUND
from belated.types import DELIVERIES, Delivery, Need
from tests.play.test_engine import given, random_game


@pytest.mark.parametrize(("rounds", "arms", "longest"), [(1, 1, 0), (37, 1, 5), (500, 4, 60)])
def test_all_sums(rounds: int, arms: int, longest: int) -> None:
    """L_T, L_T^rho, missing counts, rho^max and what was charged under each."""
    losses, delays = random_game(rounds, rounds, arms, longest)
    sums = sum_up(given(losses, delays))
    missing = missing_counts(delays)
    np.testing.assert_allclose(sums.losses, losses.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(sums.missing_losses, (missing * losses).sum(axis=0), rtol=1e-12)
    assert np.array_equal(sums.most_missing, missing.max(axis=0))
    np.testing.assert_allclose(sums.mean_missing, missing.mean(axis=0), rtol=1e-12)
    assert sums.max_missing == missing.max()
    highest = np.maximum.accumulate(missing.max(axis=1))
    assert sums.caps is not None
    assert sums.charged is not None
    assert np.array_equal(sums.caps, np.unique(highest))
    for cap, charged in zip(sums.caps, sums.charged, strict=True):
        rows = highest == cap
        expected = ((1 + missing[rows]) * losses[rows]).sum(axis=0)
        np.testing.assert_allclose(charged, expected, rtol=1e-12)
    for checkpoint, at in zip(sums.checkpoints, sums.losses_at, strict=True):
        np.testing.assert_allclose(at, losses[:checkpoint].sum(axis=0), rtol=1e-12)


def test_delays_by_arm() -> None:
    """A loss that is not known by the end of the game counts as never known."""
    _, delays = random_game(3, 400, 3, 30)
    known = delays.astype(float)
    known[(delays == NEVER) | (np.arange(400)[:, None] + delays >= 400)] = np.inf
    found = sum_up(given(np.zeros((400, 3)), delays)).delays
    assert found.sampled == 400
    for i in range(3):
        column = np.sort(known[:, i])
        finite = column[np.isfinite(column)]
        assert found.mean[i] == pytest.approx(finite.mean())
        assert found.never[i] == pytest.approx(np.isinf(column).mean())
        for level, quantile in zip(LEVELS, found.quantiles[:, i], strict=True):
            assert quantile == column[int(np.ceil(level * 400)) - 1]


def test_a_sample_of_the_rounds_will_do_for_long_games() -> None:
    """Periodic delays of a long game are sampled without favour for any phase."""
    rounds, arms, period = 20_000, 100, 64
    delays = np.broadcast_to(np.arange(rounds)[:, None] % period, (rounds, arms))
    found = sum_up(given(np.zeros((rounds, arms)), delays)).delays
    assert 0 < found.sampled < rounds
    assert found.mean[0] == pytest.approx((period - 1) / 2, rel=0.02)


# -- what learners may be told beforehand


def wait_of(delays: Counts, s: int, arm: int, delivery: str) -> float:
    """How long (s, arm) takes until it is told, infinite if never or after the end."""
    rounds, arms = delays.shape

    def arrival(then: int, i: int) -> float:
        return np.inf if delays[then, i] == NEVER else then + float(delays[then, i])

    waits_for = {
        "own": [(s, arm)],
        "padded": [(s, i) for i in range(arms)],
        "in order": [(then, i) for then in range(s + 1) for i in range(arms)],
    }
    told = max(arrival(*pair) for pair in waits_for[delivery])
    return told - s if told < rounds else np.inf


@pytest.mark.parametrize("delivery", DELIVERIES)
@pytest.mark.parametrize(
    ("rounds", "arms", "longest", "lost"),
    [(1, 1, 0, False), (30, 1, 4, True), (80, 3, 9, False), (80, 3, 9, True), (60, 2, 80, False)],
)
def test_waits_are_those_of_every_single_loss(
    delivery: Any, rounds: int, arms: int, longest: int, lost: bool
) -> None:
    """Missing counts, their sum and the longest delay, as a learner so told would see them."""
    losses, delays = random_game(rounds, rounds, arms, longest)
    if not lost:
        delays[delays == NEVER] = 0
    sums = sum_up(given(losses, delays))
    waits = np.array(
        [[wait_of(delays, s, i, delivery) for i in range(arms)] for s in range(rounds)]
    )
    missing = np.array(
        [[sum(s + waits[s, i] >= t for s in range(t)) for i in range(arms)] for t in range(rounds)]
    )
    found = sums.waits[delivery]
    assert found.most_missing == missing.max()
    assert found.total_delay == missing.max(axis=1).sum()
    assert found.max_delay == waits[np.isfinite(waits)].max(initial=0)
    left = np.arange(rounds - 1, -1, -1)[:, None]
    assert found.longest_wait == np.minimum(waits, left).max()
    if delivery == "own":
        own = (sums.max_missing, sums.total_delay, sums.max_delay)
        assert own == tuple(found)[:3]


def test_padded_waits_exceed_what_is_missing_of_any_arm() -> None:
    """Two arms that are late in turns: each misses one loss, whoever waits for both misses two."""
    delays = np.where((np.arange(40)[:, None] + [0, 1]) % 2 == 0, 2, 0)
    waits = sum_up(given(np.zeros((40, 2)), delays)).waits
    assert waits["own"].most_missing == 1
    assert waits["padded"].most_missing == 2
    assert waits["padded"].total_delay > 1.9 * waits["own"].total_delay


@pytest.mark.parametrize("rounds", [5000, 9000])
def test_waits_of_long_games(rounds: int) -> None:
    """Delays beyond a turn of the calendar, over many stretches, against counts by columns."""
    losses, delays = random_game(rounds, rounds, 2, 40)
    delays[delays == NEVER] = 7
    delays[3, 0], delays[rounds // 2, 1] = 4100, rounds // 3
    padded = delays.max(axis=1)
    due = np.maximum.accumulate(np.arange(rounds) + padded)
    waits = sum_up(given(losses, delays)).waits
    for delivery, column in (("padded", padded), ("in order", due - np.arange(rounds))):
        missing = missing_counts(column[:, None])
        assert waits[delivery][:2] == (missing.max(), missing.sum())  # type: ignore[index]


@pytest.mark.parametrize(
    ("delays", "depends"),
    [
        ([[0, 0], [3, 3], [1, 1]], False),
        ([[0, 0], [1, 0], [1, 1]], True),
        ([[NEVER, NEVER], [0, 0], [0, 0]], False),
        ([[NEVER, 3], [0, 0], [5, 1]], False),  # after the end is never
        ([[NEVER, 2], [0, 0], [0, 0]], True),
        ([[4], [0], [NEVER]], False),
    ],
)
def test_whether_delays_depend_on_the_arm(delays: list[list[int]], depends: bool) -> None:
    """One round in which one arm is known at another time is enough."""
    table = np.array(delays)
    assert sum_up(given(np.zeros(table.shape), table)).arm_dependent is depends


@pytest.mark.parametrize(("rounds", "arms", "longest"), [(1, 1, 0), (50, 1, 5), (400, 3, 30)])
def test_the_law_of_the_delays(rounds: int, arms: int, longest: int) -> None:
    """The share of all losses that are known within x rounds, up to the longest delay."""
    losses, delays = random_game(rounds, rounds, arms, longest)
    known = (delays != NEVER) & (np.arange(rounds)[:, None] + delays < rounds)
    law = sum_up(given(losses, delays)).delays.law
    assert len(law) == 1 + (delays[known].max() if known.any() else 0)
    for x, share in enumerate(law):
        assert share == pytest.approx((known & (delays <= x)).mean(), abs=1e-15)


def test_a_law_where_nothing_comes_or_much_comes_late() -> None:
    """It is zero, or cut off where nobody would look it up."""
    nothing = sum_up(given(np.zeros((5, 2)), np.full((5, 2), NEVER)))
    assert nothing.delays.law.tolist() == [0.0]
    delays = np.zeros((LONGEST_LAW + 100, 1), dtype=np.int64)
    delays[0] = LONGEST_LAW + 50
    law = sum_up(given(np.zeros(delays.shape), delays)).delays.law
    assert len(law) == LONGEST_LAW
    assert law[-1] == pytest.approx(1.0 - 1.0 / len(delays))


def tails(name: str, rounds: int) -> Counts:
    """Delays of two arms."""
    random = np.random.default_rng(rounds)
    if name == "none":
        return np.zeros((rounds, 2), dtype=np.int64)
    if name == "constant":
        return np.full((rounds, 2), 7)
    if name == "never, but prompt otherwise":
        return np.where(random.random((rounds, 2)) < 0.2, NEVER, 1)
    if name == "short":
        return random.integers(0, 3, (rounds, 2))
    delays = np.floor(random.pareto([0.4, 1.5], (rounds, 2))).astype(np.int64)
    if name == "Pareto, some never":
        delays[random.random((rounds, 2)) < 0.05] = NEVER
    return delays


@pytest.mark.parametrize("rounds", [1, 2, 3, 4, 60, 300])
@pytest.mark.parametrize(
    "name",
    ["none", "constant", "short", "Pareto", "Pareto, some never", "never, but prompt otherwise"],
)
def test_the_tail_index_is_the_largest_that_the_definition_allows(name: str, rounds: int) -> None:
    """P(d_i > m) <= m^-alpha for every arm and every m from 2 to the end, and for no alpha above.

    Ten stands for every alpha that is larger.
    """
    delays = tails(name, rounds)
    alpha = sum_up(given(np.zeros((rounds, 2)), delays)).delays.tail_index
    late = (delays == NEVER) | (np.arange(rounds)[:, None] + delays >= rounds)
    waits = np.where(late, np.inf, delays)
    longer = {m: (waits > m).mean(axis=0).max() for m in range(2, rounds)}
    assert 0.0 <= alpha <= LARGEST_TAIL_INDEX
    assert all(share <= m**-alpha * (1 + 1e-12) for m, share in longer.items())
    if alpha < LARGEST_TAIL_INDEX:
        assert any(share > m ** -(alpha + 1e-9) for m, share in longer.items())


@dataclass
class Spy:
    """Takes every option that a need can fill; it is no learner and is not registered."""

    arms: int
    horizon: Any = None
    max_missing: Any = None
    total_delay: Any = None
    max_delay: Any = None
    mean_delay: Any = None
    delay_law: Any = None
    tail_index: Any = None
    delay_at_decision: Any = None
    features: Any = None
    delivery: Any = None
    window: Any = None
    needs: ClassVar[tuple[Need, ...]] = ()
    deliveries: ClassVar[tuple[Delivery, ...]] = DELIVERIES

    @classmethod
    def needs_with(cls, options: Any) -> tuple[Need, ...]:
        return cls.needs


@pytest.mark.parametrize("need", list(Need))
@pytest.mark.parametrize("delivery", [None, *DELIVERIES])
def test_a_learner_is_handed_what_it_declares_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, need: Need, delivery: Any
) -> None:
    """Each need alone fills its own option, and no other, with what the delivery makes of it.

    Told together, all arms have one delay: that of a game in which this is so from the beginning.
    """
    losses, delays = random_game(9, 200, 3, 12)
    delays[delays == NEVER] = 0
    together = np.array([wait_of(delays, s, 0, delivery or "own") for s in range(200)])
    alike = np.where(np.isinf(together), NEVER, together).astype(np.int64)
    sums = sum_up(given(losses, delays))
    same = sums if delivery in (None, "own") else sum_up(given(losses[:, :1], alike[:, None]))
    options = {} if delivery is None else {"delivery": delivery}
    assert handed_to_spy(monkeypatch, need, options, sums) == known_of(same)[need]


@pytest.mark.parametrize("need", list(Need))
@pytest.mark.parametrize("window", [0, 1, 7, 199])
def test_with_a_window_everything_is_as_late_as_the_window(
    monkeypatch: pytest.MonkeyPatch, need: Need, window: int
) -> None:
    """What is handed over is that of a game in which all losses take so many rounds.

    But for the law and its tail, in which losses of the last rounds are not taken to be lost.
    """
    losses, delays = random_game(9, 200, 3, 12)
    found = handed_to_spy(monkeypatch, need, {"window": window}, sum_up(given(losses, delays)))
    expected = known_of(sum_up(given(losses, np.full_like(delays, window))))
    expected[Need.DELAY_LAW] = (0.0,) * window + (1.0,)
    expected[Need.TAIL_INDEX] = LARGEST_TAIL_INDEX if window <= 2 else 0.0
    assert found == expected[need]


def handed_to_spy(
    monkeypatch: pytest.MonkeyPatch, need: Need, options: dict[str, Any], sums: GameSums
) -> Any:
    """What a learner of one need is told; it must be told nothing else."""
    monkeypatch.setattr(Spy, "needs", (need,))
    monkeypatch.setattr(contenders, "learner_named", lambda name: Spy)
    spy = contenders.Contender("spy", options).built(sums)
    filled = {name: value for name, value in vars(spy).items() if value is not None}
    option = "features" if need is Need.CONTEXT else need.value
    assert set(filled) <= {"arms", option, *options}
    return filled.get(option)


def known_of(sums: GameSums) -> dict[Need, Any]:
    """All that a learner which is told every loss on arrival may be told of this game."""
    return {
        Need.HORIZON: sums.rounds,
        Need.MAX_MISSING: sums.max_missing,
        Need.TOTAL_DELAY: sums.total_delay,
        Need.MAX_DELAY: sums.max_delay,
        Need.MEAN_DELAY: max(sums.delays.mean),
        Need.DELAY_LAW: tuple(sums.delays.law),
        Need.TAIL_INDEX: sums.delays.tail_index,
        Need.DELAY_AT_DECISION: None,  # told in every round, not beforehand
        Need.ADVICE: None,  # the same
        Need.CONTEXT: 0,  # how many features contexts have
    }


def test_an_option_that_is_given_is_not_overruled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The game's horizon is only for those who were not told another."""
    monkeypatch.setattr(Spy, "needs", (Need.HORIZON,))
    monkeypatch.setattr(contenders, "learner_named", lambda name: Spy)
    sums = sum_up(given(*random_game(9, 20, 3, 2)))
    assert vars(contenders.Contender("spy", {"horizon": 7}).built(sums))["horizon"] == 7


def test_every_need_is_known_or_told_in_the_game() -> None:
    assert set(Need) - set(contenders.FACTS) == set(TOLD_BY_ROUND)
