"""The columns of a log of decisions, checked and turned into what a `Journal` holds.

Every kind of log becomes a `Batch` of named columns first, and each value is checked here, once:

- `round` (or the order of the rows), `arm`, `probability`;
- `reward`, or `loss`, or `unit_loss`, the loss in [0, 1]; empty if nothing was told;
- when it was told: `arrival` (the round at whose end it was known) or `delay`; or in seconds
  `told_at` beside `decided_at` (or `at`), as numbers or as dates of ISO 8601;
- `outcome`: rows that are `cancelled` are left out, those that are `expired` or `pending` were not
  told, and `added` and `removed` say which arms there were; `late_loss`, `late_reward` and
  `late_at`: what was reported after a play had expired, which is used;
- `context` and `probabilities` (of all arms, by name), as objects or as JSON; `arms`, a JSON list
  of the arms that could be chosen; `weight` of a row; `now`, the end of the log.
"""

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from belated.arrays import Floats
from belated.checks import MOST_ROUNDS, LossRange
from belated.table_files import UNIT_LOSS, Batch, Mask, in_range, is_number

VALUES = ("reward", "loss", UNIT_LOSS)
KNOWN = (
    "round", "arm", "probability", *VALUES, "arrival", "delay", "decided_at", "at", "told_at",
    "outcome", "event", "late_loss", "late_reward", "late_at", "context", "probabilities", "arms",
    "actions", "weight", "now", "missing", "ticket",
)  # fmt: skip
UNTOLD = ("expired", "pending")


def whole(batches: Iterable[Batch]) -> Batch:
    """Join the batches of a table to one."""
    parts = list(batches)
    if not parts or not any(len(part.places) for part in parts):
        raise ValueError("there are no rows; a log must have at least one")
    columns: dict[str, Sequence[Any]] = {
        name: [value for part in parts for value in part.columns[name]] for name in parts[0].columns
    }
    return Batch(columns, [place for part in parts for place in part.places], parts[0].place)


def rows_where(batch: Batch, kept: Mask) -> Batch:
    """Return some rows of a batch."""
    chosen: list[int] = np.flatnonzero(kept).tolist()
    columns = {name: [values[k] for k in chosen] for name, values in batch.columns.items()}
    return Batch(columns, [batch.places[k] for k in chosen], batch.place)


def outcomes_of(batch: Batch) -> list[str]:
    """Return the column `outcome`, empty text where there is none."""
    return [str(each or "") for each in batch.columns.get("outcome", [""] * len(batch.places))]


def rounds_of(batch: Batch) -> Floats:
    """Return the rounds of the rows, all different; without the column they are counted."""
    if "round" not in batch.columns:
        _check_tickets(batch)
        return np.arange(1.0, len(batch.places) + 1.0)
    rounds = batch.numbers("round")
    rule = f"must be a whole number from 0 to {MOST_ROUNDS}"
    batch.checked("round", rounds, in_range(rounds, 0.0, MOST_ROUNDS), rule)
    order = np.argsort(rounds, kind="stable")
    again = np.flatnonzero(np.diff(rounds[order]) == 0.0)
    if again.size:
        first, second = (batch.places[order[again[0] + k]] for k in (0, 1))
        raise ValueError(
            f"round {int(rounds[order[again[0]]])} has two rows ({batch.place}s {first} and "
            f"{second}); to be evaluated a log must have one decision in each round"
        )
    return rounds


def _check_tickets(batch: Batch) -> None:
    """Refuse a ticket with two rows, which a join of decisions and outcomes may have made."""
    seen: dict[Any, int] = {}
    for ticket, place in zip(batch.columns.get("ticket", ()), batch.places, strict=False):
        if ticket in seen:
            raise ValueError(
                f"ticket {ticket} has two rows ({batch.place}s {seen[ticket]} and {place}); to be "
                "evaluated a log must have one row for each decision"
            )
        if ticket not in (None, ""):
            seen[ticket] = place


def rewards_of(batch: Batch, units: LossRange) -> Floats:
    """Return what was reported of each row, as a reward in [0, 1]; NaN where nothing was."""
    names = [name for name in VALUES if name in batch.columns]
    if not names:
        has = ", ".join(batch.columns)
        raise ValueError(f"the columns are {has}; there must be reward, loss or {UNIT_LOSS}")
    rewards = np.full(len(batch.places), np.nan)
    if UNIT_LOSS in names:
        rewards = 1.0 - batch.losses(optional=True)
        _check_units(batch, units)
    elif "loss" in names:
        rewards = _as_unit(batch, "loss", units)
    if "reward" in names and UNIT_LOSS not in names:
        told = _as_unit(batch, "reward", units)
        rewards = np.where(np.isnan(told), rewards, told)
    expired = np.array([outcome in UNTOLD for outcome in outcomes_of(batch)])
    rewards[expired] = np.nan
    for name in ("late_loss", "late_reward"):
        if name in batch.columns:
            late = _as_unit(batch, name, units, clips=UNIT_LOSS in names)
            rewards = np.where(expired & ~np.isnan(late), late, rewards)
    return rewards


