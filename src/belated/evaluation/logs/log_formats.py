"""The columns of a log in a file or in memory, whatever its format is."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from belated.evaluation.logs.decision_service_lines import read_decision_service
from belated.evaluation.logs.journal_columns import whole
from belated.evaluation.logs.open_bandit import (
    FEEDBACK,
    arms_of_feedback,
    is_dataset,
    read_dataset,
    read_feedback,
)
from belated.evaluation.logs.vowpal_text import read_vowpal_text
from belated.table_files import READABLE, Batch, frame_columns, kind_of, read_batches

LINES: dict[str, Callable[[Iterable[str]], Batch]] = {  # how files of lines are read
    ".dsjson": read_decision_service,
    ".json": read_decision_service,
    ".jsonl": read_decision_service,
    ".vw": read_vowpal_text,
    ".dat": read_vowpal_text,
    ".txt": read_vowpal_text,
}
KINDS = (*READABLE, *LINES, ".npz")


def file_columns(path: Path, kind: str | None = None) -> tuple[Batch, Sequence[str]]:
    """Return the columns of a file, and the names of arms that it may not have chosen.

    `kind` is the ending of its name, unless another is given.
    """
    kind = kind_of(path) if kind is None else kind
    if kind in READABLE:
        batch = whole(read_batches(path, (), optional=None))
        return (read_dataset(batch) if is_dataset(batch.columns) else batch), ()
    if kind == ".npz":
        return memory_columns(_arrays(path))
    if kind in LINES:
        try:
            with path.open(encoding="utf-8") as lines:
                return LINES[kind](lines), ()
        except UnicodeDecodeError as error:
            raise ValueError(f"it is not text in UTF-8: {error}") from None
    raise ValueError(f"it is of unknown kind; it must end in {', '.join(KINDS)}")


def _arrays(path: Path) -> dict[str, Any]:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return dict(arrays)
    except (ValueError, EOFError) as error:
        raise ValueError(f"it is no file of numpy arrays: {error}") from None


def memory_columns(source: Any) -> tuple[Batch, Sequence[str]]:
    """Return the columns of values in memory."""
    if isinstance(source, Mapping) and any(source.get(name) is not None for name in FEEDBACK[:1]):
        return read_feedback(source), arms_of_feedback(source)
    if hasattr(source, "columns") or isinstance(source, Mapping):
        columns = frame_columns(source)
    elif isinstance(source, Iterable) and not isinstance(source, (str, bytes)):
        columns = frame_columns(_columns_of(list(source)))
    else:
        raise ValueError(
            f"log is {source!r}; it must be a path, a DataFrame, rows as dicts or a Journal"
        )
    rows = max(map(len, columns.values()), default=0)
    return whole([Batch(columns, range(1, rows + 1), "row")]), ()


def _columns_of(rows: Sequence[Any]) -> dict[str, list[Any]]:
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise ValueError(f"row {number} is {row!r}; it must be a dict")
    names = dict.fromkeys(str(name) for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}
