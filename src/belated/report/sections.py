"""The section of a report about one comparison: results, figures, arms and bounds."""

import statistics
from collections.abc import Iterator
from typing import NamedTuple

from belated.comparison.result import Comparison
from belated.report.arms import ArmSummary, summarise_arms
from belated.report.captions import CAPTIONS
from belated.report.figures import FIGURES
from belated.report.findings import Finding, Ranking
from belated.report.formatting import (
    DAGGER_NOTE,
    EN_DASH,
    RHO,
    any_unproven,
    bound_text,
    counted,
    number,
    percent,
    plus_minus,
)
from belated.report.markup import definitions, element, escaped, paragraph, prose, table
from belated.report.repetitions import Repetitions, repetitions_of
from belated.report.style import Style, learner_styles
from belated.report.svg import svg_element
from belated.types import Setting

FEEDBACK = {
    Setting.CONCEALED: "own losses",
    Setting.PARTIALLY_CONCEALED: "own losses, missing counts",
    Setting.FULL_INFORMATION: "all losses",
}
RESULT_COLUMNS = (
    "learner", "regret", "more than the first", "is told", "against balanced", "bound",
    "regret / bound", "loss per round", "µs per round",
)  # fmt: skip
ARM_COLUMNS = (
    "arm", "loss per round", "L<sub>T</sub>", f"L<sub>T</sub><sup>{RHO}</sup>", "missing, mean",
    "missing, most", "delay, mean", "delay, median", "delay, 9 in 10", "never known",
    "balanced comparator",
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
        paragraph(f"{found.brief}.", *found.details, class_="lead") if found else "",
        results_table(comparison, stem),
        element("h3", "Figures"),
        element("div", "".join(figure_elements(comparison, stem)), class_="figures"),
        element("h3", "The arms"),
        arms_table(summarise_arms(comparison), repetitions, stem),
        element("h3", "What is proven"),
        bounds_list(comparison),
    ]
    return element("section", "".join(parts), id=stem)


def results_table(comparison: Comparison, stem: str) -> str:
    """Return the table of the learners, the lowest regret first."""
    ranking, drawn = Ranking(comparison), learner_styles(comparison)
    records = list(comparison.table())
    stated = [comparison.bound(k) for k in ranking.order]
    rows = []
    for k, bound in zip(ranking.order, stated, strict=True):
        record = records[k]
        behind = EN_DASH if k == ranking.first else plus_minus(ranking.behind(k))
        share = record["regret / bound"]
        rows.append(
            [
                _learner_name(drawn[k], comparison.labels[k]),
                element("strong", plus_minus(ranking.regrets[k])),
                behind,
                FEEDBACK[ranking.settings[k]],
                number(record["against balanced"]),
                bound_text(bound),
                EN_DASH if share is None else percent(share),
                number(record["loss per round"]),
                f"{record['us per round']:,.1f}",
            ]
        )
    unit = ranking.repetitions.unit
    caption = f"Learners by regret, mean of all {unit}s ± half of the 95 % confidence interval"
    if any_unproven(stated):
        caption += f"; {DAGGER_NOTE}"
    return table(f"{stem}-results", caption, RESULT_COLUMNS, rows)


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
    medians, nines = arms.quantile(0.5), arms.quantile(0.9)
    rows = [
        [
            escaped(arms.labels[i]),
            number(arms.losses[i] / arms.rounds),
            number(arms.losses[i]),
            number(arms.missing_losses[i]),
            number(arms.mean_missing[i]),
            f"{arms.most_missing[i]:,}",
            number(arms.mean_delay[i]) if arms.never[i] < 1.0 else EN_DASH,
            _format_delay(medians[i]),
            _format_delay(nines[i]),
            percent(arms.never[i]),
            percent(arms.balanced[i]),
        ]
        for i in arms.shown
    ]
    mean = ", mean of all games" if repetitions.random else ""
    caption = f"The account of the arms{mean}, the best arm first"
    if arms.sampled < arms.rounds:
        caption += f"; delays from a sample of {arms.sampled:,} of {arms.rounds:,} rounds"
    if arms.hidden:
        caption += f"; of {len(arms.labels):,} arms, {arms.hidden:,} are not shown"
    return table(f"{stem}-arms", caption, ARM_COLUMNS, rows)


def bounds_list(comparison: Comparison) -> str:
    """Return the regret bound of each learner with its reason, and the lower bounds."""
    pairs = [
        (escaped(label), prose(_bound_sentences(comparison, k)))
        for k, label in enumerate(comparison.labels)
    ]
    pairs += [
        (
            escaped(f"No learner ({row['for']})"),
            prose(
                f"can promise less than the order of {number(row['order of regret'])} if every "
                f"loss took about {counted(row['delay'], 'round')}: {row['when']}; {row['origin']}."
            ),
        )
        for row in comparison.lower_bounds()
    ]
    return definitions(pairs)


def _bound_sentences(comparison: Comparison, k: int) -> str:
    bound, certificate = comparison.bound(k), comparison.certificate(k)
    if bound.value is None:
        beforehand = "" if certificate is None else " beforehand"
        said = f"No bound{beforehand}: {bound.why}."
    else:
        certain = "Proven here" if bound.applies else "Not proven here"
        said = f"At most {number(bound.value)} by {bound.label}. {certain}: {bound.why}."
    if certificate is not None:
        said += f" What its own run proves after the game: at most {number(certificate)}."
    trust = comparison.trust(k)
    if trust is not None:
        said += (
            f" {100.0 * trust.share:.4g} % of its rounds were trusted; its account C ended at "
            f"{number(trust.account)} of a budget b of {number(trust.budget)}, in the mean: C is "
            f"at most b + {number(comparison.units.width)} in every game, and C of an arm bounds "
            "the expected regret against it in these rounds."
        )
    skipped = statistics.mean(trace.skipped for trace in comparison.traces[k])
    if skipped > 0.0:
        said += f" It skipped {number(skipped)} plays in a game, in the mean."
    return said


def _format_delay(value: float) -> str:
    return "never" if value == float("inf") else number(value)