def _as_unit(batch: Batch, name: str, units: LossRange, clips: bool = False) -> Floats:
    """Return a column of losses or rewards in the user's units as rewards in [0, 1].

    In a service's log what lies out of the range may be clipped, as a soft range has it.
    """
    values = batch.numbers(name)
    if clips:
        values = np.clip(values, units.low, units.high)
    fine = (values >= units.low) & (values <= units.high) | np.isnan(values)
    rule = f"must be in {units}"
    batch.checked(name, values, fine, rule + ("; else give loss_range" if units.is_unit else ""))
    share = (values - units.low) / units.width
    return 1.0 - share if name.endswith("loss") else share


def _check_units(batch: Batch, units: LossRange) -> None:
    """Refuse losses in other units than the ones that are declared."""
    if "loss" not in batch.columns:
        return
    losses, unit = batch.numbers("loss"), batch.numbers(UNIT_LOSS)
    within = np.clip(losses, units.low, units.high)  # what is out of a soft range counts as its end
    apart = np.abs((within - units.low) / units.width - unit) > 1e-9
    if apart.any():
        row = int(np.flatnonzero(apart)[0])
        raise ValueError(
            f"{batch.place} {batch.places[row]}: loss is {losses[row]:g} and {UNIT_LOSS} is "
            f"{unit[row]:g}; that is not the range {units}, so give loss_range"
        )


def seconds_of(batch: Batch, name: str) -> Floats:
    """Return a column of times in seconds; a date of ISO 8601 without a zone is in UTC."""
    values = [_seconds(value) for value in batch.columns[name]]
    if None in values:
        wrong = [value is None for value in values]
        batch.refuse(name, wrong, "must be a number of seconds or a date such as 2026-05-01T12:00")
    return np.array(values, dtype=np.float64)


def _seconds(value: Any) -> float | None:
    """Return a time in seconds, NaN for an empty one, None for what is no time."""
    if value is None or value == "":
        return math.nan
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    try:
        return float(value)
    except (TypeError, ValueError):
        pass
    try:
        date = datetime.fromisoformat(str(value).strip().replace(" UTC", "+00:00"))
    except ValueError:
        return None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()


class Times(NamedTuple):
    """When each row was played and how long its outcome took, in rounds or in seconds.

    A delay is NaN where nothing says it. `known` says whether the log has delays at all.
    """

    played: Floats
    delays: Floats
    clock: str
    known: bool
    latest: float  # of all times in the log


def times_of(batch: Batch, rounds: Floats) -> Times:
    """Return the times of a log: in seconds if it has them, else in rounds."""
    names, none = batch.columns, np.full(len(batch.places), np.nan)
    start = next((name for name in ("decided_at", "at") if name in names), None)
    if start is not None and ("told_at" in names or "arrival" not in names):
        played = seconds_of(batch, start)
        batch.checked(start, played, np.isfinite(played), "must be there in every row")
        ends = seconds_of(batch, "told_at") if "told_at" in names else none
        if "late_at" in names:
            expired = np.array([outcome in UNTOLD for outcome in outcomes_of(batch)])
            ends = np.where(expired, seconds_of(batch, "late_at"), ends)
        if "told_at" not in names and "delay" in names:
            ends = played + _delays(batch)
        fine = np.isnan(ends) | (ends >= played)
        batch.checked("told_at" if "told_at" in names else start, ends, fine, _before(start))
        finite = [played, ends[np.isfinite(ends)]]
        known = "told_at" in names or "delay" in names
        return Times(played, ends - played, "seconds", known, float(np.concatenate(finite).max()))
    latest = float(rounds.max())
    if "arrival" in names:
        arrivals = batch.arrivals(rounds)
        return Times(rounds, arrivals - rounds, "rounds", True, latest)
    delays = _delays(batch) if "delay" in names else none
    return Times(rounds, delays, "rounds", "delay" in names, latest)


def _before(start: str) -> str:
    return f"must not be before its {start}"


def _delays(batch: Batch) -> Floats:
    """Return the column `delay`, at least 0; empty or infinite is never."""
    delays = batch.numbers("delay")
    fine = np.isnan(delays) | (delays >= 0.0)
    batch.checked("delay", delays, fine, "must be at least 0, or empty for never")
    return np.where(np.isinf(delays), np.nan, delays)


def end_of(batch: Batch, times: Times, now: Any) -> float:
    """Return the end of the log: `now`, its column `now`, or the latest time in it."""
    end = times.latest
    if now is None and "now" in batch.columns:
        end = float(np.nanmax(seconds_of(batch, "now")))
    elif now is not None:
        given = _seconds(now)
        is_date = isinstance(now, datetime) or (isinstance(now, str) and not is_number(now))
        if given is None or not math.isfinite(given) or (is_date and times.clock == "rounds"):
            wanted = "a round" if times.clock == "rounds" else "a number of seconds or a date"
            raise ValueError(f"now is {now!r}; it must be {wanted}, as the times of the log are")
        end = given
    if end < times.played.max():
        raise ValueError(
            f"now is {end:g}; it must not be before the last decision of the log, at "
            f"{times.played.max():g}"
        )
    return end
