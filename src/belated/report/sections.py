"""The section of a report that tells of one comparison: results, figures, arms, bounds."""

from collections.abc import Iterator
from typing import NamedTuple

from belated.comparison.result import Comparison
from belated.report.arms import Arms, arms_of
from belated.report.captions import CAPTIONS
from belated.report.figures import FIGURES
from belated.report.findings import Finding, Standing
from belated.report.formatting import (
    NONE,
    RHO,
    UNPROVEN_NOTE,
    bound_text,
    counted,
    number,
    percent,
    plus_minus,
    unproven,
)
from belated.report.markup import definitions, element, escaped, paragraph, sentence, table
from belated.report.repetitions import Games, games_of
from belated.report.style import Style, styles
from belated.report.svg import fragment
from belated.types import Setting

TOLD_BRIEFLY = {
    Setting.CONCEALED: "own losses",
    Setting.PARTIALLY_CONCEALED: "own losses, missing counts",
    Setting.FULL_INFORMATION: "all losses",
}
RESULTS = (
    "learner", "regret", "more than the first", "is told", "against balanced", "bound",
    "regret / bound", "loss per round", "µs per round",
)  # fmt: skip
ARMS = (
    "arm", "loss per round", "L<sub>T</sub>", f"L<sub>T</sub><sup>{RHO}</sup>", "missing, mean",
    "missing, most", "delay, mean", "delay, median", "delay, 9 in 10", "never known",
    "balanced comparator",
)  # fmt: skip


class Place(NamedTuple):
    """Where a section stands: what its ids begin with, and its title."""

    stem: str
    title: str


def section(comparison: Comparison, place: Place, found: Finding | None) -> str:
    """All about one comparison; without its finding if that is the page's own headline."""
    stem, environment = place.stem, comparison.environment
    games = games_of(comparison)
    facts = (
        counted(environment.rounds, "round"),
        counted(environment.arms, "arm"),
        games.said,
        f"seed {comparison.seed}",
    )
    parts = [
        element("h2", escaped(place.title)),
        paragraph(", ".join(facts), class_="facts"),
        paragraph(environment.shows),
        paragraph(f"{found.brief}.", *found.details, class_="lead") if found else "",
        results(comparison, stem),
        element("h3", "Figures"),
        element("div", "".join(figures(comparison, stem)), class_="figures"),
        element("h3", "The arms"),
        account(arms_of(comparison), games, stem),
        element("h3", "What is proven"),
        bounds(comparison),
    ]
    return element("section", "".join(parts), id=stem)


def results(comparison: Comparison, stem: str) -> str:
    """A row for each learner, the lowest regret first."""
    standing, drawn = Standing(comparison), styles(comparison)
    records = list(comparison.table())
    stated = [comparison.bound(k) for k in standing.order]
    rows = []
    for k, bound in zip(standing.order, stated, strict=True):
        record = records[k]
        behind = NONE if k == standing.first else plus_minus(standing.behind(k))
        share = record["regret / bound"]
        rows.append(
            [
                _named(drawn[k], comparison.labels[k]),
                element("strong", plus_minus(standing.regrets[k])),
                behind,
                TOLD_BRIEFLY[standing.settings[k]],
                number(record["against balanced"]),
                bound_text(bound),
                NONE if share is None else percent(share),
                number(record["loss per round"]),
                f"{record['us per round']:,.1f}",
            ]
        )
    unit = standing.games.unit
    caption = f"Learners by regret, mean of all {unit}s ± half of the 95 % confidence interval"
    if unproven(stated):
        caption += f"; {UNPROVEN_NOTE}"
    return table(f"{stem}-results", caption, RESULTS, rows)


def _named(style: Style, label: str) -> str:
    """A learner's name, with the line that it has in the figures."""
    dashes = "" if style.dashes == "-" else " ".join(f"{1.7 * part:g}" for part in style.dashes[1])
    stroke = element(
        "path", d="M3 5H31", stroke=style.colour, stroke_width="2.2", stroke_dasharray=dashes
    )
    line = element("svg", stroke, class_="key", viewBox="0 0 34 10", aria_hidden="true")
    return element("span", line + element("span", escaped(label)), class_="named")


def figures(comparison: Comparison, stem: str) -> Iterator[str]:
    """Every figure that there is something to draw in, with its caption."""
    for count, (name, draw) in enumerate(FIGURES.items()):
        figure = draw(comparison)
        if figure is not None:
            caption = CAPTIONS[name](comparison)
            picture = fragment(figure, f"{stem}.{count}.", caption.description)
            yield element(
                "figure",
                picture + element("figcaption", sentence(caption.text)),
                id=f"{stem}-{name}",
            )


def account(arms: Arms, games: Games, stem: str) -> str:
    """The account of the arms shown."""
    medians, nines = arms.quantile(0.5), arms.quantile(0.9)
    rows = [
        [
            escaped(arms.labels[i]),
            number(arms.losses[i] / arms.rounds),
            number(arms.losses[i]),
            number(arms.missing_losses[i]),
            number(arms.mean_missing[i]),
            f"{arms.most_missing[i]:,}",
            number(arms.mean_delay[i]) if arms.never[i] < 1.0 else NONE,
            _delay(medians[i]),
            _delay(nines[i]),
            percent(arms.never[i]),
            percent(arms.balanced[i]),
        ]
        for i in arms.shown
    ]
    mean = ", mean of all games" if games.random else ""
    caption = f"The account of the arms{mean}, the best arm first"
    if arms.sampled < arms.rounds:
        caption += f"; delays from a sample of {arms.sampled:,} of {arms.rounds:,} rounds"
    if arms.hidden:
        caption += f"; of {len(arms.labels):,} arms, {arms.hidden:,} are not shown"
    return table(f"{stem}-arms", caption, ARMS, rows)


def bounds(comparison: Comparison) -> str:
    """What each learner's theorem says here and why, and what no learner can promise."""
    pairs = [
        (escaped(label), sentence(_promise(comparison, k)))
        for k, label in enumerate(comparison.labels)
    ]
    pairs += [
        (
            escaped(f"No learner ({row['for']})"),
            sentence(
                f"can promise less than the order of {number(row['order of regret'])} if every "
                f"loss took about {counted(row['delay'], 'round')}: {row['when']}; {row['origin']}."
            ),
        )
        for row in comparison.lower_bounds()
    ]
    return definitions(pairs)


def _promise(comparison: Comparison, k: int) -> str:
    bound, certificate = comparison.bound(k), comparison.certificate(k)
    if bound.value is None:
        beforehand = "" if certificate is None else " beforehand"
        said = f"No bound{beforehand}: {bound.why}."
    else:
        certain = "Proven here" if bound.applies else "Not proven here"
        said = f"At most {number(bound.value)} by {bound.label}. {certain}: {bound.why}."
    if certificate is not None:
        said += f" What its own run proves after the game: at most {number(certificate)}."
    return said


def _delay(value: float) -> str:
    return "never" if value == float("inf") else number(value)
