"""The HTML report on one or several comparisons: one page that needs no other file."""

import hashlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from belated import __version__
from belated.analysis.statistics import estimate
from belated.comparison.feedback import FEEDBACK, groups_of
from belated.comparison.result import Comparison
from belated.comparison.run_environment import RunEnvironment
from belated.comparison.summary import DAGGER
from belated.report.findings import Finding, finding, overall_headline
from belated.report.formatting import EN_DASH, RHO, clean, listed, plus_minus_column
from belated.report.markup import definitions, element, escaped, paragraph, prose, table
from belated.report.references import references
from belated.report.repetitions import DRAWS_ONLY, Repetitions, repetitions_of
from belated.report.reproduction import how_to_repeat
from belated.types import Setting

if TYPE_CHECKING:
    from belated.report.sections import SectionHeading

CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
GLOSSARY = (
    ("Regret", "The expected loss of a learner minus the loss of the best single arm in the same "
     "game."),
    ("Outstanding", "A loss is outstanding, or missing, from the round after it was made until it "
     f"is known. It counts in {RHO} whether the arm was played or not."),
    (f"L<sub>T</sub> and L<sub>T</sub><sup>{RHO}</sup>", "The sum of an arm's losses, and the sum "
     "of its losses each multiplied by the number of its losses outstanding at the time."),
    ("Balanced comparator", "The mixture of arms with the smallest sum of loss and cost of delay. "
     "It is a fairer comparator than the best arm where that is known very late."),
    ("Bound", "The value that a theorem states for the regret in these games, with its constants. "
     f"A value with {DAGGER} is stated, but not proven to hold here: see What is proven."),
)  # fmt: skip
SOURCES = (
    "The errata are in docs/errata.md of belated, the proofs beyond the paper in "
    "docs/beyond-the-paper.md, and docs/comparing.md explains the columns."
)


def write_report(comparisons: Sequence[Comparison], path: str | Path) -> Path:
    """Write the HTML report on one or several comparisons to a file.

    An interrupted call leaves no incomplete file at `path`.
    """
    path = Path(path)
    check_report(path)
    if not comparisons:
        raise ValueError("there are 0 comparisons; a report needs at least 1")
    return write_page(report_html(comparisons), path)


def write_page(text: str, path: Path) -> Path:
    """Write an HTML page to a file; an interrupted call leaves no incomplete file."""
    partial = path.with_name(path.name + ".part")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
    return path


def check_report(path: Path) -> None:
    """Raise ValueError if no report can be written to this path; call it before long work."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{path.name} ends in {path.suffix!r}; a report must end in .html")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"{path} cannot be written; its folder does not exist")


def report_html(comparisons: Sequence[Comparison]) -> str:
    """Return the HTML page on these comparisons; equal comparisons give an equal page."""
    from belated.report.figures import stems
    from belated.report.sections import SectionHeading, comparison_section

    findings = [finding(each) for each in comparisons]
    names = zip(stems(comparisons), section_titles(comparisons), strict=True)
    headings = [SectionHeading(f"s{n}-{stem}", title) for n, (stem, title) in enumerate(names, 1)]
    several = len(comparisons) > 1
    parts = [
        comparison_section(comparison, heading, found if several else None)
        for comparison, heading, found in zip(comparisons, headings, findings, strict=True)
    ]
    headline = overall_headline(findings)
    main = "".join(
        [
            _overview(comparisons, findings, headings) if several else "",
            *parts,
            element("section", element("h2", "Glossary") + _glossary(comparisons), id="glossary"),
            element(
                "section", element("h2", "References") + _references(comparisons), id="sources"
            ),
            element(
                "section",
                element("h2", "How to reproduce this") + _how_made(comparisons, headings),
                id="made",
            ),
        ]
    )
    body = (
        _page_header(headline, findings)
        + element("main", main)
        + element("footer", f"Made by belated {__version__}. This page needs no other file.")
    )
    return f'<!doctype html>\n<html lang="en">{html_head(headline)}<body>{body}</body></html>\n'


def section_titles(comparisons: Sequence[Comparison]) -> list[str]:
    """Return the names of the scenarios, with numbers if a name occurs more than once."""
    names = [clean(each.environment.name) for each in comparisons]
    return [
        name if names.count(name) == 1 else f"{name} ({names[: n + 1].count(name)})"
        for n, name in enumerate(names)
    ]


def html_head(headline: str) -> str:
    """Return the head of a page that needs no other file."""
    style = files("belated.report").joinpath("page.css").read_text(encoding="utf-8")
    return (
        '<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{CONTENT_POLICY}">'
        f'<meta name="generator" content="belated {__version__}">'
        f'<link rel="icon" href="data:,"><title>{escaped(headline)}</title>'
        f"<style>{style}</style></head>"
    )


def _page_header(headline: str, findings: Sequence[Finding]) -> str:
    details = ""
    if len(findings) == 1:
        (found,) = findings
        apart = len(found.groups) > 1
        each = [(sentence,) for sentence in found.details] if apart else [found.details]
        details = "".join(paragraph(*sentences, class_="lead") for sentences in each)
    return element(
        "header",
        paragraph("Learning from late feedback: a comparison", class_="kicker")
        + element("h1", prose(headline))
        + details,
    )


def _overview(
    comparisons: Sequence[Comparison],
    findings: Sequence[Finding],
    headings: Sequence["SectionHeading"],
) -> str:
    """Return the table of contents with each finding, and a table of all regrets by setting."""
    items = "".join(
        element(
            "li",
            element("a", prose(heading.title), href=f"#{heading.stem}")
            + element("small", prose(f": {found.brief}")),
        )
        for found, heading in zip(findings, headings, strict=True)
    )
    contents = element("nav", element("ol", items), aria_label="Contents")
    present = [
        setting for setting in FEEDBACK if any(_members(each, setting) for each in comparisons)
    ]
    tables = [_regrets_table(setting, comparisons, findings, headings) for setting in present]
    return contents + "".join(tables)


def _members(comparison: Comparison, setting: Setting) -> list[int]:
    """Return the contenders of a setting, in the order in which they were given."""
    return sorted(
        k for group in groups_of(comparison) if group.setting is setting for k in group.members
    )


def _regrets_table(
    setting: Setting,
    comparisons: Sequence[Comparison],
    findings: Sequence[Finding],
    headings: Sequence["SectionHeading"],
) -> str:
    """Return the table of the regrets of one setting's learners in every scenario."""
    labels = list(
        dict.fromkeys(
            clean(each.labels[k]) for each in comparisons for k in _members(each, setting)
        )
    )
    rows = []
    for each, found, heading in zip(comparisons, findings, headings, strict=True):
        members = _members(each, setting)
        texts = plus_minus_column([estimate(each.regret(k)) for k in members])
        regrets = dict(zip((clean(each.labels[k]) for k in members), texts, strict=True))
        cells = [
            element("strong", regrets[label])
            if len(labels) > 1 and label in regrets and label in found.leaders
            else regrets.get(label, EN_DASH)
            for label in labels
        ]
        rows.append([escaped(heading.title), *cells])
    feedback = FEEDBACK[setting]
    caption = f"{feedback.title}. Regret in every scenario"
    if len(labels) > 1:
        caption += "; the lowest and those that cannot be told apart from it are bold"
    name = f"overview-{setting.value.replace(' ', '-')}"
    return table(name, caption, ["scenario", *map(escaped, labels)], rows)


