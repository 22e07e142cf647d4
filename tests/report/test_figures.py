"""Figures: they show the numbers of the comparison, survive any comparison, and disturb nobody."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from belated.analysis.bounds import Bound
from belated.comparison.compare import compare
from belated.comparison.result import Comparison
from belated.report import captions, figures
from belated.report.arm_figures import MOST_DOTS
from belated.report.arms import FEW_ARMS, MOST_ARMS, summarise_arms
from belated.report.drawing import new_figure
from belated.report.formatting import EN_DASH
from belated.report.point_labels import label_points
from belated.report.style import BOUND_DASHES, RATE_SHADES, SETTINGS, SHADES, learner_styles, shades
from belated.report.svg import svg_element, svg_text
from tests.report.example_comparisons import UNUSUAL, environment, ordinary, unusual, with_regrets
from tests.report.legibility import check_all_is_legible


def texts(figure: Figure) -> list[str]:
    """Everything that is written in a figure."""
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]  # type: ignore[attr-defined]


def lightness(colour: object) -> float:
    """How light a colour is on a black and white print."""
    return float(np.dot(to_rgb(colour), (0.2126, 0.7152, 0.0722)))  # type: ignore[arg-type]


def with_bound(monkeypatch: pytest.MonkeyPatch, value: float | None, applies: bool = True) -> None:
    """Let every learner have this bound."""
    bound = Bound("th:test", value, applies, "for a test")
    monkeypatch.setattr(Comparison, "bound", lambda self, contender: bound)


def with_rates_of(rates: list[list[float]], weights: list[float]) -> Comparison:
    """A learner with these rates in each of two games, and the same weights on them throughout."""
    whole = ordinary()
    traces = tuple(
        replace(
            trace,
            rates=np.array(own),
            rate_weight_at=np.tile(weights, (trace.checkpoints.size, 1)),
        )
        for trace, own in zip(whole.traces[2], rates, strict=False)
    )
    return replace(
        whole,
        contenders=whole.contenders[2:3],
        repetitions=whole.repetitions[:2],
        game_sums=whole.game_sums[:2],
        traces=(traces,),
    )


@pytest.mark.parametrize("case", UNUSUAL)
def test_every_figure_survives(case: str) -> None:
    """Whatever the comparison, all figures are drawn, all text is legible, no setting is left."""
    before = dict(mpl.rcParams)
    for name, draw in figures.FIGURES.items():
        figure = draw(unusual(case))
        if figure is None:
            assert name == "rate-weights"
            continue
        check_all_is_legible(figure, name)
    assert dict(mpl.rcParams) == before


def test_regret_over_time_shows_means_and_bands() -> None:
    """Each learner's line ends at its mean regret, and its band is as wide as its interval."""
    comparison = ordinary()
    axes = figures.regret_over_time(comparison).axes[0]
    lines = {line.get_label(): line for line in axes.lines}
    for k, label in enumerate(comparison.labels):
        curve = comparison.regret_over_time(k)
        assert lines[label].get_ydata()[0] == 0.0
        np.testing.assert_allclose(lines[label].get_ydata()[1:], curve.mean)
        band = axes.collections[k].get_datalim(axes.transData)
        assert band.y1 == pytest.approx((curve.mean + curve.half_width).max())


def test_a_bound_within_reach_is_a_dash_dotted_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is drawn at its value, and its theorem is named."""
    highest = max(float(ordinary().regret(k).mean()) for k in range(4))
    with_bound(monkeypatch, 1.2 * highest)
    figure = figures.regret_over_time(ordinary())
    axes = figure.axes[0]
    drawn = [line for line in axes.lines if set(line.get_ydata()) == {1.2 * highest}]
    assert len(drawn) == 4
    assert all(line.get_linestyle() == "--" and line.is_dashed() for line in drawn)
    assert axes.get_ylim()[1] > 1.2 * highest
    assert any("th:test" in text for text in texts(figure))


def test_a_bound_that_is_not_proven_is_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """However near it is: it is written, with its dagger, and nothing is drawn at its value."""
    value = 1.2 * max(float(ordinary().regret(k).mean()) for k in range(4))
    for applies, lines in ((True, 4), (False, 0)):
        with_bound(monkeypatch, value, applies)
        over_time, last = figures.regret_over_time(ordinary()), figures.final_regret(ordinary())
        drawn = [line for line in over_time.axes[0].lines if set(line.get_ydata()) == {value}]
        marks = [each.get_datalim(last.axes[0].transData) for each in last.axes[0].collections]
        assert len(drawn) == lines
        assert sum(mark.x0 == mark.x1 == value for mark in marks) == lines
        for written in (texts(over_time), texts(last)):
            assert any("†" in text for text in written) is not applies


def test_a_bound_far_above_does_not_squash_the_plot(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is written with an arrow instead."""
    with_bound(monkeypatch, None)
    limits = figures.regret_over_time(ordinary()).axes[0].get_ylim()
    with_bound(monkeypatch, 1e6)
    figure = figures.regret_over_time(ordinary())
    assert figure.axes[0].get_ylim() == limits
    assert any("↑ uniform: 1,000,000 (th:test)" in text for text in texts(figure))
    last = figures.final_regret(ordinary())
    assert last.axes[0].get_xlim()[1] < 1e5
    assert "bound 1,000,000 →" in texts(last)


