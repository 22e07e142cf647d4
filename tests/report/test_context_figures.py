"""The figures of games with contexts: what they draw, and where there are none."""

import numpy as np
import pytest

import belated
from belated.comparison.model_checks import calibration
from belated.comparison.segments import segment_regrets
from belated.report.captions import CAPTIONS
from belated.report.context_figures import (
    CONTEXT_FIGURES,
    calibration_of_models,
    regret_by_segment,
    weight_of_silence,
)
from belated.report.page import report_html
from tests.comparison.test_observed_runs import played
from tests.report.legibility import check_all_is_legible


@pytest.mark.parametrize("name", CONTEXT_FIGURES)
def test_a_figure_is_legible_and_says_what_it_shows(name: str) -> None:
    figure = CONTEXT_FIGURES[name](played())
    assert figure is not None
    check_all_is_legible(figure, name)
    caption = CAPTIONS[name](played())
    assert caption.text.endswith(".")
    assert len(caption.description) > 20


def test_marks_are_the_regrets_of_the_segments() -> None:
    observed = played().observed
    assert observed is not None
    found = segment_regrets(observed)
    figure = regret_by_segment(played())
    assert figure is not None
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    for k, label in enumerate(played().labels):
        drawn = np.asarray(lines[label].get_xdata())
        np.testing.assert_allclose(drawn, [each.regrets[k] for each in found])


def test_only_learners_that_foretell_are_calibrated() -> None:
    figure, observed = calibration_of_models(played()), played().observed
    assert figure is not None
    assert observed is not None
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    assert "exp3" not in lines
    found = calibration(observed.game, observed.runs[0])
    assert found is not None
    np.testing.assert_array_equal(lines["linear"].get_ydata(), found.came)


def test_only_models_that_listen_to_silence_have_a_share() -> None:
    figure = weight_of_silence(played())
    assert figure is not None
    assert [line.get_label() for line in figure.axes[0].lines] == ["linear"]


def test_without_such_learners_only_segments_are_drawn() -> None:
    plain = belated.compare(
        ["exp3", "uniform"], belated.scenario("visitors", rounds=60), repetitions=1
    )
    drawn = [name for name, draw in CONTEXT_FIGURES.items() if draw(plain) is not None]
    assert drawn == ["regret-by-segment"]


def test_the_page_has_them() -> None:
    text = report_html([played()])
    for title in ("regret by segment", "predicted", "learned", "silence"):
        assert title in text
    assert "best arm of each context" in text
