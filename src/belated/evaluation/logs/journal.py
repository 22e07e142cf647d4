"""A journal: decisions with their probabilities, and what has been told of them so far."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import LossRange, as_range
from belated.evaluation.logs.journal_arms import (
    all_probabilities,
    allowed,
    arm_names,
    probability_of,
    weights_of,
)
from belated.evaluation.logs.journal_columns import (
    KNOWN,
    end_of,
    outcomes_of,
    rewards_of,
    rounds_of,
    rows_where,
    times_of,
)
from belated.evaluation.logs.log_formats import file_columns, memory_columns
from belated.table_files import Batch, Mask, errors_naming

UNIT = LossRange()


@dataclass(frozen=True, eq=False)
class Journal:
    """Decisions in the order in which they were made, and their outcomes at the end of the log.

    `read_log` reads a journal from any source. Rewards are in [0, 1], and NaN if the outcome is not
    known; `units` are those of the user. Times are in rounds or seconds, as `clock` says.
    """

    arms: tuple[str, ...]
    chosen: Counts  # the index of each row's arm
    probability: Floats  # with which it was drawn; NaN where the log does not say
    rewards: Floats
    played: Floats  # when each decision was made
    delays: Floats  # how long its outcome took; NaN where nothing was told
    end: float
    clock: str = "rounds"
    timed: bool = True  # whether the log says how long outcomes took
    weights: Floats = field(default_factory=lambda: np.ones(0))
    all_probabilities: Floats | None = None  # of all arms: (row, arm)
    allowed: Mask | None = None  # which arms could be chosen: (row, arm)
    contexts: tuple[Mapping[str, Any], ...] | None = None
    others: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # further columns
    units: LossRange = UNIT
    cancelled: int = 0  # rows that were left out
    set_aside: int = 0  # outcomes that came after the end, or at no known time: not told
    name: str = "the log"

    @classmethod
    def from_rows(cls, rows: Any, **terms: Any) -> "Journal":
        """Make a journal of rows as dicts, of a DataFrame or of columns by name.

        `terms` are `arms`, `loss_range` and `now`, as for `read_log`.
        """
        batch, arms = memory_columns(rows)
        return journal_of(batch, more=arms, **terms)

    @classmethod
    def from_obp(cls, feedback: Mapping[str, Any], **terms: Any) -> "Journal":
        """Make a journal of the `bandit_feedback` of the Open Bandit Pipeline."""
        return cls.from_rows(feedback, **terms)

    @classmethod
    def from_dsjson(cls, path: str | Path, **terms: Any) -> "Journal":
        """Read a log of Vowpal Wabbit's decision service or of Personalizer, one object a line."""
        return cls._from_file(Path(path), ".dsjson", terms)

    @classmethod
    def from_vw(cls, path: str | Path, **terms: Any) -> "Journal":
        """Read a log in Vowpal Wabbit's text format, with or without action features."""
        return cls._from_file(Path(path), ".vw", terms)

    @classmethod
    def _from_file(cls, path: Path, kind: str, terms: Mapping[str, Any]) -> "Journal":
        with errors_naming(path):
            batch, arms = file_columns(path, kind)
            return journal_of(batch, more=arms, name=path.name, **terms)

    def __len__(self) -> int:
        return len(self.chosen)

    @property
    def told(self) -> Mask:
        """Which rows have been told by the end of the log."""
        return ~np.isnan(self.rewards)

    @property
    def is_even(self) -> bool:
        """Whether all rows count equally."""
        return bool((self.weights == self.weights[0]).all())

    @property
    def ages(self) -> Floats:
        """The time from each decision to the end of the log."""
        return self.end - self.played

    @property
    def context_rows(self) -> Sequence[Mapping[str, Any]]:
        """The context of each row, an empty one where there is none."""
        return self.contexts if self.contexts is not None else ({},) * len(self)

    def column(self, name: str) -> list[str]:
        """Return a further column, or a value of the contexts, as text: the stratum of each row."""
        if name in self.others:
            return [str(value) for value in self.others[name]]
        if self.contexts is not None and any(name in each for each in self.contexts):
            return [str(each.get(name, "")) for each in self.contexts]
        known = [*self.others, *dict.fromkeys(key for each in self.context_rows for key in each)]
        has = ", ".join(known) or "no further columns"
        raise ValueError(f"stratum is {name!r}; it must be a column of the log, which has {has}")


def journal_of(
    batch: Batch,
    *,
    arms: Sequence[str] = (),
    more: Sequence[str] = (),
    loss_range: tuple[float, float] | LossRange | None = None,
    now: Any = None,
    name: str = "the log",
) -> Journal:
    """Make a journal of the named columns of a table; `journal_columns` says which there are.

    All arms are `arms`, which the user names, `more`, which the format names, and those in rows.
    """
    if "arm" not in batch.columns:
        raise ValueError(f"the columns are {', '.join(batch.columns)}; there must be arm")
    units = loss_range if isinstance(loss_range, LossRange) else as_range(loss_range or (0.0, 1.0))
    kinds = np.array(outcomes_of(batch))
    changes = rows_where(batch, np.isin(kinds, ("added", "removed")))
    decisions = ~np.isin(kinds, ("added", "removed", "cancelled"))
    cancelled = int((kinds == "cancelled").sum())
    if not decisions.any():
        raise ValueError("there are no decisions in it; a log must have at least one")
    batch = rows_where(batch, decisions)
    rounds = rounds_of(batch)
    times = times_of(batch, rounds)
    order = np.lexsort((rounds, times.played))
    end = end_of(batch, times, now)
    rewards = rewards_of(batch, units)
    came = np.isfinite(times.delays) if times.known else np.ones(len(rounds), dtype=bool)
    delays = times.delays if times.known else np.zeros(len(rounds))
    reported = ~np.isnan(rewards)
    told = reported & came
    told[told] = (times.played + delays)[told] <= end
    labels = batch.labels()
    names = arm_names(batch, labels, [*arms, *more], changes)
    index = {arm: place for place, arm in enumerate(names)}
    contexts = batch.objects("context", dict)
    return Journal(
        arms=names,
        chosen=np.array([index[label] for label in labels], dtype=np.int64)[order],
        probability=probability_of(batch)[order],
        rewards=np.where(told, rewards, np.nan)[order],
        played=times.played[order],
        delays=np.where(told, delays, np.nan)[order],
        end=end,
        clock=times.clock,
        timed=times.known,
        weights=weights_of(batch)[order],
        all_probabilities=all_probabilities(batch, index, order),
        allowed=allowed(batch, changes, index, rounds, order),
        contexts=None if contexts is None else tuple(contexts[k] or {} for k in order),
        others={
            column: [values[k] for k in order]
            for column, values in batch.columns.items()
            if column not in KNOWN
        },
        units=units,
        cancelled=cancelled,
        set_aside=int((reported & ~told).sum()),
        name=name,
    )
