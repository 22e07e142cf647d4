"""Figures show the numbers of a comparison, work for unusual ones, and have no side effects."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from belated.analysis.bounds import Bound
from belated.comparison.compare import compare
from belated.comparison.result import Comparison
from belated.report import captions, figures
from belated.report.arm_figures import MOST_DOTS
from belated.report.arms import FEW_ARMS, MOST_ARMS, summarise_arms
from belated.report.context_figures import CONTEXT_FIGURES
from belated.report.figure_parts import new_figure
from belated.report.formatting import EN_DASH
from belated.report.point_labels import label_points
from belated.report.style import BOUND_DASHES, RATE_SHADES, SETTINGS, SHADES, learner_styles, shades
from belated.report.svg import svg_element, svg_text
from belated.report.weight_figures import learners_with_weights
from tests.report.example_comparisons import UNUSUAL, environment, ordinary, unusual, with_regrets
from tests.report.legibility import check_all_is_legible


def texts(figure: Figure) -> list[str]:
    """All non-empty texts of a figure."""
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]  # type: ignore[attr-defined]


def lightness(colour: object) -> float:
    """The lightness of a colour when printed in grey."""
    return float(np.dot(to_rgb(colour), (0.2126, 0.7152, 0.0722)))  # type: ignore[arg-type]


def with_bound(monkeypatch: pytest.MonkeyPatch, value: float | None, applies: bool = True) -> None:
    """Give every learner this bound."""
    bound = Bound("Theorem T", value, applies, "for a test")
    monkeypatch.setattr(Comparison, "bound", lambda self, contender: bound)


def with_rates_of(rates: list[list[float]], weights: list[float]) -> Comparison:
    """One learner with rates[r] in game r and constant weights on its rates."""
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
def test_every_figure_is_drawn_for_unusual_comparisons(case: str) -> None:
    """All text is legible, and matplotlib's global settings are restored."""
    before = dict(mpl.rcParams)
    for name, draw in figures.FIGURES.items():
        figure = draw(unusual(case))
        if figure is None:
            assert name in ("rate-weights", "arm-weights", *CONTEXT_FIGURES)
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


def test_a_near_bound_is_a_dash_dotted_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line is drawn at the bound's value, and its theorem is named."""
    highest = max(float(ordinary().regret(k).mean()) for k in range(4))
    with_bound(monkeypatch, 1.2 * highest)
    figure = figures.regret_over_time(ordinary())
    axes = figure.axes[0]
    drawn = [line for line in axes.lines if set(line.get_ydata()) == {1.2 * highest}]
    assert len(drawn) == 4
    assert all(line.get_linestyle() == "--" and line.is_dashed() for line in drawn)
    assert axes.get_ylim()[1] > 1.2 * highest
    assert any("Theorem T" in text for text in texts(figure))


def test_an_unproven_bound_is_not_drawn_as_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if it is near, an unproven bound is only written, with a dagger."""
    value = 1.2 * max(float(ordinary().regret(k).mean()) for k in range(4))
    for applies, lines in ((True, 4), (False, 0)):
        with_bound(monkeypatch, value, applies)
        over_time, last = figures.regret_over_time(ordinary()), figures.final_regret(ordinary())
        drawn = [line for line in over_time.axes[0].lines if set(line.get_ydata()) == {value}]
        marks = [each.get_datalim(last.axes[0].transData) for each in last.axes[0].collections]
        assert len(drawn) == lines
        assert sum(mark.x0 == mark.x1 == value for mark in marks) == lines
        assert any("†" in text for text in texts(last)) is not applies
        assert any("Theorem T" in text for text in texts(over_time)) is applies


def test_a_distant_bound_does_not_change_the_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound far beyond the regrets is written with an arrow instead."""
    with_bound(monkeypatch, None)
    limits = figures.regret_over_time(ordinary()).axes[0].get_ylim()
    with_bound(monkeypatch, 1e6)
    figure = figures.regret_over_time(ordinary())
    assert figure.axes[0].get_ylim() == limits
    assert not any("Theorem T" in text for text in texts(figure))
    last = figures.final_regret(ordinary())
    assert last.axes[0].get_xlim()[1] < 1e5
    assert "bound 1,000,000 →" in texts(last)


