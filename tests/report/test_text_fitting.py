"""Text is measured in the font it is drawn in, and all text of every figure fits."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from matplotlib.font_manager import FontEntry

from belated.comparison.table import Table
from belated.report import figures
from belated.report.figure_parts import new_figure
from belated.report.formatting import display_width, shorten
from belated.report.style import figure_settings
from belated.report.svg import svg_text
from belated.report.text_fitting import MAX_LETTERS, cut_to_width, text_width, wrap_to_width
from benchmarks import figure as bench_figure
from benchmarks.bench import Bench
from benchmarks.catalogue import MEASURES
from benchmarks.measure import Effort, Measured, Result, at_most
from benchmarks.timing import Spread
from studies.ablation_figures import parts_figure, parts_of
from studies.experiments import EXPERIMENTS, experiment_named
from studies.published_figures import published_figure
from studies.study import BEST_OF_EACH
from studies.study_figures import study_figure
from tests.report.example_comparisons import ODD, unusual
from tests.report.legibility import check_all_is_legible
from tests.studies.test_ablation_figures import TABLE
from tests.studies.test_published import made

ARMS = (2, 10, 100, 1000, 10_000, None)
pytestmark = pytest.mark.usefixtures("font")


def test_text_is_measured_as_it_is_drawn() -> None:
    """The measured width is that of the drawn text, up to 5 %."""
    figure = new_figure(1.0)
    figure.set_dpi(400)
    for text in ("iiiillll....", "WWWWMMMM", "late best, 10 %", "under_score_and_$x_1$"):
        for size, weight in ((7.0, None), (9.5, "bold")):
            with figure_settings():
                written = figure.text(0.0, 0.5, text, fontsize=size, fontweight=weight)
                drawn = written.get_window_extent().width / figure.dpi
                assert text_width(text, size, weight) == pytest.approx(drawn, rel=0.05), text


@pytest.mark.parametrize("room", [0.1, 0.5, 1.0, 3.0])
def test_text_is_cut_or_wrapped_to_a_width(room: float) -> None:
    """Cut text is as long as possible; wrapped lines keep every word."""
    with figure_settings():
        for text in (*ODD, "W" * 300, "i" * 300):
            cut = cut_to_width(text, room, 8.0)
            assert text_width(cut, 8.0) <= room or cut == "…"
            if cut.endswith("…") and len(cut) < MAX_LETTERS:
                assert text_width(shorten(text, display_width(cut) + 3), 8.0) > room
        lines = wrap_to_width("as many words as there are in a line", room, 8.0).split("\n")
        assert " ".join(lines) == "as many words as there are in a line"
        assert all(text_width(line, 8.0) <= room or " " not in line for line in lines)


@pytest.mark.parametrize("case", ["odd labels", "many learners"])
def test_figures_of_comparisons_fit(case: str) -> None:
    """Long names and many learners fit into every figure of a comparison."""
    for name, draw in figures.FIGURES.items():
        figure = draw(unusual(case))
        if figure is not None:
            check_all_is_legible(figure, name)


@pytest.mark.parametrize("experts", [True, False])
def test_the_figure_of_the_study_fits(experts: bool) -> None:
    """Long names of learners and scenarios fit, and so does the longest note."""
    whole = [{**row, "against": BEST_OF_EACH} for row in TABLE]
    long = [
        {**row, "scenario": f"{row['scenario']}:gap=0.02,delay=500,arms=12,rounds=2000"}
        for row in whole
    ]
    for rows in (whole, long):
        named = [{**row, "learner": f"{row['learner']}, {ODD[3]}"} for row in rows]
        for table in (Table.of(rows), Table.of(named)):
            check_all_is_legible(study_figure(table, experts, "The study of held-out scenarios"))


def test_the_figure_of_parts_fits() -> None:
    """Long names of learners and of their parts fit."""
    for learner, parts in parts_of(TABLE).items():
        check_all_is_legible(parts_figure(learner, parts))
        unknown = [part._replace(changed=f"{part.changed} {ODD[3]}") for part in parts]
        check_all_is_legible(parts_figure(learner * 5, unknown))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_figures_of_published_experiments_fit(name: str) -> None:
    """Published numbers fit beside the measured ones."""
    outcome = made(experiment_named(name), lambda t: 7.0 * t**0.5)
    check_all_is_legible(published_figure(outcome))


def test_the_figure_of_the_benchmarks_fits() -> None:
    """Every measure with every number of arms fits, and a processor with a long name."""
    bench = Bench(Effort(quick=True))
    bench.machine["cpu"] = "Some Processor(R) of the Platinum Kind 8481C CPU @ 2.70GHz, 16 cores"
    for measure in MEASURES:
        for arms in ARMS:
            value = Spread(20.0, 19.0, 21.0)
            result = Result("a rival that has a name", value, arms=arms, goal=at_most(10.0))
            bench.measured.append(Measured(replace(measure), [result]))
    check_all_is_legible(bench_figure.figure(bench))


def test_the_fonts_of_a_machine_do_not_matter(
    on_a_machine_with: Callable[..., None], false_arial: list[FontEntry]
) -> None:
    """Other installed fonts do not change a byte of a figure."""
    few = unusual("least of all")
    alone = svg_text(figures.regret_over_time(few))
    on_a_machine_with(*false_arial)
    assert svg_text(figures.regret_over_time(few)) == alone
