"""The report: one page of HTML that says what was found, shows it, and needs no other file."""

import hashlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from belated import __version__
from belated.analysis.statistics import estimate
from belated.comparison.result import Comparison
from belated.report.findings import Finding, finding, overall
from belated.report.formatting import NONE, RHO, UNPROVEN, clean, listed, plus_minus
from belated.report.markup import definitions, element, escaped, paragraph, sentence, table
from belated.report.repetitions import DRAWS_ONLY, Games, games_of

if TYPE_CHECKING:
    from belated.report.sections import Place

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
WORDS = (
    ("Regret", "What a learner lost in expectation, less what the best single arm lost in the "
     "same game."),
    ("Missing", "A loss is missing from the round after it was made until it is known. It "
     f"counts in {RHO} whether the arm was played or not."),
    (f"L<sub>T</sub> and L<sub>T</sub><sup>{RHO}</sup>", "The sum of an arm's losses; and the same "
     "with each loss multiplied by how many losses of the arm were missing at the time."),
    ("Balanced comparator", "The mixture of arms for which loss plus the cost of learning it under "
     "delay is least: a fairer goal than the best arm where that is known very late."),
    ("Bound", "What a theorem says of the regret in these very games, its constants included. "
     f"With {UNPROVEN} it is stated, but not proven to hold here: see What is proven."),
)  # fmt: skip


def write_report(comparisons: Sequence[Comparison], path: str | Path) -> Path:
    """Write the report of one or several comparisons; the file appears only when it is complete."""
    path = Path(path)
    check_report(path)
    if not comparisons:
        raise ValueError("there are 0 comparisons; a report needs at least 1")
    text = document(comparisons)
    partial = path.with_name(path.name + ".part")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
    return path


def check_report(path: Path) -> None:
    """Refuse a file that no report can be written to, before any work is done for it."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{path.name} ends in {path.suffix!r}; a report must end in .html")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"{path} cannot be written; its folder does not exist")


def document(comparisons: Sequence[Comparison]) -> str:
    """The whole page; the same comparisons give the same page."""
    from belated.report.figures import stems
    from belated.report.sections import Place, section

    findings = [finding(each) for each in comparisons]
    names = zip(stems(comparisons), titles(comparisons), strict=True)
    places = [Place(f"s{n}-{stem}", title) for n, (stem, title) in enumerate(names, 1)]
    several = len(comparisons) > 1
    parts = [
        section(comparison, place, found if several else None)
        for comparison, place, found in zip(comparisons, places, findings, strict=True)
    ]
    headline = overall(findings)
    main = "".join(
        [
            _overview(comparisons, findings, places) if several else "",
            *parts,
            element("section", element("h2", "The words") + _glossary(comparisons), id="words"),
            element(
                "section",
                element("h2", "How it was made") + _made(comparisons, places),
                id="made",
            ),
        ]
    )
    body = (
        _header(headline, findings)
        + element("main", main)
        + element("footer", f"Made by belated {__version__}. This page needs no other file.")
    )
    return f'<!doctype html>\n<html lang="en">{_head(headline)}<body>{body}</body></html>\n'


def titles(comparisons: Sequence[Comparison]) -> list[str]:
    """The scenarios by name, numbered where a name comes twice."""
    names = [clean(each.environment.name) for each in comparisons]
    return [
        name if names.count(name) == 1 else f"{name} ({names[: n + 1].count(name)})"
        for n, name in enumerate(names)
    ]


def _head(headline: str) -> str:
    style = files("belated.report").joinpath("page.css").read_text(encoding="utf-8")
    return (
        '<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="generator" content="belated {__version__}">'
        f'<link rel="icon" href="data:,"><title>{escaped(headline)}</title>'
        f"<style>{style}</style></head>"
    )


def _header(headline: str, findings: Sequence[Finding]) -> str:
    details = findings[0].details if len(findings) == 1 else ()
    return element(
        "header",
        paragraph("Learning from late feedback: a comparison", class_="kicker")
        + element("h1", sentence(headline))
        + paragraph(*details, class_="lead"),
    )


def _overview(
    comparisons: Sequence[Comparison], findings: Sequence[Finding], places: Sequence["Place"]
) -> str:
    """The contents, each with its finding, and every regret in one table."""
    items = "".join(
        element(
            "li",
            element("a", sentence(place.title), href=f"#{place.stem}")
            + element("small", sentence(f": {found.brief}")),
        )
        for found, place in zip(findings, places, strict=True)
    )
    labels = list(dict.fromkeys(clean(label) for each in comparisons for label in each.labels))
    rows = []
    for each, found, place in zip(comparisons, findings, places, strict=True):
        regrets = {
            clean(label): plus_minus(estimate(each.regret(k)))
            for k, label in enumerate(each.labels)
        }
        cells = [
            element("strong", regrets[label])
            if label in (*found.best, *found.rivals)
            else regrets.get(label, NONE)
            for label in labels
        ]
        rows.append([escaped(place.title), *cells])
    caption = (
        "Regret of every learner in every scenario; the lowest and what cannot be told apart from "
        "it in bold"
    )
    return element("nav", element("ol", items), aria_label="Contents") + table(
        "overview", caption, ["scenario", *map(escaped, labels)], rows
    )


def _glossary(comparisons: Sequence[Comparison]) -> str:
    played = [games_of(each) for each in comparisons]
    unit = "games" if any(each.random for each in played) else "runs"
    intervals = f"95 % confidence intervals of a mean over the {unit} played."
    if not all(each.random for each in played):
        intervals += (
            f" Where all runs are of one game, they cover {DRAWS_ONLY} and say nothing of other "
            "games."
        )
    words = [*WORDS, ("± and bands", intervals)]
    return definitions([(term, escaped(said)) for term, said in words])


def _made(comparisons: Sequence[Comparison], places: Sequence["Place"]) -> str:
    """What to type to get the same."""
    commands = list(dict.fromkeys(clean(each.command) for each in comparisons if each.command))
    if commands:
        said = "".join(element("pre", element("code", escaped(each))) for each in commands)
    else:
        said = escaped("Made in Python, by belated's compare, without a command.")
    seeds = listed([str(seed) for seed in dict.fromkeys(each.seed for each in comparisons)])
    played = [games_of(each) for each in comparisons]
    random = any(each.random for each in played)
    same = "the same games to every learner" if random else "the same draws to the learners"
    return definitions(
        [
            ("Command", said),
            ("Version", escaped(f"belated {__version__}")),
            ("Seed", escaped(f"{seeds}; the same seed gives {same}.")),
            ("Repetitions", escaped(_repetitions(played, places))),
        ]
    )


def _repetitions(played: Sequence[Games], places: Sequence["Place"]) -> str:
    """How many for each learner, by scenario if they differ."""
    said = [each.said for each in played]
    if len(set(said)) == 1:
        return f"For each learner {said[0]}."
    pairs = zip(said, places, strict=True)
    return f"For each learner {'; '.join(f'{each} ({place.title})' for each, place in pairs)}."


def notebook_view(comparison: Comparison) -> str:
    """The table and the regret over time, for a notebook; the table alone without matplotlib."""
    results = comparison.table().without("why")._repr_html_()
    try:
        from belated.report import figures
    except ValueError:
        return results
    from belated.report import captions, svg

    digest = hashlib.sha256(results.encode()).hexdigest()[:12]
    described = captions.regret_over_time(comparison).description
    picture = svg.fragment(figures.regret_over_time(comparison), f"belated-{digest}-", described)
    style = "max-width: 40rem; background: white; padding: 0.5rem"
    return results + element("div", picture, style=style)