@pytest.mark.parametrize("applies", [True, False])
def test_a_bound_that_is_not_proven_is_marked(
    monkeypatch: pytest.MonkeyPatch, applies: bool
) -> None:
    """With a dagger and what it means, in both figures; a proven one without."""
    with_bound(monkeypatch, 1e6, applies)
    mark = "" if applies else "†"
    over_time = texts(figures.regret_over_time(ordinary()))
    assert any(f"↑ uniform: 1,000,000{mark} (th:test)" in text for text in over_time)
    last = texts(figures.final_regret(ordinary()))
    assert f"bound 1,000,000{mark} →" in last
    for written in (over_time, last):
        assert any("† stated, not proven" in text for text in written) is not applies


def test_without_a_bound_nothing_is_said_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """No line, no note."""
    with_bound(monkeypatch, None)
    for draw in (figures.regret_over_time, figures.final_regret):
        assert not any("bound" in text for text in texts(draw(ordinary())))


def test_final_regret_is_ordered_and_exact() -> None:
    """The lowest regret comes first, each with its mean and interval."""
    values = [[30.0, 32.0, 34.0] * 2, [10.0, 11.0, 12.0] * 2, [20.0] * 6, [50.0, 70.0] * 3]
    figure = figures.final_regret(with_regrets(ordinary(), values))
    written = texts(figure)
    names = [text for text in written if text in ordinary().labels]
    assert names == ["concealed (repaired)", "full-information", "concealed", "uniform"]
    assert "11.00 ± 0.94" in written
    assert "20 ± 0" in written


def test_the_plane_shows_arms_and_where_the_weight_went() -> None:
    """Circles stand at (missing, loss) of the arms, marks where the last weights put a learner."""
    comparison = ordinary()
    arms = summarise_arms(comparison)
    axes = figures.loss_delay_plane(comparison).axes[0]
    places = np.stack([arms.mean_missing, arms.losses / arms.rounds], axis=1)
    np.testing.assert_allclose(axes.collections[0].get_offsets(), places[arms.shown])
    lines = {line.get_label(): line for line in axes.lines}
    for k, label in enumerate(comparison.labels):
        end = comparison.weights_over_time(k)[-1] @ places
        np.testing.assert_allclose(lines[label].get_xydata()[-1], end)
    for name in ("late best", "prompt good", "prompt bad"):
        assert any(name in text for text in texts(axes.figure))


def test_delays_show_quantiles_and_what_never_comes() -> None:
    """The dot is the median; what lies among losses that never come is an arrow."""
    axes = figures.delay_distributions(ordinary()).axes[0]
    dots = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert dots == [40.0, 0.0, 2.0]
    lost = figures.delay_distributions(unusual("never known"))
    arrows = [line for line in lost.axes[0].lines if line.get_marker() == ">"]
    edge = lost.axes[0].get_xlim()[1]
    assert [line.get_xdata()[0] for line in arrows] == [edge] * 12
    assert not [line for line in lost.axes[0].lines if line.get_marker() == "o"]
    assert texts(lost).count("100 %") == 12


def test_arm_weights_add_up() -> None:
    """In every panel the bands reach from nothing to everything, the best arm lowest."""
    comparison = ordinary()
    figure = figures.arm_weights(comparison)
    for k in range(len(comparison.labels)):
        bands = [band.get_datalim(figure.axes[k].transData) for band in figure.axes[k].collections]
        assert bands[0].y0 == 0.0
        assert bands[-1].y1 == pytest.approx(100.0)
        best = 100.0 * comparison.weights_over_time(k)[:, 0].max()
        assert bands[0].y1 == pytest.approx(best)


def test_rates_are_shown_where_they_are_learned() -> None:
    """A panel for each learner that weighs rates which differ, and no figure without one."""
    figure = figures.rate_weights(ordinary())
    assert figure is not None
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["full-information"]
    assert figures.rate_weights(unusual("one learner")) is None


