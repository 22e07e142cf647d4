"""The section of a report about one comparison: results, figures, arms and bounds."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from belated.analysis.bounds import Bound
from belated.arrays import Floats
from belated.comparison.feedback import FEEDBACK
from belated.comparison.result import Comparison
from belated.comparison.summary import DAGGER, DAGGER_NOTE
from belated.report.arms import ArmSummary, summarise_arms
from belated.report.captions import CAPTIONS
from belated.report.figures import FIGURES
from belated.report.findings import Finding, Ranking, rankings_of
from belated.report.formatting import (
    EN_DASH,
    RHO,
    any_unproven,
    counted,
    number,
    number_column,
    percent,
    plus_minus_column,
)
from belated.report.markup import (
    definitions,
    element,
    escaped,
    grouped_table,
    paragraph,
    prose,
    table,
)
from belated.report.references import linked
from belated.report.repetitions import Repetitions, repetitions_of
from belated.report.style import Style, learner_styles
from belated.report.svg import svg_element

RESULT_COLUMNS = (
    "learner", "regret", "gap to the best", "against balanced", "bound", "regret / bound",
    "loss per round", "µs per round",
)  # fmt: skip
ARM_COLUMNS = (
    "arm", "loss per round", "L<sub>T</sub>", f"L<sub>T</sub><sup>{RHO}</sup>", "mean outstanding",
    "largest number outstanding", "mean delay", "median delay", "90th percentile of delay",
    "never known", "balanced comparator",
)  # fmt: skip


class SectionHeading(NamedTuple):
    """The title of a section, and the stem with which its ids begin."""

    stem: str
    title: str


def comparison_section(
    comparison: Comparison, heading: SectionHeading, found: Finding | None
) -> str:
    """Return the section about one comparison.

    `found` is None if the page's own headline already states the finding.
    """
    stem, environment = heading.stem, comparison.environment
    repetitions = repetitions_of(comparison)
    facts = (
        counted(environment.rounds, "round"),
        counted(environment.arms, "arm"),
        repetitions.count_text,
        f"seed {comparison.seed}",
        *losses_fact(comparison),
    )
    parts = [
        element("h2", escaped(heading.title)),
        paragraph(", ".join(facts), class_="facts"),
        paragraph(environment.shows),
        lead_paragraphs(found) if found else "",
        results_table(comparison, stem),
        element("h3", "Figures"),
        element("div", "".join(figure_elements(comparison, stem)), class_="figures"),
        element("h3", "The arms"),
        arms_table(summarise_arms(comparison), repetitions, stem),
        element("h3", "What is proven"),
        bounds_list(comparison),
    ]
    return element("section", "".join(parts), id=stem)


def lead_paragraphs(found: Finding) -> str:
    """Return the finding in sentences, with a paragraph for each setting if there are several."""
    if len(found.groups) > 1:
        return "".join(paragraph(each, class_="lead") for each in found.details)
    return paragraph(f"{found.brief}.", *found.details, class_="lead")


def results_table(comparison: Comparison, stem: str) -> str:
    """Return the table of the learners, ranked among those of equal feedback."""
    rankings, drawn = rankings_of(comparison), learner_styles(comparison)
    order = [k for ranking in rankings for k in ranking.order]
    records = [list(comparison.table())[k] for k in order]
    stated = [comparison.bound(k) for k in order]
    regrets = [ranking.regrets[k] for ranking in rankings for k in ranking.order]
    balanced, per_round, times = (
        number_column([record[name] for record in records], most)
        for name, most in (("against balanced", 4), ("loss per round", 4), ("us per round", 2))
    )
    cells = zip(
        [_learner_name(drawn[k], comparison.labels[k]) for k in order],
        [element("strong", text) for text in plus_minus_column(regrets)],
        _gaps(rankings),
        balanced,
        map(_dagger_after, stated, number_column([bound.value for bound in stated])),
        [EN_DASH if each is None else percent(each) for each in _shares(records)],
        per_round,
        times,
        strict=True,
    )
    rows = iter(cells)
    groups = [
        (FEEDBACK[ranking.setting].title, [next(rows) for _ in ranking.order])
        for ranking in rankings
    ]
    unit = rankings[0].repetitions.unit
    caption = f"Learners by regret, mean of all {unit}s ± half of the 95 % confidence interval"
    if any_unproven(stated):
        caption += f"; {DAGGER_NOTE}"
    return grouped_table(f"{stem}-results", caption, RESULT_COLUMNS, groups)


def _gaps(rankings: Sequence[Ranking]) -> list[str]:
    """Return the gap of each learner to the best of its setting; the best has a dash."""
    gaps = {
        k: ranking.behind(k) for ranking in rankings for k in ranking.order if k != ranking.first
    }
    texts = dict(zip(gaps, plus_minus_column(list(gaps.values())), strict=True))
    return [texts.get(k, EN_DASH) for ranking in rankings for k in ranking.order]


def _shares(records: Sequence[Mapping[str, Any]]) -> list[float | None]:
    return [record["regret / bound"] for record in records]


def _dagger_after(bound: Bound, text: str) -> str:
    return text + (DAGGER if any_unproven([bound]) else "")


def _learner_name(style: Style, label: str) -> str:
    """Return a learner's name beside a sample of its line in the figures."""
    dashes = "" if style.dashes == "-" else " ".join(f"{1.7 * part:g}" for part in style.dashes[1])
    stroke = element(
        "path", d="M3 5H31", stroke=style.colour, stroke_width="2.2", stroke_dasharray=dashes
    )
    line = element("svg", stroke, class_="key", viewBox="0 0 34 10", aria_hidden="true")
    return element("span", line + element("span", escaped(label)), class_="named")


