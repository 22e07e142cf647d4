"""Learners as JSON text, exactly: every digit, open ticket, random word and warm start.

The text carries a format version and a checksum, so that a damaged or foreign one is refused.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from belated.asktell import DOUBLING, AskTell, Terms
from belated.bandits import ConcealedBandit, OpenPlay, PartiallyConcealedBandit
from belated.experts import DelayedExperts, OpenRound
from belated.kernels.steps import NO_ARM
from belated.tickets import UNTOLD, Closed, TicketBook, Told
from belated.types import StateFormatError, Ticket, TicketState
from belated.values import LossRange, as_count

FORMAT = "belated-learner"
VERSION = 3
KINDS: dict[str, type[AskTell]] = {
    kind.__name__: kind for kind in (DelayedExperts, PartiallyConcealedBandit, ConcealedBandit)
}

Json = dict[str, Any]


def dumps(learner: AskTell) -> str:
    """The learner as JSON text."""
    table = learner._hand.table
    content: Json = {
        "format": FORMAT,
        "version": VERSION,
        "class": type(learner).__name__,
        "arms": list(learner.arms),
        "options": learner._options,
        "terms": asdict(learner._terms),
        "epoch": learner._epoch,
        "warned": sorted(learner._warned),
        "stream": [f"{int(word):016x}" for word in table.stream],
        "state": {
            name: _array_out(part) for name, part in learner._hand.table.state._asdict().items()
        },
        "tickets": _book_out(learner),
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
    epoch = _epoch_in(content)
    kind_then = learner._learner_of_epoch(epoch)
    stream = _stream_in(content["stream"])
    state = _state_in(content["state"], kind_then.start())
    learner._warned = set(content["warned"])
    learner._adopt(epoch, kind_then, learner._hand_of(kind_then, state, stream))
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


def _book_out(learner: AskTell) -> Json:
    book = learner._book
    return {
        "key": book.key,
        "remember": book.remember,
        "opened": book.opened,
        "open": [_open_out(learner, round_, entry) for round_, entry in book.open.items()],
        "closed": [_closed_out(learner, round_) for round_ in book.order],
    }


def _open_out(learner: AskTell, round_: int, entry: Any) -> Json:
    ticket, told = learner._ticket_of(round_, entry), learner._told(entry)
    if learner.is_bandit:
        _, (arm, _, play) = entry
        plays, about = [[arm, list(play)]], [arm]
    else:
        about = list(range(len(learner.arms)))
        untold = np.flatnonzero(np.isnan(told.losses)).tolist()
        plays = [[arm, entry.plays[arm].tolist()] for arm in untold]
    return {
        "round": round_,
        "arm": ticket.arm,
        "probability": ticket.probability,
        "weights": ticket.weights and list(ticket.weights.values()),
        "epoch": learner._epoch_of(round_),
        "plays": plays,
        "told": _told_out(told, about),
    }


def _closed_out(learner: AskTell, round_: int) -> list[Any]:
    closed = learner._book.what_became_of(round_)
    about = [closed.arm] if learner.is_bandit else list(range(len(learner.arms)))
    return [round_, closed.state.value, about, _told_out(closed.told, about)]


def _told_out(told: Told, about: list[int]) -> list[list[float]]:
    reports = told.report()
    named = zip(reports.places.tolist(), reports.losses.tolist(), strict=True)
    return [[about[place], loss, reports.missing] for place, loss in named]


def _book_in(saved: Json, learner: AskTell) -> TicketBook:
    opened = as_count(saved["opened"], "opened", 0)
    remember = as_count(saved["remember"], "remember", 0)
    book = TicketBook(saved["key"], remember, learner._book.places, opened)
    oldest = 1 if learner._terms.expire_after is None else opened - learner._terms.expire_after
    for entry in saved["open"]:
        last = next(reversed(book.open), 0)
        round_ = as_count(entry["round"], "round", max(last + 1, oldest), opened)
        if entry["epoch"] != learner._epoch_of(round_):
            raise ValueError(f"the epoch of round {round_} is {entry['epoch']!r}")
        plays = dict(_play_in(arm, play, learner) for arm, play in entry["plays"])
        opened_in = _play_opened_in if learner.is_bandit else _round_opened_in
        book.open[round_] = opened_in(learner, book.id_of(round_), round_, entry, plays)
    for round_, state, about, told in saved["closed"]:
        book.closed[round_] = tuple(_closed_in(learner, TicketState(state), about, told))
        book.order.append(round_)
    return book


def _play_opened_in(learner: AskTell, name: str, round_: int, saved: Json, plays: Any) -> OpenPlay:
    """A bandit's pending ticket: one play, and nothing told."""
    [(arm, play)] = plays.items()
    if saved["told"] or saved["arm"] != learner.arms[arm]:
        raise ValueError(
            f"the ticket {name!r} is of {saved['arm']!r} and {saved['told']!r} is told"
        )
    probability = float(_number_in(saved["probability"]))
    ticket = Ticket(name, round_, learner.arms[arm], probability)
    return ticket, (arm, probability, play)


def _round_opened_in(
    learner: AskTell, name: str, round_: int, saved: Json, plays: Any
) -> OpenRound:
    """A pending ticket of experts: of each either what was in force, or what was told."""
    arms = len(learner.arms)
    weights = np.array([_number_in(weight) for weight in saved["weights"]], dtype=np.float64)
    told = _told_in(saved["told"], list(range(arms)))
    untold = np.flatnonzero(np.isnan(told.losses)).tolist()
    if weights.shape != (arms,) or sorted(plays) != untold:
        raise ValueError(f"the ticket {name!r} does not say one thing of each expert")
    rows = np.zeros((arms, learner.kind.play_width))
    for arm, play in plays.items():
        rows[arm] = play
    return OpenRound(weights, rows, told.losses)


def _closed_in(learner: AskTell, state: TicketState, about: Any, told: Any) -> Closed:
    """A closed ticket of one arm, or of all experts."""
    arms = sorted(as_count(arm, "arm", 0, len(learner.arms) - 1) for arm in about)
    if learner.is_bandit:
        [arm] = arms
        return Closed(state, arm, UNTOLD).with_told(_told_in(told, arms))
    if arms != list(range(len(learner.arms))):
        raise ValueError(f"a closed ticket is about the experts {about!r}")
    return Closed(state, NO_ARM, _told_in(told, arms).losses)


def _told_in(saved: list[list[Any]], about: list[int]) -> Told:
    """What was told, by the place that each arm has in its ticket."""
    places = {arm: place for place, arm in enumerate(about)}
    losses, missing = np.full(len(about), UNTOLD), -1
    for arm, loss, count in saved:
        losses[places[arm]] = LossRange().loss(loss)
        missing = as_count(count, "missing", -1)
    return Told(losses, missing)


def _play_in(arm: Any, play: Any, learner: AskTell) -> tuple[int, tuple[float, ...]]:
    """What was in force for an arm, as wide as this kind of learner makes it."""
    row = tuple(float(_number_in(value)) for value in play)
    if len(row) != learner.kind.play_width:
        raise ValueError(f"the play {play!r} does not have {learner.kind.play_width} numbers")
    return as_count(arm, "arm", 0, len(learner.arms) - 1), row
