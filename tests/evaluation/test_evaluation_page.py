"""The HTML report: one page that needs nothing else, with six figures that say what they show."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import belated
from belated.evaluation import log_figures, value_figures
from belated.evaluation.evaluate import Evaluation
from tests.evaluation.test_evaluate import log_of

FIGURES = (
    value_figures.values,
    value_figures.values_in_parts,
    value_figures.confidence_sequences,
    log_figures.weights,
    log_figures.delay_laws,
    log_figures.overlap,
)


@pytest.fixture(scope="module")
def found() -> Evaluation:
    """An evaluation with a learner among the policies, and names that HTML would misread."""
    policies = {"<b>red</b> & co": "red", "uniform": "uniform", "$x$": "learner:exp3"}
    log = log_of(rows=400)
    return belated.evaluate(log, policies, silence="missing", draws=30, command="belated evaluate")


def test_the_page(found: Evaluation, tmp_path: Path) -> None:
    """It is well-formed, asks for nothing outside, and has the six figures with descriptions."""
    path = found.report(tmp_path / "page.html")
    text = path.read_text()
    HTMLParser().feed(text)
    assert text.count("<figure") == 6
    assert len(re.findall(r'<svg[^>]*aria-label="[^"]{20,}', text)) == 6
    assert "&lt;b&gt;red&lt;/b&gt; &amp; co" in text
    assert "<b>red" not in text
    assert not re.search(r'(src|href)="(?!data:|#)', text)
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert not list(tmp_path.glob("*.part"))


def test_a_page_of_bounds_only(tmp_path: Path) -> None:
    """It says so first."""
    found = belated.evaluate(log_of(rows=200), {"u": "uniform"})
    text = found.report(tmp_path / "page.html").read_text()
    assert "<h1>Only bounds can be given on the log</h1>" in text
    assert "Declare silence" in text


@pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)
def test_figures_say_what_they_show(draw: object, found: Evaluation) -> None:
    """Each has a title, and its axes have labels."""
    figure = draw(found)  # type: ignore[operator]
    assert figure.get_suptitle().startswith("the log: ")
    assert figure.axes[0].get_xlabel()


def test_a_report_must_end_in_html(found: Evaluation, tmp_path: Path) -> None:
    """As other reports."""
    with pytest.raises(ValueError, match=r"a report must end in \.html"):
        found.report(tmp_path / "page.txt")