def figure_elements(comparison: Comparison, stem: str) -> Iterator[str]:
    """Yield each figure that the comparison has, with its caption."""
    for count, (name, draw) in enumerate(FIGURES.items()):
        figure = draw(comparison)
        if figure is not None:
            caption = CAPTIONS[name](comparison)
            picture = svg_element(figure, f"{stem}.{count}.", caption.description)
            yield element(
                "figure",
                picture + element("figcaption", prose(caption.text)),
                id=f"{stem}-{name}",
            )


def losses_fact(comparison: Comparison) -> list[str]:
    """Return the range of the losses, unless it is [0, 1]."""
    return [] if comparison.units.is_unit else [f"losses in {comparison.units}"]


def arms_table(arms: ArmSummary, repetitions: Repetitions, stem: str) -> str:
    """Return the table of losses, missing losses and delays of the arms shown."""
    delays = np.where(arms.never < 1.0, arms.mean_delay, np.nan)
    columns = [
        [escaped(arms.labels[i]) for i in arms.shown],
        _numbers(arms.losses / arms.rounds, arms),
        _numbers(arms.losses, arms),
        _numbers(arms.missing_losses, arms),
        _numbers(arms.mean_missing, arms),
        [f"{arms.most_missing[i]:,}" for i in arms.shown],
        _numbers(delays, arms),
        [_format_delay(arms.quantile(0.5)[i]) for i in arms.shown],
        [_format_delay(arms.quantile(0.9)[i]) for i in arms.shown],
        [percent(arms.never[i]) for i in arms.shown],
        [percent(arms.balanced[i]) for i in arms.shown],
    ]
    rows = [list(row) for row in zip(*columns, strict=True)]
    mean = ", mean of all games" if repetitions.random else ""
    caption = f"Losses and delays of the arms{mean}, the best arm first"
    if arms.sampled < arms.rounds:
        caption += f"; delays from a sample of {arms.sampled:,} of {arms.rounds:,} rounds"
    if arms.hidden:
        caption += f"; of {len(arms.labels):,} arms, {arms.hidden:,} are not shown"
    return table(f"{stem}-arms", caption, ARM_COLUMNS, rows)


def bounds_list(comparison: Comparison) -> str:
    """Return the regret bound of each learner with its reason, and the lower bounds."""
    pairs = [
        (escaped(label), linked(prose(_bound_sentences(comparison, k))))
        for k, label in enumerate(comparison.labels)
    ]
    pairs += [
        (
            escaped(f"Lower bound ({row['for']})"),
            prose(
                f"Order only, for a constant delay of {counted(row['delay'], 'round')}: "
                f"{number(row['order of regret'])}. Condition: {row['when'].split(';')[0]}. "
                f"Source: {row['origin']}."
            ),
        )
        for row in comparison.lower_bounds()
    ]
    return definitions(pairs)


def _bound_sentences(comparison: Comparison, k: int) -> str:
    bound, certificate = comparison.bound(k), comparison.certificate(k)
    if bound.value is None:
        said = f"{bound.why[0].upper()}{bound.why[1:]}."
        if certificate is not None:
            said = f"No bound beforehand: {bound.why}."
    else:
        certain = "Proven" if bound.applies else "Not proven"
        said = f"{bound.label}: regret ≤ {number(bound.value)}. {certain}: {bound.why}."
    if certificate is not None:
        said += f" Certificate computed from the run: regret ≤ {number(certificate)}."
    trust = comparison.trust(k)
    if trust is not None:
        said += (
            f" {100.0 * trust.share:.4g} % of its rounds were trusted. Its account C ended at "
            f"{number(trust.account)} on average, within a budget b of {number(trust.budget)}. In "
            f"every game C is at most b + {number(comparison.units.width)}. C of an arm bounds the "
            "expected regret against it in the trusted rounds."
        )
    skipped = statistics.mean(trace.skipped for trace in comparison.traces[k])
    if skipped > 0.0:
        said += f" It skipped {number(skipped)} plays in a game on average."
    return said


def _numbers(values: Floats, arms: ArmSummary) -> list[str]:
    """Return the numbers of the arms shown as a column of text; NaN is a dash."""
    return number_column([None if np.isnan(values[i]) else values[i] for i in arms.shown])


def _format_delay(value: float) -> str:
    return "never" if value == float("inf") else number(value)