def test_rates_that_differ_between_games_are_ranges() -> None:
    """A rate has the values of all games; only what is equal in all of them is one."""
    few = with_rates_of([[0.1, 0.1, 0.2], [0.1, 0.1, 0.4]], weights=[0.1, 0.3, 0.6])
    figure, caption = figures.rate_weights(few), captions.rate_weights_caption(few).text
    assert figure is not None
    written = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert written == [f"0.2{EN_DASH}0.4: 60 %", "0.1: 40 %"]
    assert f"on 0.2{EN_DASH}0.4." in caption
    assert "from the lowest to the highest of all games" in caption
    apart = figures.rate_weights(
        with_rates_of([[0.1, 0.1, 0.1], [0.1, 0.12, 0.2]], [0.2, 0.3, 0.5])
    )
    assert apart is not None
    written = [text.get_text() for text in apart.axes[0].get_legend().get_texts()]
    assert written == [f"0.1{EN_DASH}0.2: 50 %", f"0.1{EN_DASH}0.12: 30 %", "0.1: 20 %"]


def test_rates_that_hardly_differ_are_means() -> None:
    """What no reader would tell apart is one number."""
    close = with_rates_of([[0.1, 0.2001], [0.1, 0.2003]], weights=[0.4, 0.6])
    caption = captions.rate_weights_caption(close).text
    assert "has 60 % on 0.2." in caption
    assert "the highest" not in caption


def test_of_many_arms_those_that_matter_are_shown() -> None:
    """The best, the balanced comparator's first and the most weighed; the rest is counted."""
    comparison = unusual("many arms")
    arms = summarise_arms(comparison)
    assert arms.shown.size == MOST_ARMS
    assert arms.hidden == 300 - MOST_ARMS
    assert {arms.best, arms.favoured} <= set(arms.shown)
    assert (np.diff(arms.losses[arms.shown]) >= 0.0).all()
    weighed = max(range(4), key=lambda k: comparison.mean_weights(k).max())
    assert int(comparison.mean_weights(weighed).argmax()) in arms.shown
    weights = arms.share(comparison.weights_over_time(0))
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert any("292" in text for text in texts(figures.arm_weights(comparison)))
    few = summarise_arms(compare(["uniform"], environment(20, FEW_ARMS), repetitions=1))
    assert few.hidden == 0


