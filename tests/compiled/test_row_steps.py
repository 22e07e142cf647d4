"""Steps whose rows pass through memory: one code for all widths, and each row with its own play."""

from typing import Any

import numpy as np
import pytest

from belated.asktell.runners import workspace_for
from belated.compiled.ask_tell import entries_of
from belated.compiled.row_steps import RowStep
from belated.learners.registry import learner_named
from belated.numerics.random_stream import seeded


@pytest.mark.parametrize("rows", [(), (1.0, 2.0, 3.0)], ids=["compiled", "plain"])
def test_a_late_loss_is_learned_with_the_row_of_its_own_play(rows: tuple[float, ...]) -> None:
    """The memory holds the row of the latest play; whatever is told, it then holds that row."""
    plays, told = np.zeros((1, 3)), []

    def ask(address: int, mode: int) -> tuple[Any, ...]:
        plays[0] = (mode, 0.1, np.nan)
        return (mode, 0.5, *rows)

    def tell(address: int, drawn: tuple[Any, ...], *others: Any) -> bool:
        told.append((drawn, plays[0].tolist(), others))
        return True

    asking, telling = RowStep(ask, plays), RowStep(tell, plays)
    first, second = asking.ask(0, 7), asking.ask(0, 8)
    assert (first[:4], second[:4]) == ((7, 0.5, 7.0, 0.1), (8, 0.5, 8.0, 0.1))
    for drawn in (first, second):
        assert telling.tell(0, drawn, 0.25, -1, 1)
    assert [(drawn, row[:2]) for drawn, row, _ in told] == [
        ((7, 0.5), [7.0, 0.1]), ((8, 0.5), [8.0, 0.1]),
    ]  # fmt: skip
    assert np.isnan([row[2] for _, row, _ in told]).all()
    assert {others for _, _, others in told} == {(0.25, -1, 1)}


@pytest.mark.parametrize(
    ("name", "option"), [("linear", "features"), ("exp4", "policies"), ("advice", "policies")]
)
def test_one_code_serves_all_options(name: str, option: str) -> None:
    """Contexts of two and of five features, or so many policies, need nothing compiled anew."""
    entries = []
    for size in (2, 5):
        learner = learner_named(name)(arms=3, **{option: size})
        entries.append(entries_of(*workspace_for(learner, learner.start(), seeded(1))))
    assert entries[0] == entries[1]
