"""The learner that docs/adding-a-learner.md shows obeys the laws, as every learner must."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.laws import test_laws as laws

GUIDE = Path(__file__).parents[2] / "docs" / "adding-a-learner.md"
OBEYED = [
    laws.test_q_is_a_distribution,
    laws.test_the_order_of_feedback_inside_a_round_is_irrelevant,
    laws.test_predict_changes_nothing,
    laws.test_permuting_the_arms_permutes_q,
    laws.test_what_was_not_revealed_before_round_t_changes_no_q_up_to_t,
    laws.test_losses_of_arms_that_were_not_played_never_matter,
    laws.test_an_infinite_delay_equals_one_beyond_the_end,
    laws.test_the_horizon_enters_only_through_the_start,
    laws.test_one_arm_has_all_the_weight,
    laws.test_feedback_that_never_comes_teaches_nothing,
]


@pytest.fixture(scope="module")
def guide() -> dict[str, Any]:
    """What the Python of the guide defines."""
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {"__name__": "guide"}
    exec("\n".join(blocks), names)
    return names


@pytest.mark.parametrize("law", OBEYED, ids=lambda law: law.__name__)
def test_it_obeys(law: Callable[..., None], guide: dict[str, Any]) -> None:
    """Each law that is about all learners."""
    law(kind=guide["SteadyExp3"])


def test_it_learns_as_the_guide_prints(guide: dict[str, Any]) -> None:
    """One loss of 1/2 at the probability 1/3: exp(-0.1 * 1.5) against 1."""
    weights = np.exp([0.0, -0.15, 0.0])
    np.testing.assert_allclose(guide["driver"].weights(), weights / weights.sum(), rtol=1e-14)