@pytest.mark.parametrize("applies", [True, False])
def test_an_unproven_bound_has_a_dagger(monkeypatch: pytest.MonkeyPatch, applies: bool) -> None:
    """The figure marks an unproven bound and explains the dagger; a proven bound has none."""
    with_bound(monkeypatch, 1e6, applies)
    mark = "" if applies else "†"
    written = texts(figures.final_regret(ordinary()))
    assert f"bound 1,000,000{mark} →" in written
    assert any("† stated, not proven" in text for text in written) is not applies


def test_figures_without_bounds_do_not_mention_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """No text contains the word bound if no learner has one."""
    with_bound(monkeypatch, None)
    for draw in (figures.regret_over_time, figures.final_regret):
        assert not any("bound" in text for text in texts(draw(ordinary())))


def test_final_regret_is_ordered_and_exact() -> None:
    """Learners of a setting are in order of regret, each with its mean and interval."""
    values = [[30.0, 32.0, 34.0] * 2, [10.0, 11.0, 12.0] * 2, [20.0] * 6, [50.0, 70.0] * 3]
    figure = figures.final_regret(with_regrets(ordinary(), values))
    written = texts(figure)
    names = [text for text in written if text in ordinary().labels]
    assert names == ["full-information", "concealed (repaired)", "concealed", "uniform"]
    assert written.index("Experts: observe the losses of all arms") < written.index(names[0])
    assert "11.00 ± 0.94" in written
    assert "20.00 (deterministic)" in written


def test_regrets_that_differ_by_decades_have_a_logarithmic_axis() -> None:
    """Both regret figures say so at the axis; regrets of one size are on a linear one."""
    near = [[40.0 + r for r in range(6)], [10.0 + r for r in range(6)], [20.0] * 6, [60.0] * 6]
    far = [[16.0 + r for r in range(6)], [35.0] * 6, [2.0] * 6, [5169.0 + r for r in range(6)]]
    for values, scale in ((near, "linear"), (far, "symlog")):
        comparison = with_regrets(ordinary(), values)
        over_time = figures.regret_over_time(comparison).axes[0]
        last = figures.final_regret(comparison).axes[0]
        assert over_time.get_yscale() == last.get_xscale() == scale
        for label in (over_time.get_ylabel(), last.get_xlabel()):
            assert ("logarithmic above 1" in label) is (scale == "symlog")
        check_all_is_legible(last.figure)
        check_all_is_legible(over_time.figure)


def test_every_figure_from_python() -> None:
    """`plot` draws each by its name, some of them into given axes, and refuses other names."""
    comparison = ordinary()
    for kind in figures.FIGURES:
        drawn = comparison.plot(kind)
        assert (drawn is None) is (figures.FIGURES[kind](comparison) is None)
    for kind in figures.DRAWN_INTO:
        axes = Figure(figsize=(5, 4)).add_subplot()
        assert comparison.plot(kind, ax=axes) is axes.figure
        assert axes.lines
    with pytest.raises(ValueError, match=r"kind is 'delay'.*did you mean 'delays'"):
        comparison.plot("delay")
    with pytest.raises(ValueError, match="arm-weights has several panels"):
        comparison.plot("arm-weights", ax=Figure().add_subplot())


def test_figures_that_show_nothing_are_left_out() -> None:
    """One arm has all the weight, one rate has almost all of it, and uniform play never changes."""
    assert figures.arm_weights(unusual("one arm")) is None
    assert figures.arm_weights(unusual("least of all")) is None
    assert figures.rate_weights(with_rates_of([[0.1, 0.2]] * 2, [0.01, 0.99])) is None
    assert figures.rate_weights(with_rates_of([[0.1, 0.2]] * 2, [0.1, 0.9])) is not None
    assert "uniform" not in [axes.get_title(loc="left") for axes in _panels(ordinary())]


def _panels(comparison: Comparison) -> list[Axes]:
    figure = figures.arm_weights(comparison)
    assert figure is not None
    return list(figure.axes)


