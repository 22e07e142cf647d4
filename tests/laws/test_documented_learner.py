"""The learner that docs/adding-a-learner.md shows, and checks there, learns as it prints."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "adding-a-learner.md"


@pytest.fixture(scope="module")
def guide() -> dict[str, Any]:
    """What the Python of the guide defines."""
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {"__name__": "guide"}
    exec("\n".join(blocks), names)
    return names


def test_it_learns_as_the_guide_prints(guide: dict[str, Any]) -> None:
    """One loss of 1/2 at the probability 1/3: exp(-0.1 * 1.5) against 1."""
    weights = np.exp([0.0, -0.15, 0.0])
    np.testing.assert_allclose(guide["driver"].weights(), weights / weights.sum(), rtol=1e-14)
