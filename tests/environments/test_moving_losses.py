"""Losses around moving means: paths, shared levels, losses that stay, revenue."""

import math

import numpy as np
import pytest

from belated.environments.environment import LossProcess, Span
from belated.environments.losses import Bernoulli
from belated.environments.moving_losses import (
    AroundPath,
    MeanPath,
    Revenue,
    Sticky,
    Waves,
    Weather,
)
from tests.environments.drawing import draw_losses

STEPS = MeanPath([0, 50, 120], [[0.2, 0.8], [0.7, 0.1], [0.5, 0.5]])
PROCESSES: list[LossProcess] = [
    AroundPath(STEPS),
    AroundPath(STEPS, spread=0.1),
    AroundPath(MeanPath([0], [[0.3, 0.6]]), Waves(0.2, 24.0)),
    AroundPath(
        MeanPath([0, 100], [[0.3, 0.6], [0.6, 0.3]], sudden=False), Weather(0.3, 10.0), 0.05
    ),
    Sticky(Bernoulli([0.2, 0.7]), 5.0),
    Sticky(AroundPath(STEPS, spread=0.1), 1.0),
    Revenue([0.1, 0.9], [0.5, 0.2], 0.4),
]


@pytest.mark.parametrize("process", PROCESSES, ids=repr)
@pytest.mark.parametrize("sizes", [(1,), (19, 20, 21), (64, 3)], ids=str)
def test_the_cut_into_spans_changes_nothing(process: LossProcess, sizes: tuple[int, ...]) -> None:
    """Spans of any sizes give the losses of one single span, bit for bit; seeds differ."""
    whole = draw_losses(process, 203, seed=5)
    assert np.array_equal(draw_losses(process, 203, seed=5, sizes=sizes), whole)
    assert not np.array_equal(draw_losses(process, 203, seed=6), whole)
    assert process.random


def test_a_path_jumps_or_moves_evenly() -> None:
    """Means at knots, before and after them, and beyond the last."""
    span = Span(0, 200, 200)
    assert STEPS.at(span)[[0, 49, 50, 119, 120, 199], 0].tolist() == [0.2, 0.2, 0.7, 0.7, 0.5, 0.5]
    moving = MeanPath([0, 100], [[0.0, 1.0], [1.0, 0.5]], sudden=False).at(span)
    assert moving[[0, 50, 100, 199]].tolist() == [[0, 1], [0.5, 0.75], [1, 0.5], [1, 0.5]]


def test_means_of_0_and_1_are_not_random() -> None:
    """So that one game is enough."""
    assert not AroundPath(MeanPath([0, 9], [[0.0, 1.0], [1.0, 0.0]])).random


def test_a_shared_level_moves_all_arms_alike() -> None:
    """Without noise the differences between the arms stay what they are."""
    for level in (Waves(0.2, 24.0), Weather(0.2, 30.0)):
        process = AroundPath(MeanPath([0], [[0.3, 0.6]]), level, spread=0.0)
        losses = draw_losses(process, 600)
        assert np.allclose(losses[:, 1] - losses[:, 0], 0.3)
        assert 0.25 < np.ptp(losses[:, 0]) <= 0.4


def test_what_sticks_is_correlated_and_keeps_its_mean() -> None:
    """The correlation of neighbours is 1 - 1/lasting."""
    losses = draw_losses(Sticky(Bernoulli([0.3]), 5.0), 40_000)[:, 0]
    assert abs(losses.mean() - 0.3) < 0.03  # three standard errors of 8,000 values or so
    assert abs(np.corrcoef(losses[:-1], losses[1:])[0, 1] - 0.8) < 0.02


def test_revenue_is_rate_times_amount() -> None:
    """As long as hardly any amount is above 1."""
    losses = draw_losses(Revenue([0.2, 0.5], [0.3, 0.1], 0.3), 40_000)
    assert np.allclose(1.0 - losses.mean(axis=0), [0.06, 0.05], atol=3.0 * 0.13 / math.sqrt(40_000))
    assert abs((losses < 1.0).mean(axis=0) - [0.2, 0.5]).max() < 0.01


@pytest.mark.parametrize(
    ("knots", "means"),
    [([], []), ([1], [[0.5]]), ([0, 0], [[0.5], [0.5]]), ([0], [[0.5], [0.4]])],
)
def test_bad_paths_get_a_clear_sentence(knots: list[int], means: list[list[float]]) -> None:
    """Knots rise from 0 and have a row each."""
    with pytest.raises(ValueError, match="knots must rise from 0 and have a row each"):
        MeanPath(knots, means)


def test_other_bad_parameters_get_a_clear_sentence() -> None:
    """Rows of different lengths, and rates without amounts."""
    with pytest.raises(ValueError, match="each must have every arm"):
        MeanPath([0, 5], [[0.5, 0.5], [0.5]])
    with pytest.raises(ValueError, match="each arm has both"):
        Revenue([0.5, 0.5], [0.2])