def test_the_plane_shows_arms_and_paths_of_learners() -> None:
    """Circles are at (missing, loss) of the arms, and each path ends at the final average."""
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


def test_delays_show_quantiles_and_losses_that_never_arrive() -> None:
    """The dot is the median; an infinite quantile is an arrow at the edge."""
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
    """In every panel the bands reach from 0 to 100 %, with the best arm lowest."""
    comparison = ordinary()
    figure = figures.arm_weights(comparison)
    assert figure is not None
    for panel, k in enumerate(learners_with_weights(comparison)):
        axes = figure.axes[panel]
        bands = [band.get_datalim(axes.transData) for band in axes.collections]
        assert bands[0].y0 == 0.0
        assert bands[-1].y1 == pytest.approx(100.0)
        best = 100.0 * comparison.weights_over_time(k)[:, 0].max()
        assert bands[0].y1 == pytest.approx(best)


def test_rates_are_shown_for_learners_with_several() -> None:
    """Learners with different rates have a panel; without such a learner there is no figure."""
    figure = figures.rate_weights(with_rates_of([[0.1, 0.2]] * 2, [0.4, 0.6]))
    assert figure is not None
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["full-information"]
    assert figures.rate_weights(unusual("one learner")) is None


def test_rates_that_differ_between_games_are_ranges() -> None:
    """A rate is the range of its values in all games; rates equal in every game are merged."""
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


def test_rates_that_hardly_differ_are_one_number() -> None:
    """Differences beyond the second digit are not shown as a range."""
    close = with_rates_of([[0.1, 0.2001], [0.1, 0.2003]], weights=[0.4, 0.6])
    caption = captions.rate_weights_caption(close).text
    assert "has 60 % on 0.2." in caption
    assert "the highest" not in caption


def test_the_most_important_of_many_arms_are_shown() -> None:
    """The best arm, the comparator's and those of largest weight are shown; others are counted."""
    comparison = unusual("many arms")
    arms = summarise_arms(comparison)
    assert arms.shown.size == MOST_ARMS
    assert arms.hidden == 60 - MOST_ARMS
    assert {arms.best, arms.favoured} <= set(arms.shown)
    assert (np.diff(arms.losses[arms.shown]) >= 0.0).all()
    weighed = max(range(4), key=lambda k: comparison.mean_weights(k).max())
    assert int(comparison.mean_weights(weighed).argmax()) in arms.shown
    weights = arms.share(comparison.weights_over_time(0))
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert any("52" in text for text in texts(figures.arm_weights(comparison)))
    few = summarise_arms(compare(["uniform"], environment(20, FEW_ARMS), repetitions=1))
    assert few.hidden == 0


