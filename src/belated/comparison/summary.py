"""The summary of a comparison as readers see it: ranked by feedback, with one rule for digits."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from belated.analysis.statistics import MeanEstimate, estimate
from belated.comparison.digits import (
    DETERMINISTIC,
    decimals_of,
    decimals_of_estimates,
    fixed,
    varies,
)
from belated.comparison.feedback import groups_of
from belated.comparison.table import Table

if TYPE_CHECKING:
    from belated.comparison.result import Comparison

DAGGER = "\N{DAGGER}"  # marks a bound that is stated but not proven to hold
DAGGER_NOTE = f"{DAGGER} stated, not proven"


def summary_of(comparison: "Comparison") -> Table:
    """Return the rows that a terminal or a paper shows: text, best learner of each setting first.

    A bound with a dagger is stated but not proven to hold in these games.
    """
    records = list(comparison.table())
    regrets = [estimate(comparison.regret(k)) for k in range(len(records))]
    bounds = [record["bound"] for record in records]
    decimals = decimals_of_estimates(regrets)
    places = {
        "loss per round": decimals_of(record["loss per round"] for record in records),
        "bound": decimals_of(value for value in bounds if value is not None),
    }
    goals = [name for name in comparison.table().columns if name.startswith("against ")]
    rows = []
    for group in groups_of(comparison):
        for k in group.members:
            record = records[k]
            bound = "" if bounds[k] is None else fixed(bounds[k], places["bound"])
            if bound and not record["bound applies"]:
                bound += DAGGER
            rows.append(
                {
                    "feedback": group.feedback.plural,
                    "learner": record["learner"],
                    "regret": fixed(record["regret"], decimals),
                    "±": half_width_shown(regrets[k], decimals),
                    **{goal: fixed(record[goal], decimals) for goal in goals},
                    "bound": bound,
                    "loss per round": fixed(record["loss per round"], places["loss per round"]),
                }
            )
    return Table.of(rows)


def half_width_shown(found: MeanEstimate, decimals: int) -> str:
    """Return half the width of an interval as text: empty where it is unknown."""
    if found.half_width != found.half_width:
        return ""
    return fixed(float(found.half_width), decimals) if varies(found) else DETERMINISTIC


def estimates_shown(column: Sequence[MeanEstimate]) -> list[str]:
    """Return a column of means with their intervals as text, all with the same decimals."""
    decimals = decimals_of_estimates(column)
    return [estimate_shown(each, decimals) for each in column]


def estimate_shown(found: MeanEstimate, decimals: int) -> str:
    """Return a mean and half the width of its interval as text: "12.5 ± 2.0"."""
    mean, half = fixed(float(found.mean), decimals), half_width_shown(found, decimals)
    if half == DETERMINISTIC:
        return f"{mean} ({half})"
    return f"{mean} ± {half}" if half else mean
