"""Learners on many worlds: shares of uniform play's regret, what they are told, interrupts."""

import os
import signal
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from belated.analysis.game_sums import sum_up
from belated.arrays import Floats
from belated.comparison.contenders import contender
from belated.environments.environment import branch
from belated.learners.uniform import Uniform
from belated.play.engine import play
from belated.play.game import Game
from belated.types import BelatedWarning, Setting
from belated.worlds import WorldComparison, compare, world
from belated.worlds.world_result import WorldRuns, percent

SHORT = ["few-rounds/150", "limit-orders/15"]


class AlwaysTheFirst:
    """A user's own learner in plain Python: all weight on the first arm."""

    setting = Setting.CONCEALED

    def __init__(self, arms: int) -> None:
        self.weights = np.eye(arms)[0]

    def start(self) -> None:
        return None

    def predict(self, state: None) -> Any:
        return SimpleNamespace(q=self.weights)

    def commit(self, state: None, prediction: Any, arm: int) -> list[None]:
        return [None]

    def observe(self, state: None, play: None, arm: int, loss: float, missing: int) -> None:
        """Learn nothing."""


def test_regrets_are_those_of_the_games() -> None:
    """Uniform play has 100 %, a learner that stays has its arm's regret, any other its own."""
    result = compare(["uniform", AlwaysTheFirst, "exp3"], SHORT, games=2)
    assert result.labels == ("uniform", "AlwaysTheFirst", "exp3")
    assert result.complete
    assert np.allclose(result.shares[:, 0], 100.0)
    for found, name in zip(result.worlds, SHORT, strict=True):
        here = world(name)
        assert found.world.line == here.line
        for number in range(2):
            seed = here.seed(number)
            game = Game(here.environment, branch(seed, 0))
            sums = sum_up(game)
            least = sums.losses.min()
            assert found.uniform[number] == pytest.approx(sums.losses.mean() - least)
            assert found.regrets[1, number] == pytest.approx(sums.losses[0] - least)
            learner: Any = contender("exp3").built(sums)
            lost = play(learner, game, branch(seed, 1)).loss
            assert found.regrets[2, number] == pytest.approx(lost - least)


def test_learners_are_told_what_they_need() -> None:
    """Their horizon or max_missing, from the game, and what silence means."""

    @dataclass(frozen=True)
    class KnowsSilence(Uniform):
        default_loss: float | None = None

    told = {}
    for name in ("conversions-declared/0", "conversions-silent/0"):
        here = world(name)
        sums = sum_up(Game(here.environment, here.seed(0)))
        made: Any = contender(KnowsSilence).built(sums)
        told[name] = made.default_loss
        assert made.arms == here.environment.arms
        concealed: Any = contender("concealed").built(sums)
        assert concealed.max_missing == sums.max_missing
    assert told == {"conversions-declared/0": 1.0, "conversions-silent/0": None}


def test_more_cores_and_more_company_change_nothing() -> None:
    """The same worlds and games for every number of threads."""
    alone = compare(["exp3"], SHORT[:1], games=2, workers=1)
    both = compare(["uniform", "exp3"], SHORT[:1], games=2, workers=3)
    for one, other in zip(alone.worlds, both.worlds, strict=True):
        assert np.array_equal(one.regrets[0], other.regrets[1])


def test_an_interrupt_keeps_the_complete_worlds() -> None:
    """Ctrl-C in the middle: worlds whose games are all over are there."""

    def interrupt(done: int, total: int) -> None:
        if done > total // 2 and not pressed:
            pressed.append(True)
            os.kill(os.getpid(), signal.SIGINT)

    pressed: list[bool] = []
    with pytest.warns(BelatedWarning, match="interrupted: .* of 20 worlds are complete"):
        part = compare(["uniform"], 20, only=["few-rounds"], games=2, progress=interrupt)
    assert 0 < len(part.worlds) < 20 == part.asked
    assert not part.complete
    assert np.allclose(part.shares, 100.0)


def test_an_interrupt_before_anything_is_complete_is_an_interrupt() -> None:
    """There is nothing to keep."""

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(["uniform"], SHORT[:1], games=20, progress=interrupt)


def test_a_learner_made_for_other_arms_is_refused() -> None:
    """Worlds differ in their arms; a class fits all."""
    with pytest.raises(ValueError, match="is for 57 arms; the game has"):
        compare([Uniform(57)], SHORT[:1], games=1)


def made(uniform: list[float], *regrets: list[list[float]]) -> WorldComparison:
    """A comparison in worlds with these regrets: of uniform play, and by world, learner, game."""
    worlds = [world("coins", 0), world("coins", 1), world("drift", 0)]
    runs = [
        WorldRuns(here, np.full(len(found[0]), alike), np.array(found))
        for here, alike, found in zip(worlds, uniform, regrets, strict=False)
    ]
    return WorldComparison(("a", "b"), tuple(runs), len(runs))


def test_shares_are_clipped_and_counted() -> None:
    """Means over games come first, then the clip, then means over worlds."""
    result = made(
        [100.0, 10.0, 50.0], [[10, 30], [40, 60]], [[20, 20], [5, 5]], [[-90, 10], [1, 3]]
    )
    assert result.shares.tolist() == [[20.0, 50.0], [150.0, 50.0], [-80.0, 4.0]]
    a, b = result.table()
    assert a["share"] == pytest.approx(30.0)
    assert b["share"] == pytest.approx(104.0 / 3.0)
    assert (a["wins"], a["losses"], b["wins"], b["losses"]) == (0, 0, 1, 2)
    assert b["difference"] == pytest.approx((30.0 - 100.0 + 84.0) / 3.0)
    assert (a["best"], b["best"]) == (2, 1)
    assert (a["worst run"], a["worst in"]) == (200.0, "coins/1")
    assert (b["worst run"], b["worst in"]) == (60.0, "coins/0")
    assert a["tail"] == pytest.approx((29.0 + 150.0 + 10.0) / 3.0)
    assert list(result.by_family()) == [
        {"family": "coins", "worlds": 2, "a": 85.0, "b": 50.0},
        {"family": "drift", "worlds": 1, "a": -80.0, "b": 4.0},
    ]
    assert [row["world"] for row in result.by_world()] == ["coins/0", "coins/1", "drift/0"]
    assert len(result.runs()) == 3 * 2 * 2


def test_where_uniform_play_has_no_regret() -> None:
    """A share is 0 or clipped, never NaN, and the world is said to say little."""
    nothing: Floats = np.array([[0.0, 0.0], [-1.0, 2.0]])
    assert percent(nothing, 0.0)[0].tolist() == [0.0, 0.0]
    result = made([0.0], [[0, 0], [1, 2]])
    assert result.shares.tolist() == [[0.0, 150.0]]
    assert result.worlds[0].says_little
    assert not made([100.0], [[1], [2]]).worlds[0].says_little
