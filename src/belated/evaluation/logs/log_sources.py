"""`read_log`: a journal from whatever holds one, a file, a running service, or values in memory."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from belated.checks import LossRange
from belated.evaluation.logs.journal import Journal, journal_of
from belated.evaluation.logs.journal_columns import whole
from belated.evaluation.logs.log_formats import file_columns
from belated.table_files import Batch, errors_naming

PROBLEMS = "/v1/problems/"


def read_log(
    source: Any,
    *,
    arms: Sequence[str] = (),
    loss_range: tuple[float, float] | LossRange | None = None,
    now: Any = None,
    key: str | None = None,
) -> Journal:
    """Read a log of decisions for `evaluate`.

    Args:
        source: a file: .csv or .parquet of `belated export` or of the Open Bandit Dataset, .dsjson
            of Vowpal Wabbit or Personalizer, .vw of Vowpal Wabbit, or .npz of OBP. It may also be
            the address of a problem of a running service (http://host/v1/problems/NAME), a
            DataFrame, a list of dicts, or OBP's bandit_feedback.
        arms: all arms, if some do not occur in the log.
        loss_range: the range of losses and rewards; [0, 1] by default.
        now: the end of the log, if it is later than its last entry.
        key: the key for a running service.

    Example:
        >>> rows = [
        ...     {"round": 1, "arm": "red", "probability": 0.5, "reward": 1.0, "delay": 1},
        ...     {"round": 2, "arm": "green", "probability": 0.5, "reward": None, "delay": None},
        ... ]
        >>> log = read_log(rows)
        >>> log.arms, len(log), int(log.told.sum())
        (('red', 'green'), 2, 1)
    """
    if isinstance(source, Journal):
        return source
    if isinstance(source, str) and source.startswith(("http://", "https://")):
        return read_service(source, key=key, now=now)
    if isinstance(source, (str, Path)):
        path = Path(source)
        with errors_naming(path):
            batch, more = file_columns(path)
            return journal_of(
                batch, arms=arms, more=more, loss_range=loss_range, now=now, name=path.name
            )
    return Journal.from_rows(source, arms=arms, loss_range=loss_range, now=now)


def read_service(address: str, *, key: str | None = None, now: Any = None) -> Journal:
    """Read the journal of a problem of a running service, as it is at this moment."""
    base, found, name = address.partition(PROBLEMS)
    if not found or not name or "/" in name or not urlsplit(base).netloc:
        raise ValueError(f"{address} is no problem; it must read http://HOST{PROBLEMS}NAME")
    from belated.client import Client, Patience, ServiceUnavailable

    try:
        with Client(base, key, patience=Patience(60.0, reconnects=False)) as client:
            spec, log = client.problem(unquote(name)), client.log(unquote(name))
    except ServiceUnavailable as error:
        raise ValueError(f"{base} cannot be reached: {error.__cause__ or error}") from None
    values = list(zip(*log["rows"], strict=True)) or [()] * len(log["columns"])
    columns = dict(zip(log["columns"], map(list, values), strict=True))
    batch = whole([Batch(columns, range(1, len(log["rows"]) + 1), "row")])
    return journal_of(
        batch,
        arms=log["arms"],
        loss_range=spec.loss_range,
        now=max(time.time(), *columns["decided_at"]) if now is None else now,
        name=unquote(name),
    )
