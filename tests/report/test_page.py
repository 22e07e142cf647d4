"""The HTML report: its sentences match the numbers, it is well-formed, and it is self-contained."""

import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from belated import __version__
from belated.analysis.statistics import MeanEstimate
from belated.comparison.result import Comparison
from belated.report import page
from belated.report.context_figures import CONTEXT_FIGURES
from belated.report.figures import FIGURES
from belated.report.findings import Finding, GroupFinding, finding, overall_headline
from belated.report.formatting import (
    display_width,
    listed,
    number,
    number_column,
    percent,
    plus_minus,
    shorten,
)
from belated.report.page import notebook_view, report_html, write_report
from belated.types import Setting
from tests.report.example_comparisons import UNUSUAL, given, ordinary, unusual, with_regrets

VOID = {"meta", "link", "br"}
STEADY = [10.0, 11.0, 12.0, 13.0, 14.0, 15.0]


class Page(HTMLParser):
    """A parsed page; parsing fails if elements are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "title"):
            self.text += data.replace("\N{NO-BREAK SPACE}", " ")

    def all(self, tag: str) -> list[dict[str, str]]:
        """The attributes of all elements with this tag."""
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def both() -> Page:
    """A report of two comparisons."""
    return Page(report_html([ordinary(), unusual("odd labels")]))


def found(regrets: list[list[float]]) -> Finding:
    """The finding of the ordinary comparison with these regrets of its four learners."""
    return finding(with_regrets(ordinary(), regrets))


def among(regrets: list[list[float]]) -> Finding:
    """The finding of three bandits with these regrets, without the experts."""
    whole = with_regrets(ordinary(), [*regrets[:2], STEADY, regrets[2]])
    bandits = [0, 1, 3]
    return finding(
        replace(
            whole,
            contenders=tuple(whole.contenders[k] for k in bandits),
            traces=tuple(whole.traces[k] for k in bandits),
        )
    )


def test_a_clear_winner_is_named_with_the_difference() -> None:
    """Differences are paired by game, so their interval can be narrower than that of a mean."""
    shifted = [value + 2.0 for value in STEADY]
    result = among([shifted, STEADY, [value + 50.0 for value in STEADY]])
    (group,) = result.groups
    assert group.best == ("concealed (repaired)",)
    assert group.clear
    assert result.headline == (
        "concealed (repaired) had the lowest regret on late-best: 12.5 ± 2.0, "
        "2 (deterministic) less than concealed"
    )
    assert "zero lies outside its 95 % confidence interval" in result.details[0]


def test_a_difference_that_may_be_chance_has_no_clear_winner() -> None:
    """A learner whose interval of paired differences contains zero is named as a rival."""
    noisy = [value + noise for value, noise in zip(STEADY, [3, -3, 3, -3, 3, -2], strict=True)]
    result = among([noisy, STEADY, [value + 50.0 for value in STEADY]])
    (group,) = result.groups
    assert (group.best, group.rivals) == (("concealed (repaired)",), ("concealed",))
    assert not group.clear
    assert result.headline.endswith("12.5 ± 2.0; concealed cannot be told apart from it")
    assert "zero lies within this 95 % confidence interval" in result.details[0]


def test_a_rival_need_not_be_second() -> None:
    """The second varies with the first and is clearly worse; the third varies alone."""
    noisy = [value + 1.0 + noise for value, noise in zip(STEADY, [9, -9] * 3, strict=True)]
    result = among([STEADY, [value + 0.5 for value in STEADY], noisy])
    assert result.brief == (
        "concealed had the lowest regret: 12.5 ± 2.0; uniform cannot be told apart from it"
    )
    assert (result.groups[0].best, result.groups[0].rivals) == (("concealed",), ("uniform",))
    assert "concealed and uniform differ by 1 ± 10: zero lies within this" in result.details[0]


def test_learners_with_equal_regret_are_both_best() -> None:
    """Both are named, and the next learner is compared with them."""
    result = among([STEADY, STEADY, [value + 3.0 for value in STEADY]])
    assert result.groups[0].best == ("concealed", "concealed (repaired)")
    assert result.brief == (
        "concealed and concealed (repaired) had the lowest regret: 12.5 ± 2.0, "
        "3 (deterministic) less than uniform"
    )
    assert not result.groups[0].clear


def test_experts_and_bandits_are_never_in_one_ranking() -> None:
    """Each setting has a finding; the headline names the best of each with several learners."""
    result = found([[value + 9.0 for value in STEADY], [90.0] * 6, STEADY, [1.0 + 20.0] * 6])
    experts, bandits = result.groups
    assert experts.best == ("full-information",)
    assert bandits.best + bandits.rivals == ("uniform", "concealed")
    assert result.headline == (
        "late-best: uniform had the lowest regret of the bandits, 21 (deterministic), but not "
        "clearly"
    )
    said = "full-information, alone among the experts, had a regret of 12.5 ± 2.0."
    assert any(detail.startswith(said) for detail in result.details)
    assert "experts observe the losses of all arms" in result.details[-1]


def test_equal_regrets_have_no_winner() -> None:
    """Regrets that differ only by rounding count as equal."""
    result = among([STEADY, [value + 1e-13 for value in STEADY], STEADY])
    assert result.headline == "All learners had the same regret on late-best: 12.5 ± 2.0"
    assert len(result.groups[0].best) == 3


def test_a_regret_below_zero_is_explained() -> None:
    """A sentence says that the learner did better than any single arm."""
    result = among([[-value for value in STEADY], STEADY, STEADY])
    assert "\N{MINUS SIGN}12.5 ± 2.0" in result.headline
    assert any("better than any single arm" in detail for detail in result.details)


def test_one_game_has_no_interval() -> None:
    """The page says that nothing can be concluded about chance."""
    result = finding(unusual("one repetition"))
    assert "nothing can be said about chance" in result.details[0]
    assert "±" not in result.headline
    assert "nan" not in result.headline


def test_one_learner_is_not_compared() -> None:
    """The headline is the regret of the only learner."""
    assert finding(unusual("one learner")).headline.startswith("concealed had a regret of ")


def of(setting: Setting, best: tuple[str, ...], rivals: tuple[str, ...] = ()) -> GroupFinding:
    """The finding of one setting with two learners."""
    return GroupFinding(setting, "", (), best, rivals, len(best) == 1 and not rivals, 2)


def test_several_scenarios_are_counted() -> None:
    """The headline counts how often a learner is best, and how often clearly, in each setting."""

    def said(*groups: GroupFinding) -> str:
        return overall_headline([Finding("", "", (), (group,)) for group in groups])

    bandits = Setting.CONCEALED
    sure = {name: of(bandits, (name,)) for name in "ac"}
    close, equal = of(bandits, ("a",), ("b",)), of(bandits, ("a", "b"))
    lowest = "had the lowest regret in"
    assert said(sure["a"], sure["a"], sure["c"]) == f"a {lowest} 2 of 3 scenarios"
    assert said(sure["a"], close, sure["c"]) == f"a {lowest} 2 of 3 scenarios, clearly in 1"
    assert said(sure["a"], close) == f"a {lowest} both scenarios, clearly in 1"
    assert said(close, sure["c"]) == f"c {lowest} 1 of 2 scenarios"
    assert said(sure["a"], sure["c"]) == f"a and c {lowest} 1 of 2 scenarios each"
    assert said(equal, equal, equal) == f"a and b {lowest} all 3 scenarios each, but not clearly"
    experts = of(Setting.FULL_INFORMATION, ("e",))
    both = Finding("", "", (), (experts, sure["a"]))
    assert overall_headline([both, both]) == (
        "e had the lowest regret of the experts in both scenarios; "
        "a had the lowest regret of the bandits in both scenarios"
    )


def test_scenarios_may_have_any_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeated names are numbered, and no name collides with an id of the page."""
    monkeypatch.setattr("belated.report.sections.svg_element", lambda *given: "<svg></svg>")
    names = ("words", "words", "s1-words", "overview", "", "words-results")
    few = unusual("least of all")
    games = [replace(few, environment=replace(few.environment, name=name)) for name in names]
    read = Page(report_html(games))
    ids = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert "words (1)" in read.text
    assert "words (2)" in read.text


