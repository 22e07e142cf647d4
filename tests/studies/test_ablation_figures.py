"""What each part of a learner brings, from the table of a study to its figure."""

from typing import Any

import pytest

from belated.comparison.table import Table
from belated.types import Setting
from studies.ablation_figures import NAMES, parts_figure, parts_of
from studies.scenario_groups import WITHOUT
from studies.study import standings


def row(scenario: str, learner: str, changed: str, share: float | None) -> dict[str, Any]:
    """A row as the study has it."""
    setting = Setting.FULL_INFORMATION if "experts" in learner else Setting.CONCEALED
    return {
        "scenario": scenario,
        "learner": f"{learner}, {changed}" if changed else learner,
        "changed": changed,
        "is told": setting.value,
        "knows": "nothing",
        "regret": 50.0 if share is None else 100.0 * share,
        "of uniform": share,
        "rank": 1,
    }


TABLE = Table.of(
    [
        row("one", "practical-bandit", "", 0.2),
        row("one", "practical-bandit", "certified=0", 0.1),
        row("one", "practical-bandit", "forgets=0", 0.5),
        row("other", "practical-bandit", "", 0.4),
        row("other", "practical-bandit", "certified=0", 0.4),
        row("other", "practical-bandit", "forgets=0", 0.5),
        row("alike", "practical-bandit", "", None),
        row("alike", "practical-bandit", "certified=0", None),
        row("one", "practical-experts", "", 0.1),
        row("one", "practical-experts", "tracks=0", 0.3),
    ]
)


def test_a_part_costs_what_the_regret_is_more_without_it() -> None:
    """In percent of uniform play's, the dearest first; where all arms are alike nothing counts."""
    parts = parts_of(TABLE)
    forgets, certified = parts["practical-bandit"]
    assert (forgets.changed, certified.changed) == ("forgets=0", "certified=0")
    assert forgets.costs == pytest.approx([30.0, 10.0])
    assert certified.costs == pytest.approx([-10.0, 0.0])
    assert forgets.mean == pytest.approx(20.0)
    assert parts["practical-experts"] == [("tracks=0", pytest.approx([20.0]))]


def test_a_learner_is_not_its_own_rival() -> None:
    """Without a part it may do better in a game, and the whole still is the best of all whole."""
    standing = {each["learner"]: each["within 5 %"] for each in standings(TABLE, experts=False)}
    assert standing["practical-bandit"] == 3
    assert standing["practical-bandit, forgets=0"] == 0


def test_the_figure_names_every_part() -> None:
    """In words; nothing that is judged lacks them."""
    assert {text.partition(":")[2] for text in WITHOUT} == set(NAMES)
    figure = parts_figure("practical-experts", parts_of(TABLE)["practical-experts"])
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == ["no tracker that forgets"]