def test_the_balanced_comparators_arm_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is shown even if it is the worst arm and no learner gives it weight."""
    worst = summarise_arms(unusual("many arms")).losses.argmax()
    monkeypatch.setattr(Comparison, "balanced", property(lambda self: [np.eye(60)[worst]] * 2))
    arms = summarise_arms(unusual("many arms"))
    assert arms.favoured == worst
    assert worst in arms.shown


def test_labels_of_points_stay_inside_and_apart() -> None:
    """A label at the right edge goes to the left, and close points share a label."""
    axes = new_figure(3.0).add_subplot(xlim=(0.0, 1.0), ylim=(0.0, 1.0))
    points = np.array([[0.97, 0.5], [0.1, 0.2], [0.11, 0.2], [0.1, 0.8]])
    label_points(axes, points, ["a name at the edge", "left", "same", "free"], [])
    places = {text.get_text(): (text.get_ha(), text.get_position()[0]) for text in axes.texts}
    assert set(places) == {"a name at the edge", "left and same", "free"}
    assert places["a name at the edge"] == ("right", pytest.approx(0.94))
    assert places["free"] == ("left", pytest.approx(0.13))


def test_figures_of_thousands_of_arms_stay_small() -> None:
    """Every figure is drawn, and no line of it has thousands of points."""
    comparison = compare(["uniform"], environment(10, 5_000), repetitions=1)
    for draw in figures.FIGURES.values():
        figure = draw(comparison)
        points = (
            [len(line.get_xdata()) for axes in figure.axes for line in axes.lines] if figure else []
        )
        assert max(points, default=0) <= MOST_DOTS


def test_learners_differ_without_colour() -> None:
    """Twelve learners differ in dashes or marker, and none has the dashes of a bound."""
    drawn = learner_styles(unusual("many learners"))
    assert len({(str(style.dashes), style.marker) for style in drawn}) == len(drawn)
    assert len(set(drawn)) == len(drawn)
    assert BOUND_DASHES not in [style.dashes for style in drawn]


@pytest.mark.parametrize("ramp", [SHADES, RATE_SHADES])
def test_shades_differ_without_colour(ramp: tuple[str, ...]) -> None:
    """Shades go from dark to light in steps that are visible in grey."""
    steps = np.diff([lightness(colour) for colour in shades(FEW_ARMS, ramp)])
    assert (steps > 0.02).all()


def test_pyplot_knows_nothing_of_our_figures() -> None:
    """Plotting a comparison adds no figure to pyplot."""
    from matplotlib import pyplot

    ordinary().plot()
    assert pyplot.get_fignums() == []


def test_a_users_settings_do_not_matter() -> None:
    """A user's matplotlib settings do not change a figure."""
    few = unusual("least of all")
    plain = svg_text(figures.regret_over_time(few))
    with mpl.rc_context({"font.size": 30.0, "axes.facecolor": "black", "text.parse_math": True}):
        assert svg_text(figures.regret_over_time(few)) == plain


def test_threads_draw_the_same_figures() -> None:
    """Figures drawn by several threads at once equal those drawn one by one."""
    comparisons = [unusual(case) for case in ("one learner", "one round", "least of all")]

    def drawn(comparison: Comparison) -> str:
        return svg_text(figures.final_regret(comparison))

    alone = list(map(drawn, comparisons))
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(drawn, comparisons)) == alone


def test_labels_are_written_as_they_are() -> None:
    """Dollar signs, tags and underscores appear literally."""
    written = " ".join(texts(figures.delay_distributions(unusual("odd labels"))))
    for label in ("costs $5 or $6", "under_score_and_$x_1$", "<script>alert('&amp;'"):
        assert label in written
    assert "bell null line break" in written
    legend = figures.arm_weights(unusual("odd labels")).legends[0]
    assert " _hidden" in [text.get_text() for text in legend.get_texts()]


def test_svg_elements_can_share_a_page() -> None:
    """Their ids differ, they refer only to their own ids, and they contain no style element."""
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
    """Files in both formats contain the command, and saving again gives equal bytes."""
    drawn = {"final-regret": figures.final_regret, "rate-weights": figures.rate_weights}
    monkeypatch.setattr(figures, "FIGURES", drawn)
    monkeypatch.setitem(SETTINGS, "savefig.dpi", 50)
    folder = tmp_path / "new" / "figures"
    rates = replace(with_rates_of([[0.1, 0.2]] * 2, [0.4, 0.6]), command=ordinary().command)
    paths = figures.save_figures([rates, unusual("one learner")], folder)
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
    again = figures.save_figures([rates], tmp_path / "again")
    assert [path.read_bytes() for path in again] == [picture, drawing]


def test_bad_requests_are_refused(tmp_path: Path) -> None:
    """An unknown format and a file in place of the folder raise before anything is written."""
    with pytest.raises(ValueError, match="format is 'gif'; it must be one of png, svg, pdf"):
        figures.save_figures([ordinary()], tmp_path / "folder", ["png", "gif"])
    assert not (tmp_path / "folder").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="is a file; figures need a folder"):
        figures.save_figures([ordinary()], tmp_path / "file")


def test_a_figure_shows_itself_in_a_notebook() -> None:
    """The figure of Comparison.plot has an SVG representation without pyplot."""
    figure = unusual("least of all").plot()
    assert "<svg" in figure._repr_svg_()  # type: ignore[attr-defined]


def test_without_matplotlib_one_sentence_says_what_to_install() -> None:
    """Plot and report raise this sentence; a notebook still shows the table."""
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
