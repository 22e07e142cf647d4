"""Learners as JSON text, exactly: every digit, open ticket, random word and warm start.

The text carries a format version and a checksum, so that a damaged or foreign one is refused.
"""

import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from belated.asktell import DOUBLING, AskTell, Terms
from belated.bandits import ConcealedBandit, PartiallyConcealedBandit
from belated.experts import DelayedExperts
from belated.tickets import Closed, Open, Report, TicketBook
from belated.types import StateFormatError, Ticket, TicketState
from belated.values import LossRange, as_count

FORMAT = "belated-learner"
VERSION = 1
KINDS: dict[str, type[AskTell]] = {
    kind.__name__: kind for kind in (DelayedExperts, PartiallyConcealedBandit, ConcealedBandit)
}

Json = dict[str, Any]


def dumps(learner: AskTell) -> str:
    """The learner as JSON text."""
    content: Json = {
        "format": FORMAT,
        "version": VERSION,
        "class": type(learner).__name__,
        "arms": list(learner.arms),
        "options": learner._options,
        "terms": asdict(learner._terms),
        "epoch": learner._epoch,
        "warned": sorted(learner._warned),
        "stream": [f"{int(word):016x}" for word in learner._stream],
        "state": {name: _array_out(part) for name, part in learner._state._asdict().items()},
        "tickets": _book_out(learner._book),
    }
    return json.dumps({**content, "checksum": _checksum(content)}, allow_nan=False)


def from_json(text: str | bytes) -> DelayedExperts | PartiallyConcealedBandit | ConcealedBandit:
    """A learner saved by its `to_json`, to go on exactly where it stood."""
    content = _checked(text)
    try:
        learner: DelayedExperts | PartiallyConcealedBandit | ConcealedBandit = _rebuilt(content)
        return learner
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise StateFormatError(f"the saved learner does not fit together: {error!r}") from error


def _checked(text: str | bytes) -> Json:
    """The content, if it is whole and of this format and version."""
    try:
        content = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise StateFormatError(f"the saved learner is not JSON: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise StateFormatError(f"this is no saved learner; it must have format {FORMAT!r}")
    if content.get("version") != VERSION:
        raise StateFormatError(
            f"the saved learner has format version {content.get('version')!r}; "
            f"this release reads version {VERSION}"
        )
    if content.pop("checksum", None) != _checksum(content):
        raise StateFormatError("the saved learner is damaged: its checksum does not match")
    return content


def _checksum(content: Json) -> str:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _rebuilt(content: Json) -> Any:
    kind = KINDS.get(content["class"])
    if kind is None:
        raise StateFormatError(f"the saved learner is of the unknown class {content['class']!r}")
    learner = kind.__new__(kind)
    terms = content["terms"]
    AskTell.__init__(
        learner,
        content["arms"],
        content["options"],
        Terms(**{**terms, "loss_range": LossRange(**terms["loss_range"])}),
        seed=0,
        remember=0,
    )
    learner._epoch = _epoch_in(content)
    learner._learner = learner._learner_of_epoch(learner._epoch)
    learner._warned = set(content["warned"])
    learner._stream = _stream_in(content["stream"])
    learner._state = _state_in(content["state"], learner._learner.start())
    learner._book = _book_in(content["tickets"], learner)
    return learner


def _epoch_in(content: Json) -> int:
    """The epoch, which follows from the rounds played."""
    rounds = as_count(content["tickets"]["opened"], "opened", 0)
    doubling = content["options"].get("horizon") == DOUBLING
    epoch = max(rounds, 1).bit_length() - 1 if doubling else 0
    if content["epoch"] != epoch:
        raise ValueError(f"the epoch is {content['epoch']!r}, not {epoch}")
    return epoch


def _stream_in(words: list[str]) -> Any:
    if len(words) != 4 or not all(re.fullmatch("[0-9a-f]{16}", word) for word in words):
        raise ValueError(f"the random stream is {words!r}")
    return np.array([int(word, 16) for word in words], dtype=np.uint64)


def _state_in(saved: Mapping[str, Any], fresh: Any) -> Any:
    """The saved arrays in the shapes and types of a fresh state."""
    if set(saved) != set(fresh._fields):
        raise ValueError(f"the parts of the state are {sorted(saved)}")
    parts = {}
    for name, pattern in fresh._asdict().items():
        part = np.array([_number_in(value) for value in saved[name]], dtype=pattern.dtype)
        parts[name] = part.reshape(pattern.shape)
    return type(fresh)(**parts)


def _array_out(part: Any) -> list[Any]:
    return [_number_out(value) for value in part.ravel().tolist()]


def _number_out(value: float) -> float | str:
    """JSON has no infinities; they are written as text."""
    return value if np.isfinite(value) else repr(value)


def _number_in(value: Any) -> float:
    if value in ("inf", "-inf"):
        return float(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    raise ValueError(f"{value!r} is no number")


def _book_out(book: TicketBook) -> Json:
    return {
        "key": book.key,
        "remember": book.remember,
        "opened": book.opened,
        "open": [
            {
                "round": entry.ticket.round,
                "arm": entry.ticket.arm,
                "probability": entry.ticket.probability,
                "weights": entry.ticket.weights and list(entry.ticket.weights.values()),
                "epoch": entry.epoch,
                "plays": list(entry.plays.items()),
                "told": _reports_out(entry.told),
            }
            for entry in book.open.values()
        ],
        "closed": [
            [round_, entry.state.value, entry.arms, _reports_out(entry.told)]
            for round_, entry in book.closed.items()
        ],
    }


def _reports_out(told: Mapping[int, Report]) -> list[list[float]]:
    return [[arm, report.loss, report.missing] for arm, report in told.items()]


def _reports_in(saved: list[list[Any]]) -> dict[int, Report]:
    return {arm: Report(loss, missing) for arm, loss, missing in saved}


def _book_in(saved: Json, learner: AskTell) -> TicketBook:
    opened, remember = saved["opened"], as_count(saved["remember"], "remember", 0)
    book = TicketBook(saved["key"], remember, opened)
    for entry in saved["open"]:
        last = next(reversed(book.open), 0)
        round_ = as_count(entry["round"], "round", last + 1, opened)
        weights = entry["weights"] and dict(zip(learner.arms, entry["weights"], strict=True))
        ticket = Ticket(book.id_of(round_), round_, entry["arm"], entry["probability"], weights)
        epoch = as_count(entry["epoch"], "epoch", 0, learner._epoch)
        plays = dict(_play_in(arm, play, learner) for arm, play in entry["plays"])
        book.open[round_] = Open(ticket, epoch, plays, _reports_in(entry["told"]))
    book.closed = OrderedDict(
        (round_, Closed(TicketState(state), about, _reports_in(told)))
        for round_, state, about, told in saved["closed"]
    )
    book.losses_remembered = sum(len(entry.arms) for entry in book.closed.values())
    return book


def _play_in(arm: Any, play: Any, learner: AskTell) -> tuple[int, list[float]]:
    """What was in force for an arm, as wide as this kind of learner makes it."""
    row = [float(_number_in(value)) for value in play]
    if len(row) != learner.kind.play_width:
        raise ValueError(f"the play {play!r} does not have {learner.kind.play_width} numbers")
    return as_count(arm, "arm", 0, len(learner.arms) - 1), row
