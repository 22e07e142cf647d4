"""Learners as JSON text, exactly: every digit, open ticket, random word and warm start.

The text carries a format version and a checksum, so that a damaged or foreign one is refused.
"""

import hashlib
import json
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from belated.asktell import AskTell, Terms
from belated.bandits import ConcealedBandit, PartiallyConcealedBandit
from belated.experts import DelayedExperts
from belated.tickets import Closed, Open, Report, TicketBook
from belated.types import StateFormatError, Ticket, TicketState
from belated.values import LossRange

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
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StateFormatError(f"the saved learner does not fit together: {error!r}") from error


def _checked(text: str | bytes) -> Json:
    """The content, if it is whole and of this format and version."""
    try:
        content = json.loads(text)
    except (ValueError, TypeError) as error:
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
    learner._epoch = content["epoch"]
    learner._learner = learner._learner_of_epoch(learner._epoch)
    learner._warned = set(content["warned"])
    learner._stream = np.array([int(word, 16) for word in content["stream"]], dtype=np.uint64)
    learner._state = _state_in(content["state"], learner._learner.start())
    learner._book = _book_in(content["tickets"], learner.arms)
    return learner


def _state_in(saved: Mapping[str, Any], fresh: Any) -> Any:
    """The saved arrays in the shapes and types of a fresh state."""
    parts = {}
    for name, pattern in fresh._asdict().items():
        part = np.array([_number_in(value) for value in saved[name]], dtype=pattern.dtype)
        parts[name] = part.reshape(pattern.shape)
    if set(saved) != set(parts):
        raise ValueError(f"the parts of the state are {sorted(saved)}, not {sorted(parts)}")
    return type(fresh)(**parts)


def _array_out(part: Any) -> list[Any]:
    return [_number_out(value) for value in part.ravel().tolist()]


def _number_out(value: float) -> float | str:
    """JSON has no infinities; they are written as text."""
    return value if np.isfinite(value) else repr(value)


def _number_in(value: float | str) -> float:
    return float(value) if isinstance(value, str) else value


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


def _book_in(saved: Json, arms: tuple[Any, ...]) -> TicketBook:
    book = TicketBook(saved["key"], saved["remember"], saved["opened"])
    for entry in saved["open"]:
        round_ = entry["round"]
        weights = entry["weights"] and dict(zip(arms, entry["weights"], strict=True))
        ticket = Ticket(book.id_of(round_), round_, entry["arm"], entry["probability"], weights)
        plays = dict(entry["plays"])
        book.open[round_] = Open(ticket, entry["epoch"], plays, _reports_in(entry["told"]))
    book.closed = OrderedDict(
        (round_, Closed(TicketState(state), about, _reports_in(told)))
        for round_, state, about, told in saved["closed"]
    )
    book.ages = deque(book.open)
    return book