@pytest.mark.parametrize("case", UNUSUAL)
def test_pages_of_unusual_comparisons_are_well_formed(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every element is closed, and no number is shown as nan, inf or None."""
    monkeypatch.setattr("belated.report.sections.svg_element", lambda *given: "<svg></svg>")
    read = Page(report_html([unusual(case)]))
    assert len(read.all("figure")) in (4, 5, 6)
    assert not re.search(r"\bnan\b|\bNone\b|\binf\b", read.text)


def test_ids_are_unique_and_links_have_targets(both: Page) -> None:
    """Sections with the same kinds of figures have different ids."""
    ids = [attributes["id"] for _, attributes in both.elements if "id" in attributes]
    assert not [name for name, count in Counter(ids).items() if count > 1]
    for tag, attributes in both.elements:
        target = attributes.get("href", "#made").removeprefix("#")
        assert tag == "link" or target in ids
        assert attributes.get("aria-labelledby", "made") in ids


def test_figures_and_tables_are_accessible(both: Page) -> None:
    """Figures have descriptions, table headings a scope, and the page a language."""
    pictures = [each for each in both.all("svg") if each.get("role") == "img"]
    assert len(pictures) > len(FIGURES) - len(CONTEXT_FIGURES)  # games without contexts
    assert all(len(each["aria-label"]) > 40 for each in pictures)
    assert all(each.get("scope") in ("row", "col", "rowgroup") for each in both.all("th"))
    assert len(both.all("caption")) == len(both.all("table")) == 6
    assert both.all("html") == [{"lang": "en"}]
    assert len(both.all("h1")) == 1


def test_the_page_loads_nothing(both: Page) -> None:
    """It has no script and no address, and its content policy forbids both."""
    for tag, attributes in both.elements:
        assert tag not in ("script", "iframe", "object", "img")
        assert not attributes.keys() & {"src", "srcset", "action"}
        assert attributes.get("href", "#")[0] == "#" or attributes["href"] == "data:,"
    text = report_html([ordinary()])
    assert "http" not in text.replace('http-equiv="', "")
    assert "default-src 'none'" in text


def test_labels_are_escaped(both: Page) -> None:
    """A label that contains a script appears as text."""
    assert "<script>alert('&amp;')</script>" in both.text
    assert "a <b>learner</b> & co_with_$ a <b>learner" in both.text
    assert "costs $5 or $6" in both.text


def test_the_page_tells_how_it_was_made(both: Page) -> None:
    """It states command, versions, machine, date and seed; one finding is the headline."""
    assert "belated compare late-best -r 6 --report 'a & b.html'" in both.text
    assert f"belated {__version__}, Python " in both.text
    assert re.search(r"Date\d{4}-\d\d-\d\d \d\d:\d\d UTC", both.text)
    assert re.search(r"Machine\w+ on \w+, \d+ cores?", both.text)
    assert "For each learner 6 games (late-best); one game, 2 runs (<i>a name" in both.text
    alone = Page(report_html([replace(ordinary(), command="")]))
    assert finding(ordinary()).headline in alone.text
    assert "belated.compare(['concealed', 'concealed:variant=repaired'" in alone.text
    assert "environment, repetitions=6, seed=1)" in alone.text
    assert not alone.all("nav")


def test_the_page_contains_arms_and_bounds(both: Page) -> None:
    """Every arm has its sums, and every learner its bound with the reason."""
    comparison = ordinary()
    losses = np.mean([sums.losses for sums in comparison.game_sums], axis=0)
    missing = np.mean([sums.missing_losses for sums in comparison.game_sums], axis=0)
    for text in (*number_column(losses.tolist()), *number_column(missing.tolist())):
        assert text in both.text
    for k in range(len(comparison.labels)):
        bound = comparison.bound(k)
        assert bound.why[1:] in both.text
        assert bound.value is None or number(bound.value) in both.text
    certificate = comparison.certificate(2)
    assert certificate is not None
    assert number(certificate) in both.text


def test_runs_of_one_game_are_not_called_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without randomness in the game, all texts say that only the learners' draws vary."""
    monkeypatch.setattr("belated.report.sections.svg_element", lambda *given: "<svg></svg>")
    read = Page(report_html([given()]))
    assert "60 rounds, 2 arms, one game, 5 runs, seed 1" in read.text
    assert "For each learner one game, 5 runs." in read.text
    assert "Over 5 runs of one game, " in read.text
    assert "interval, which covers the learners' own draws only" in read.text
    assert "the mean of 5 runs of one game, with bands" in read.text
    assert "Ticks: runs, all of the same game" in read.text
    assert "mean of all runs ± half" in read.text
    assert "a mean over the runs played" in read.text
    assert not re.search(r"\d games|mean of all games|game by game|games are the same", read.text)
    alone = replace(given(), repetitions=(0,), game_sums=given().game_sums[:1])
    alone = replace(alone, traces=tuple(traces[:1] for traces in given().traces), asked=1)
    assert "Only one run was played" in finding(alone).details[0]


def test_an_interrupted_comparison_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both places that count repetitions say so; a complete comparison does not."""
    monkeypatch.setattr("belated.report.sections.FIGURES", {})
    read = Page(report_html([replace(ordinary(), asked=30)]))
    assert "3 arms, 6 of 30 games, interrupted, seed 1" in read.text
    assert "For each learner 6 of 30 games, interrupted." in read.text
    runs = Page(report_html([replace(given(), asked=8)]))
    assert "one game, 5 of 8 runs, interrupted" in runs.text
    for asked in (0, 6):
        assert "interrupted" not in Page(report_html([replace(ordinary(), asked=asked)])).text


def test_delays_of_some_rounds_are_called_a_sample(
    both: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table of arms and the caption say so if not all rounds were examined."""
    assert "sample" not in both.text
    monkeypatch.setattr("belated.report.sections.svg_element", lambda *given: "<svg></svg>")
    game_sums = tuple(
        replace(sums, delays=replace(sums.delays, sampled=250)) for sums in ordinary().game_sums
    )
    read = Page(report_html([replace(ordinary(), game_sums=game_sums)]))
    assert "delays from a sample of 250 of 600 rounds" in read.text
    assert "Computed from a sample of 250 of the 600 rounds." in read.text


def test_an_unproven_bound_has_a_dagger(both: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caption explains the dagger; the reason is below the table, not in it."""
    comparison = ordinary()
    stated, proven = comparison.bound(0), comparison.bound(1)
    assert (stated.applies, proven.applies) == (False, True)
    assert stated.value is not None
    assert proven.value is not None
    monkeypatch.setattr("belated.report.sections.FIGURES", {})
    text = report_html([comparison])
    column = [comparison.bound(k).value for k in (2, 1, 0, 3)]
    texts = dict(zip((2, 1, 0, 3), number_column(column), strict=True))
    assert f"<td>{texts[0]}†</td>" in text
    assert f"<td>{texts[1]}</td>" in text
    assert "† stated, not proven" in both.text
    assert f"<td>{stated.why}" not in text
    only = replace(comparison, contenders=comparison.contenders[1:2], traces=comparison.traces[1:2])
    assert "† stated" not in Page(report_html([only])).text


def test_lower_bounds_are_for_the_mean_number_of_missing_losses(both: Page) -> None:
    """The lower bounds use the mean number of missing losses as a constant delay."""
    missing = [sums.mean_missing for sums in ordinary().game_sums]
    delay = round(float(np.mean(missing)))
    assert f"Order only, for a constant delay of {delay} rounds: " in both.text


def test_the_page_counts_the_arms_that_are_not_shown() -> None:
    """The table of 60 arms says how many it leaves out."""
    read = Page(report_html([unusual("many arms")]))
    assert "of 60 arms, 52 are not shown" in read.text


def test_the_report_appears_only_when_it_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure leaves the old report unchanged and no other file."""
    path = tmp_path / "report.html"
    path.write_text("old")

    def broken(comparisons: list[Comparison]) -> str:
        raise RuntimeError("half way")

    monkeypatch.setattr(page, "report_html", broken)
    with pytest.raises(RuntimeError):
        write_report([ordinary()], path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_same_comparison_gives_the_same_report(tmp_path: Path) -> None:
    """Files are equal byte for byte, also through Comparison.report."""
    first = write_report([ordinary()], tmp_path / "a.html")
    second = ordinary().report(str(tmp_path / "b.html"))
    assert first == tmp_path / "a.html"
    assert first.read_bytes() == second.read_bytes()
    assert sorted(tmp_path.iterdir()) == [first, second]


def test_bad_requests_are_refused(tmp_path: Path) -> None:
    """No comparison, a missing folder and a wrong suffix each raise one sentence."""
    with pytest.raises(ValueError, match="there are 0 comparisons; a report needs at least 1"):
        write_report([], tmp_path / "report.html")
    with pytest.raises(ValueError, match="cannot be written; its folder does not exist"):
        write_report([ordinary()], tmp_path / "no" / "report.html")
    with pytest.raises(ValueError, match=r"report.txt ends in '.txt'; a report must end in .html"):
        write_report([ordinary()], tmp_path / "report.txt")
    assert not list(tmp_path.iterdir())


def test_a_notebook_shows_table_and_figure() -> None:
    """Views of two comparisons have no ids in common."""
    first, second = notebook_view(ordinary()), ordinary()._repr_html_()
    assert first == second
    other = Page(notebook_view(unusual("one learner")))
    read = Page(first)
    assert len(read.all("table")) == 1
    assert len([each for each in read.all("svg") if each.get("role") == "img"]) == 1
    ids = [{each["id"] for _, each in view.elements if "id" in each} for view in (read, other)]
    assert ids[0]
    assert not ids[0] & ids[1]


@pytest.mark.parametrize(
    ("mean", "half", "shown"),
    [
        (1234.5, 32.1, "1,234 ± 32"),
        (412.34, 3.21, "412.3 ± 3.2"),
        (0.5, 0.0123, "0.500 ± 0.012"),
        (117.0, 1e-14, "117 (deterministic)"),
        (-381.2, 349.0, "\N{MINUS SIGN}381 ± 349"),
        (7.25, float("nan"), "7.25"),
    ],
)
def test_means_have_the_digits_of_their_intervals(mean: float, half: float, shown: str) -> None:
    """Intervals have two digits, and the mean as many decimals."""
    values = (np.float64(mean), np.float64(half / 2.0), np.float64(half))
    assert plus_minus(MeanEstimate(*values)) == shown  # type: ignore[arg-type]


def test_lists_percentages_and_cut_names() -> None:
    """Names are joined with "and", small shares keep digits, and long names are cut."""
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert [percent(share) for share in (0.0, 1e-6, 0.0123, 0.5, 1.0, -0.094)] == [
        "0 %",
        "under 0.01 %",
        "1.2 %",
        "50 %",
        "100 %",
        "\N{MINUS SIGN}9.4 %",
    ]
    assert shorten("a label", 7) == "a label"
    assert shorten("a label b", 8) == "a label…"
    assert display_width(shorten("\u4e2d" * 40, 20)) <= 20
