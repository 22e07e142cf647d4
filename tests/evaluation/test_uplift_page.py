"""What the page of an uplift says, by the numbers that it is given."""

from typing import Any

import pytest

from belated.evaluation.uplift_page import headline, uplift_html

COHORT = {"decisions": 50, "told": 40, "mean": 0.25}
FOUND: dict[str, Any] = {
    "problem": "a<b", "at": 1e9, "share": 0.5, "control_arm": None, "level": 0.95, "within": 60.0,
    "silent_reward": 0.0, "from": 0.0, "until": 86_400.0, "decisions": 100, "waiting": 3,
    "cancelled": 1, "clipped": 2, "treatment": COHORT, "control": COHORT,
    "uplift": {"value": 0.1, "low": -0.1, "high": 0.3, "relative": 0.4},
    "over_time": [
        {"at": 1.0, "decisions": n, "value": 0.1, "low": -1.0 / n, "high": 1.0 / n}
        for n in range(1, 101)
    ],
    "days": [{"day": "1970-01-01", "decisions": 100, "treatment": 0.25, "control": None,
              "value": 0.1, "low": -0.1, "high": 0.3}],
    "by": "size", "segments": [{"segment": "<b>", "decisions": 100, "treatment": 0.25,
                                "control": 0.2, "value": 0.1, "low": -0.1, "high": 0.3}],
    "by_arm": [{"arm": "<i>", "treatment": COHORT, "control": {**COHORT, "mean": None}}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [(0.01, 0.3, "earns more than"), (-0.3, -0.1, "earns less than"), (-0.1, 0.3, "told apart")],
)
def test_the_headline_says_what_the_interval_says(low: float, high: float, says: str) -> None:
    """No more, and no less."""
    assert says in headline({**FOUND, "uplift": {**FOUND["uplift"], "low": low, "high": high}})


def test_the_page_has_all_of_it_and_escapes_names() -> None:
    """Equal numbers make an equal page, which loads nothing from elsewhere."""
    page = uplift_html(FOUND)
    assert page == uplift_html(FOUND)
    assert page.count("<svg") == 2
    assert "a&lt;b" in page
    assert "&lt;i&gt;" in page
    assert "&lt;b&gt;" in page
    assert "By size" in page
    assert "3 decisions waiting, and 1 decision cancelled" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    empty = dict.fromkeys(("value", "low", "high", "relative"))
    nothing = {"uplift": empty, "over_time": [], "days": [], "by_arm": [], "segments": []}
    assert "No decision of a&lt;b counts yet" in uplift_html({**FOUND, **nothing})
