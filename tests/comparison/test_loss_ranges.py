"""Proposition 8: losses in any known range, with regrets, bounds and tables in their own units."""

import re
from pathlib import Path

import numpy as np
import pytest

from belated.checks import LossRange
from belated.comparison.compare import compare
from belated.comparison.result import Comparison
from belated.environments.delays import Constant, PerArm
from belated.environments.environment import Environment
from belated.environments.files import environment_from_arrays
from belated.environments.losses import Bernoulli, Spread
from belated.environments.missing import missing_counts
from belated.report.arms import summarise_arms
from belated.report.page import report_html
from belated.sweep.grid import Grid
from belated.sweep.sweep import sweep

LEARNERS = [
    "full-information:variant=repaired",
    "practical-experts",
    "centred-hedge",
    "concealed:variant=repaired",
    "tsallis-inf",
    "uniform",
]
LOW, HIGH = -3.0, 5.0  # a width of 8, so that no digit is lost on the way
ROUNDS = 80


def tables() -> tuple[np.ndarray, np.ndarray]:
    """Losses in [0, 1] and delays by round and arm."""
    random = np.random.default_rng(4)
    losses = random.integers(0, 257, (ROUNDS, 3)) / 256.0 * np.array([0.5, 0.75, 1.0])
    return losses, random.integers(0, 9, (ROUNDS, 3))


@pytest.fixture(scope="module")
def both() -> tuple[Comparison, Comparison]:
    """A game of losses in [0, 1], and one of these losses spread over [LOW, HIGH]."""
    losses, delays = tables()
    unit = environment_from_arrays(losses, delays)
    spread = LOW + (HIGH - LOW) * losses
    wide = environment_from_arrays(spread, delays, loss_range=(LOW, HIGH))
    return compare(LEARNERS, unit, repetitions=3), compare(LEARNERS, wide, repetitions=3)


def test_learners_play_alike(both: tuple[Comparison, Comparison]) -> None:
    """What they see is in [0, 1], to the last digit, and so are their weights and plays."""
    unit, wide = both
    for one, other in zip(unit.traces, wide.traces, strict=True):
        for a, b in zip(one, other, strict=True):
            assert np.array_equal(a.weight_at, b.weight_at)
            assert np.array_equal(a.plays, b.plays)


def test_regrets_and_bounds_are_the_width_times_larger(both: tuple[Comparison, Comparison]) -> None:
    unit, wide = both
    for k, name in enumerate(LEARNERS):
        assert np.array_equal(wide.regret(k), 8.0 * unit.regret(k))
        mixed = wide.regret(k, against=[0.5, 0.5, 0.0])
        np.testing.assert_allclose(mixed, wide.regrets(k) @ [0.5, 0.5, 0.0])
        assert np.array_equal(wide.regrets(k), 8.0 * unit.regrets(k))
        curves = wide.regret_over_time(k).mean, unit.regret_over_time(k).mean
        assert np.array_equal(curves[0], 8.0 * curves[1])
        bound, plain = wide.bound(k), unit.bound(k)
        assert bound.applies is plain.applies
        if plain.value is None:
            assert bound == plain
        else:
            assert bound.value == pytest.approx(8.0 * plain.value)
            assert bound.label == f"8 times ({plain.label})"
        certificates = wide.certificate(k), unit.certificate(k)
        assert (certificates[0] is None) is (certificates[1] is None), name
        if certificates[1] is not None:
            assert certificates[0] == pytest.approx(8.0 * certificates[1])


def test_tables_are_in_the_units_of_the_losses(both: tuple[Comparison, Comparison]) -> None:
    """Compared with sums over the losses as they were given."""
    unit, wide = both
    losses, delays = tables()
    spread = LOW + 8.0 * losses
    best = spread.sum(axis=0).min()
    for row, other in zip(wide.runs(), unit.runs(), strict=True):
        assert row["best_loss"] == pytest.approx(best)
        assert row["loss"] == pytest.approx(LOW * ROUNDS + 8.0 * other["loss"])
        assert row["realised_loss"] == pytest.approx(LOW * ROUNDS + 8.0 * other["realised_loss"])
        assert row["regret"] == row["loss"] - row["best_loss"]
        assert row["balanced_regret"] == pytest.approx(8.0 * other["balanced_regret"])
    for row, other in zip(wide.table(), unit.table(), strict=True):
        assert row["regret"] == pytest.approx(8.0 * other["regret"])
        assert row["against balanced"] == pytest.approx(8.0 * other["against balanced"])
        assert row["loss per round"] == pytest.approx(LOW + 8.0 * other["loss per round"])
    for row, other in zip(wide.lower_bounds(), unit.lower_bounds(), strict=True):
        assert row["order of regret"] == pytest.approx(8.0 * other["order of regret"])
    arms = summarise_arms(wide)
    np.testing.assert_allclose(arms.losses, spread.sum(axis=0))
    missing = missing_counts(delays)
    np.testing.assert_allclose(arms.missing_losses, (missing * spread).sum(axis=0))


def test_the_report_says_the_range(both: tuple[Comparison, Comparison]) -> None:
    unit, wide = both
    said, plain = (re.sub("<[^>]*>", "", report_html([each])) for each in (wide, unit))
    assert "seed 1, losses in [-3, 5]" in said
    assert "losses in [" not in plain


def test_the_units_of_a_process_of_ones_own() -> None:
    """Losses that leave the range are refused; delays see them as they were drawn."""

    class SlowIfPositive:
        random = False

        def sampler(self, random: np.random.Generator):  # type: ignore[no-untyped-def]
            return lambda span, losses: np.where(losses > 0.0, 7, 0)

    coins = Spread(Bernoulli([0.5, 1.0]), -1.0, 1.0)
    environment = Environment("mine", coins, SlowIfPositive(), 40, loss_range=(-1, 1))
    (block,) = environment.blocks(np.random.SeedSequence(1))
    assert set(np.unique(block.losses)) == {0.0, 1.0}
    assert np.array_equal(block.delays, 7 * (block.losses == 1.0))
    narrow = Environment("mine", coins, Constant(0), 40)
    with pytest.raises(ValueError, match=r"a loss is -1.0; it must be in \[0, 1\]"):
        list(narrow.blocks(np.random.SeedSequence(1)))
    with pytest.raises(ValueError, match="loss_range is"):
        Environment("mine", coins, Constant(0), 40, loss_range=(1, 1))


def test_gains_in_a_sweep(tmp_path: Path) -> None:
    """The scenario of both signs: its rows are in [-1, 1] as well."""
    grid = Grid("gains:rounds=300,gain=0.5", "uniform", seeds=[1])
    (row,) = sweep(grid, tmp_path / "sweep.db")
    assert -300.0 < row["best_loss"] < 0.0 < row["loss"] < 300.0
    assert row["regret"] == row["loss"] - row["best_loss"]


def test_a_range_reads_as_a_range() -> None:
    assert str(LossRange(-1.0, 1.0)) == "[-1, 1]"
    assert LossRange(-1.0, 1.0).width == 2.0
    assert LossRange().is_unit
    assert not LossRange(-1.0, 0.0).is_unit
    late = Environment("late", Bernoulli([0.2, 0.5]), PerArm([10, 0]), 30)
    assert late.units.is_unit
