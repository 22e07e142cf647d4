"""The study of contexts: its worlds, its shares, and Vowpal Wabbit as a learner."""

from collections import deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from belated.analysis.contextual_goals import TRUE_MEANS
from belated.comparison.compare import compare
from belated.environments.scenarios import scenario
from studies import contexts
from studies.__main__ import main
from studies.vowpal import Vowpal


class Taught(Vowpal):
    """Vowpal Wabbit's bookkeeping with a workspace that only notes what it is taught."""

    def start(self) -> Any:
        state = SimpleNamespace(shared="", round=0, waiting=deque())
        state.workspace = SimpleNamespace(taught=[])
        state.workspace.learn = state.workspace.taught.append
        return state


def test_there_are_eighteen_worlds() -> None:
    """All of them have contexts, means and, where zeros never come, a declared default."""
    worlds = contexts.worlds(())
    assert len(worlds) == 18
    assert all(world.environment.features for world in worlds)
    declared = {world.name for world in worlds if world.environment.default_loss == 1.0}
    assert declared == {"conversions", "purchases", "heavy tails"}
    with pytest.raises(ValueError, match=r"^world is 'irs'; .*did you mean 'iris'"):
        contexts.worlds(["irs"])


def test_shares_are_of_uniform_play() -> None:
    """Uniform play has share 1, and the best form of a rival is the best of its rows."""
    game = scenario("classes", rounds=300)
    ours = compare(["uniform", "thompson"], game, repetitions=2)
    assert contexts.shares(ours, 0).mean() == pytest.approx(1.0)
    assert ours.regret_to(0, TRUE_MEANS).mean() == pytest.approx(180.0, rel=0.1)
    rows = contexts.rows_of(contexts.WorldOutcome("iris", ours, ours))
    best = next(row for row in rows if row["learner"] == contexts.VOWPAL)
    assert best["of uniform"] == min(contexts.share_in(row) for row in rows)
    shown = contexts.by_world(contexts.contexts_table([contexts.WorldOutcome("iris", ours, None)]))
    assert shown.columns == ("learner", "mean", "iris")


def test_a_window_teaches_silence_as_failure_once() -> None:
    """What came in time is learned when it comes; silence when the window ends; the late never."""
    learner = Taught(2, learning_rate=0.5, window=2)
    state, prediction = learner.start(), SimpleNamespace(q=np.array([0.25, 0.75]))
    plays = []
    for arm in (0, 1, 0, 0):
        learner.consider(state, np.array([1.5]))
        plays += learner.commit(state, prediction, arm)
        if arm == 1:
            learner.observe(state, plays[1], 1, 0.0, -1)
    taught = state.workspace.taught
    assert [lines[1 + play.arm] for lines, play in zip(taught, plays[1::-1], strict=True)] == [
        "0:0.0:0.75 |a 1",
        "0:1.0:0.25 |a 0",
    ]
    assert taught[0][0] == "shared |s 0:1.5"
    learner.observe(state, plays[0], 0, 0.0, -1)
    assert len(taught) == 2


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It prints shares, writes every row, and refuses worlds that do not exist in one sentence."""
    monkeypatch.setattr(contexts, "OURS", ("thompson", "uniform"))
    monkeypatch.setitem(contexts.WORLDS, "iris", "classes:rounds=200")
    table = tmp_path / "rows.csv"
    asked = ["contexts", "iris", "--games", "2", "--table", str(table)]
    result = CliRunner().invoke(main, asked, catch_exceptions=False)
    assert result.exit_code == 0
    assert "uniform" in result.output
    assert len(table.read_text().splitlines()) == 3
    refused = CliRunner().invoke(main, ["contexts", "mars"])
    assert refused.exit_code != 0
    assert "world is 'mars'" in refused.output
    none = CliRunner().invoke(main, ["contexts", "--games", "0"])
    assert "nor both 0" in none.output


@pytest.mark.check
def test_vowpal_wabbit_learns() -> None:
    """On iris it is soon better than chance."""
    game = scenario("classes", rounds=1500)
    result = compare(contexts.vowpals(game)[1:2], game, repetitions=1)
    assert contexts.shares(result, 0)[0] < 0.6