def _references(comparisons: Sequence[Comparison]) -> str:
    reasons = [each.bound(k).why for each in comparisons for k in range(len(each.contenders))]
    return paragraph(SOURCES) + references(reasons)


def _glossary(comparisons: Sequence[Comparison]) -> str:
    played = [repetitions_of(each) for each in comparisons]
    unit = "games" if any(each.random for each in played) else "runs"
    intervals = f"95 % confidence intervals of a mean over the {unit} played."
    if not all(each.random for each in played):
        intervals += (
            f" Where all runs are of one game, they cover {DRAWS_ONLY} and say nothing about "
            "other games."
        )
    words = [*GLOSSARY, ("± and bands", intervals)]
    return definitions([(term, escaped(said)) for term, said in words])


def _how_made(comparisons: Sequence[Comparison], headings: Sequence["SectionHeading"]) -> str:
    """Return what reproduces the report: commands, seed, repetitions, versions, machine, date."""
    commands = dict.fromkeys(map(how_to_repeat, comparisons))
    said = "".join(element("pre", element("code", _lines(each))) for each in commands)
    seeds = listed([str(seed) for seed in dict.fromkeys(each.seed for each in comparisons)])
    played = [repetitions_of(each) for each in comparisons]
    random = any(each.random for each in played)
    same = "the same games" if random else "the same draws of the learners"
    found = list(
        dict.fromkeys(each.run_environment for each in comparisons if each.run_environment)
    )
    return definitions(
        [
            ("Command", said),
            ("Seed", escaped(f"{seeds}; the same seed gives {same}.")),
            ("Repetitions", escaped(_repetitions_sentence(played, headings))),
            *((name, escaped(listed(texts))) for name, texts in _facts(found).items() if texts),
        ]
    )


def _lines(text: str) -> str:
    """Escape text line by line."""
    return "\n".join(map(escaped, text.splitlines()))


def _facts(found: Sequence[RunEnvironment]) -> dict[str, list[str]]:
    """Return the versions, machines and dates of comparisons, each once."""
    return {
        "Versions": list(dict.fromkeys(each.software for each in found)),
        "Machine": list(dict.fromkeys(each.machine for each in found)),
        "Date": list(dict.fromkeys(each.date for each in found)),
    }


def _repetitions_sentence(
    played: Sequence[Repetitions], headings: Sequence["SectionHeading"]
) -> str:
    """State the number of repetitions, for each scenario if they differ."""
    said = [each.count_text for each in played]
    if len(set(said)) == 1:
        return f"For each learner {said[0]}."
    pairs = zip(said, headings, strict=True)
    return f"For each learner {'; '.join(f'{each} ({heading.title})' for each, heading in pairs)}."


def notebook_view(comparison: Comparison) -> str:
    """Return the results and the figure of regret over time as HTML for a notebook.

    Without matplotlib it contains the results only.
    """
    results = comparison.summary()._repr_html_()
    try:
        from belated.report import figures
    except ValueError:
        return results
    from belated.report import captions, svg

    digest = hashlib.sha256(results.encode()).hexdigest()[:12]
    described = captions.regret_over_time_caption(comparison).description
    picture = svg.svg_element(figures.regret_over_time(comparison), f"belated-{digest}-", described)
    style = "max-width: 40rem; background: white; padding: 0.5rem"
    return results + element("div", picture, style=style)
