"""The numbers of the README and of the pages that quote them: those of the tables in docs/."""

import csv
import re
from collections.abc import Iterable
from pathlib import Path
from statistics import mean

import pytest

from studies.judge import read_runs

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
ALONE = "reversing"  # the scenario without which the study is also summed up


def rows_of(table: str) -> list[dict[str, str]]:
    """Return the rows of a table in docs/."""
    with (DOCS / table).open(newline="") as file:
        return list(csv.DictReader(file))


def percent(shares: Iterable[str]) -> int:
    """Return the mean of shares of uniform play's regret, as a percentage."""
    return round(100.0 * mean(map(float, shares)))


def of_the_study(learner: str, without: str = "") -> int:
    """Return a learner's mean over the scenarios of the study."""
    return percent(
        row["of uniform"]
        for row in rows_of("study.csv")
        if row["learner"] == learner and row["scenario"] != without
    )


def on(scenario: str, learner: str) -> int:
    """Return a learner's result on one scenario of the study."""
    [share] = [
        row["of uniform"]
        for row in rows_of("study.csv")
        if (row["learner"], row["scenario"]) == (learner, scenario)
    ]
    return percent([share])


def with_contexts(learner: str) -> int:
    """Return a learner's mean over the worlds with contexts."""
    return percent(
        row["of uniform"]
        for row in rows_of("contexts-study.csv")
        if (row["learner"], row["against"]) == (learner, "true means")
    )


def row_of(text: str, games: str) -> str:
    """Return the row of the README's table that is about these games."""
    [row] = [line for line in text.splitlines() if line.startswith("|") and games in line]
    return row


def numbers(row: str) -> list[int]:
    """Return the numbers after the first column of a row."""
    return [int(each) for each in re.findall(r"(?<![\w-])\d+(?!\w)", row.split("|", 2)[2])]


def test_the_readme_says_what_the_study_found() -> None:
    """Means over all scenarios, and without the one that favours delayed-ucb1."""
    text = (ROOT / "README.md").read_text()
    bandits = ("practical-bandit", "thompson", "delayed-ucb1")
    first, experts = [line for line in text.splitlines() if line.startswith("| 21 scenarios")]
    assert numbers(first) == [of_the_study(each) for each in bandits]
    assert numbers(row_of(text, "without the scenario")) == [
        of_the_study(each, ALONE) for each in bandits
    ]
    others = {
        row["learner"]
        for row in rows_of("study.csv")
        if row["is told"] == "full information" and not row["learner"].startswith("practical")
    }
    next_best = min(of_the_study(each) for each in others)
    assert numbers(experts) == [of_the_study("practical-experts"), next_best]


def test_the_readme_names_where_they_lose() -> None:
    """On a falling market."""
    text = " ".join((ROOT / "README.md").read_text().split())
    bandit, thompson, experts = (
        on("limit-orders-falling", each)
        for each in ("practical-bandit", "thompson", "practical-experts")
    )
    assert f"the bandit has {bandit} and Thompson sampling {thompson}" in text
    assert f"the experts have {experts}" in text


def test_the_readme_says_what_the_study_of_contexts_found() -> None:
    """The learner `linear`, Vowpal Wabbit at its best, and learners without contexts."""
    row = row_of((ROOT / "README.md").read_text(), "worlds with contexts")
    chosen = ("linear", "vw squarecb, best form", "thompson")
    assert numbers(row) == [with_contexts(each) for each in chosen]


def test_the_readme_says_what_the_judge_set_found() -> None:
    """228 worlds, by the same means as `python -m studies judge --kept docs/judge.csv`."""
    row = row_of((ROOT / "README.md").read_text(), "kept from the design")
    table = {each["learner"]: each for each in read_runs(DOCS / "judge.csv").table()}
    chosen = ("practical-bandit", "thompson", "leading-arm")
    assert numbers(row) == [round(float(table[each]["share"])) for each in chosen]


@pytest.mark.parametrize("page", ["how-to-choose.md", "study.md"])
def test_pages_quote_the_same_means(page: str) -> None:
    """The pages on choosing and on the study say the same as the README."""
    text = " ".join((DOCS / page).read_text().split())
    bandit, thompson, leader = map(of_the_study, ("practical-bandit", "thompson", "leading-arm"))
    assert f"{bandit} %" in text
    assert f"Thompson sampling {thompson} % and following the leader {leader} %" in text
    assert f"`delayed-ucb1` has {of_the_study('delayed-ucb1')} %" in text or (
        f"`delayed-ucb1` ({of_the_study('delayed-ucb1')} %)" in text
    )
    assert f"bandit has {of_the_study('practical-bandit', ALONE)} %" in text