def test_the_balanced_comparators_arm_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if it is the worst, and no learner cares for it."""
    worst = summarise_arms(unusual("many arms")).losses.argmax()
    monkeypatch.setattr(Comparison, "balanced", property(lambda self: [np.eye(300)[worst]] * 2))
    arms = summarise_arms(unusual("many arms"))
    assert arms.favoured == worst
    assert worst in arms.shown


def test_names_stay_inside_and_off_each_other() -> None:
    """A name at the right edge is written to the left, and points at one place share one."""
    axes = new_figure(3.0).add_subplot(xlim=(0.0, 1.0), ylim=(0.0, 1.0))
    points = np.array([[0.97, 0.5], [0.1, 0.2], [0.11, 0.2], [0.1, 0.8]])
    label_points(axes, points, ["a name at the edge", "left", "same", "free"], [])
    places = {text.get_text(): (text.get_ha(), text.get_position()[0]) for text in axes.texts}
    assert set(places) == {"a name at the edge", "left and same", "free"}
    assert places["a name at the edge"] == ("right", pytest.approx(0.94))
    assert places["free"] == ("left", pytest.approx(0.13))


def test_thousands_of_arms() -> None:
    """Every figure of them is drawn, and none of them draws thousands of things."""
    comparison = compare(["uniform"], environment(10, 5_000), repetitions=1)
    for draw in figures.FIGURES.values():
        figure = draw(comparison)
        points = (
            [len(line.get_xdata()) for axes in figure.axes for line in axes.lines] if figure else []
        )
        assert max(points, default=0) <= MOST_DOTS


def test_learners_differ_without_colour() -> None:
    """No two of a dozen have the same dashes and marker, and none the dashes of a bound."""
    drawn = learner_styles(unusual("many learners"))
    assert len({(str(style.dashes), style.marker) for style in drawn}) == len(drawn)
    assert len(set(drawn)) == len(drawn)
    assert BOUND_DASHES not in [style.dashes for style in drawn]


@pytest.mark.parametrize("ramp", [SHADES, RATE_SHADES])
def test_shades_differ_without_colour(ramp: tuple[str, ...]) -> None:
    """From dark to light, each step seen in grey."""
    steps = np.diff([lightness(colour) for colour in shades(FEW_ARMS, ramp)])
    assert (steps > 0.02).all()


def test_pyplot_knows_nothing_of_our_figures() -> None:
    """Whoever uses it finds no figure that is not theirs."""
    from matplotlib import pyplot

    ordinary().plot()
    assert pyplot.get_fignums() == []


def test_a_users_settings_do_not_matter() -> None:
    """The same figure under any style."""
    few = unusual("least of all")
    plain = svg_text(figures.regret_over_time(few))
    with mpl.rc_context({"font.size": 30.0, "axes.facecolor": "black", "text.parse_math": True}):
        assert svg_text(figures.regret_over_time(few)) == plain


def test_threads_draw_what_one_would() -> None:
    """Figures drawn at the same time are the same."""
    comparisons = [unusual(case) for case in ("one learner", "one round", "least of all")]

    def drawn(comparison: Comparison) -> str:
        return svg_text(figures.final_regret(comparison))

    alone = list(map(drawn, comparisons))
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(drawn, comparisons)) == alone


def test_labels_are_written_as_they_are() -> None:
    """Dollars, tags and underscores are no commands."""
    written = " ".join(texts(figures.delay_distributions(unusual("odd labels"))))
    for label in ("costs $5 or $6", "under_score_and_$x_1$", "<script>alert('&amp;'"):
        assert label in written
    assert "bell null line break" in written
    legend = figures.arm_weights(unusual("odd labels")).legends[0]
    assert " _hidden" in [text.get_text() for text in legend.get_texts()]


def test_fragments_share_a_page() -> None:
    """Their ids differ, everything they refer to is their own, and they carry no styles."""
    seen: set[str] = set()
    drawn = [figures.arm_weights(unusual("many arms")), figures.final_regret(ordinary())]
    for count, figure in enumerate(drawn):
        text = svg_element(figure, f"f{count}.", "what <it> shows")
        root = ElementTree.fromstring(text)
        ids = [each.get("id") for each in root.iter() if each.get("id")]
        assert len(ids) == len(set(ids))
        assert not seen & set(ids)
        seen |= set(ids)
        for each in root.iter():
            href = each.get("href")
            assert href is None or href[1:] in ids
            assert "url(#" not in str(each.attrib) or any(
                f"url(#{i})" in str(each.attrib) for i in ids
            )
        assert root.get("aria-label") == "what <it> shows"
        assert root.get("role") == "img"
        assert not list(root.iter("style"))


def test_figures_are_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In both formats, in a folder that is made for them, with the command inside, always alike."""
    drawn = {"final-regret": figures.final_regret, "rate-weights": figures.rate_weights}
    monkeypatch.setattr(figures, "FIGURES", drawn)
    monkeypatch.setitem(SETTINGS, "savefig.dpi", 50)
    folder = tmp_path / "new" / "figures"
    paths = figures.save_figures([ordinary(), unusual("one learner")], folder)
    assert sorted(paths) == sorted(folder.iterdir())
    assert {path.name for path in paths} == {
        "late-best-final-regret.png",
        "late-best-final-regret.svg",
        "late-best-rate-weights.png",
        "late-best-rate-weights.svg",
        "late-best-2-final-regret.png",
        "late-best-2-final-regret.svg",
    }
    picture, drawing = (path.read_bytes() for path in paths[:2])
    assert picture.startswith(b"\x89PNG")
    assert b"belated compare late-best" in picture
    assert "belated compare late-best" in "".join(ElementTree.fromstring(drawing).itertext())
    monkeypatch.setattr(figures, "FIGURES", {"final-regret": figures.final_regret})
    again = figures.save_figures([ordinary()], tmp_path / "again")
    assert [path.read_bytes() for path in again] == [picture, drawing]


def test_bad_requests_are_refused(tmp_path: Path) -> None:
    """An unknown format and a folder that is a file, before anything is written."""
    with pytest.raises(ValueError, match="format is 'gif'; it must be one of png, svg, pdf"):
        figures.save_figures([ordinary()], tmp_path / "folder", ["png", "gif"])
    assert not (tmp_path / "folder").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="is a file; figures need a folder"):
        figures.save_figures([ordinary()], tmp_path / "file")


def test_a_figure_shows_itself_in_a_notebook() -> None:
    """Comparison.plot gives a figure that is SVG without pyplot."""
    figure = unusual("least of all").plot()
    assert "<svg" in figure._repr_svg_()  # type: ignore[attr-defined]


def test_without_matplotlib_one_sentence() -> None:
    """What to install, and the table in a notebook all the same."""
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from belated.environments.scenarios import scenario\n"
        "from belated.comparison.compare import compare\n"
        "found = compare(['uniform'], scenario('late-best', rounds=20), repetitions=1)\n"
        "assert '<table>' in found._repr_html_() and '<svg' not in found._repr_html_()\n"
        "try:\n    found.plot()\n"
        "except ValueError as error:\n    print(error)\n"
        "try:\n    found.report('report.html')\n"
        "except ValueError as error:\n    print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    sentence = "figures need matplotlib: pip install 'belated[report]'"
    assert run.stdout.splitlines() == [sentence, sentence], run.stderr
