"""What a reader must know beside the numbers of an evaluation, in sentences."""

import math
from collections.abc import Sequence

import numpy as np

from belated.evaluation.measuring import Found, Measuring

FLOORED = 0.01  # the share of chances at the floor from which it is worth saying
LEFT_OUT = 0.01  # the share of rows too young to count from which it is worth saying
FEW_ROWS = 50.0


def notes_of(
    measuring: Measuring, found: Found, young: Sequence[str], meaning: str | None
) -> list[str]:
    """Return the notes of an evaluation; most have none."""
    journal, notes = measuring.journal, []
    untold = float(1.0 - journal.told.mean())
    if untold and meaning is None:
        notes.append(
            f"{untold:.1%} of the rows have no outcome, and nothing was declared about what that "
            "means: there are only bounds. Declare silence: missing, default (with its loss) or "
            "speeds."
        )
    seen = {journal.arms[arm] for arm in np.unique(journal.chosen[journal.told])}
    silent = [arm for arm in young if arm not in seen]
    if silent:
        notes.append(f"No outcome of {', '.join(silent)} is known, so there are only bounds.")
    if len(young) > len(silent):
        late = ", ".join(arm for arm in young if arm in seen)
        notes.append(
            f"The log is too short for {late}: it is shorter than three times the median delay, "
            "so there are only bounds."
        )
    left_out = 0.0
    if measuring.correction is not None and measuring.says:
        left_out = float(1.0 - measuring.correction.is_old.mean())
    if left_out >= LEFT_OUT:
        notes.append(
            f"The youngest {left_out:.1%} of the rows are left out of values and intervals: of "
            "some arm less than a tenth of what comes has come at their age."
        )
    if untold and meaning is not None and not journal.timed:
        notes.append(
            "The log has no times of outcomes, so the correction for silence is by arm only."
        )
    if found.floored >= FLOORED:
        notes.append(
            f"{found.floored:.1%} of the rows with an outcome had a chance below 2 % to have it so "
            "early; their weight was limited."
        )
    for each in found.policies:
        if each.table is None or not math.isfinite(each.rows_used):  # nothing was weighed
            continue
        if not each.rows_used > 0.0:
            notes.append(f"No row of the log was played as {each.name} would: it has no value.")
        elif each.rows_used < FEW_ROWS:
            rows = "1 row" if round(each.rows_used) == 1 else f"{each.rows_used:.0f} rows"
            notes.append(f"{each.name} rests on {rows} of its own: intervals for so few are rough.")
        if (
            abs(each.mean_weight - 1.0) > 1.6 * each.mean_weight_error > 0.0
            and "replay" not in each.estimates
        ):
            notes.append(
                f"The weights of {each.name} have the mean {each.mean_weight:.3f}, which should "
                "be 1: a logged probability may be wrong, or an arm was never chosen."
            )
    if (
        measuring.way == "bernstein"
        and measuring.most_weight is None
        and (journal.all_probabilities is None)
    ):
        notes.append(
            "The bernstein intervals take the largest weight from the log; they hold if no "
            "probability could have been lower than the least one logged."
        )
    if journal.set_aside:
        rounds = journal.timed and journal.clock == "rounds"
        notes.append(
            "An outcome that came after the end of the log or at no known time counts as not told: "
            f"{journal.set_aside:,} of {len(journal):,} rows."
            + " No column says when decisions were made, so delays are in rounds."
            * rounds
        )
    return notes
