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

from belated.asktell.bandits import ConcealedBandit, OpenPlay, PartiallyConcealedBandit
from belated.asktell.chosen import Bandit, Experts
from belated.asktell.experts import DelayedExperts, OpenRound
from belated.asktell.held_rounds import Turn
from belated.asktell.learner_options import kind_named
from belated.asktell.options import DOUBLING, Terms
from belated.asktell.session import ROUNDS_AT_ONCE, AskTell
from belated.asktell.ticket_book import UNTOLD, Closed, TicketBook, Told
from belated.checks import LossRange, as_count
from belated.compiled.ask_tell import NO_ARM
from belated.learners.contract import Learner
from belated.learners.states import leaves, mapped, with_leaves
from belated.types import StateFormatError, Ticket, TicketState

FORMAT = "belated-learner"
VERSION = 3
KINDS: dict[str, type[AskTell]] = {
    kind.__name__: kind for kind in (DelayedExperts, PartiallyConcealedBandit, ConcealedBandit)
}
CHOSEN: dict[str, type[AskTell]] = {kind.__name__: kind for kind in (Bandit, Experts)}

Json = dict[str, Any]
AnyInHand = DelayedExperts | PartiallyConcealedBandit | ConcealedBandit | Bandit | Experts


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
        "state": {name: _array_out(part) for name, part in leaves(table.state).items()},
        "tickets": _book_out(learner),
    }
    if isinstance(learner, Bandit | Experts):
        content["learner"] = learner.kind.name
        content["shapes"] = {name: part.shape for name, part in leaves(table.state).items()}
        content["held"] = _held_out(learner)
    return json.dumps({**content, "checksum": _checksum(content)}, allow_nan=False)


def from_json(text: str | bytes) -> AnyInHand:
    """A learner saved by its `to_json`, to go on exactly where it stood."""
    content = _checked(text)
    try:
        learner: AnyInHand = _rebuilt(content)
        return learner
    except StateFormatError:
        raise
    except (
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        OverflowError,
        MemoryError,
    ) as error:
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
    learner = _unmade(content)
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
    fresh = kind_then.start()
    _check_parts(content["state"], fresh, kind_then)
    if isinstance(learner, Bandit | Experts):
        fresh = _grown(fresh, content["shapes"], kind_then)
    state = _state_in(content["state"], fresh)
    learner._warned = set(content["warned"])
    played = max(1, int(content["tickets"]["opened"]))
    learner._adopt(epoch, kind_then, learner._hand_of(kind_then, state, stream), played)
    learner._book = _book_in(content["tickets"], learner)
    if isinstance(learner, Bandit | Experts):
        _check_room(learner, state)
        _hold_again(learner, content["held"])
    return learner


def _unmade(content: Json) -> Any:
    """A learner of the class that was saved, with nothing in it but the kind that was chosen."""
    kind = {**KINDS, **CHOSEN}.get(content["class"])
    if kind is None:
        raise StateFormatError(f"the saved learner is of the unknown class {content['class']!r}")
    learner = kind.__new__(kind)
    if isinstance(learner, Bandit | Experts):
        learner._choose(kind_named(content["learner"], learner.is_bandit))
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


def _check_parts(saved: Mapping[str, Any], fresh: Any, kind: Learner) -> None:
    """A learner that has changed since keeps other things in its state."""
    names = set(leaves(fresh))
    if set(saved) != names:
        odd = ", ".join(sorted(set(saved) ^ names))
        raise StateFormatError(
            f"the saved learner is another {kind.name} than this release has: "
            f"its state differs in the parts {odd}"
        )


def _grown(fresh: Any, shapes: Mapping[str, Any], kind: Learner) -> Any:
    """A fresh state as large as the saved one; it may differ only where room is made."""
    roomy, parts = leaves(kind.reserved(fresh, 2 * ROUNDS_AT_ONCE)), {}
    for name, part in leaves(fresh).items():
        shape = tuple(as_count(size, "size", 0) for size in shapes[name])
        least = zip(shape, part.shape, roomy[name].shape, strict=True)
        if any(size < small or (size > small and small == large) for size, small, large in least):
            raise ValueError(f"the part {name!r} of the state has the shape {shape}")
        parts[name] = np.empty(shape, dtype=part.dtype)
    return with_leaves(fresh, parts)


def _check_room(learner: AskTell, state: Any) -> None:
    """Make sure that the state has room up to where the learner will ask for more."""
    left = learner._last_with_room - learner._book.opened
    if learner._learner.reserved(state, min(left, ROUNDS_AT_ONCE)) is not state:
        raise ValueError("the state has too little room for the rounds to come")


def _state_in(saved: Mapping[str, Any], fresh: Any) -> Any:
    """The saved arrays in the shapes and types of a fresh state."""

    def filled(name: str, pattern: Any) -> Any:
        part = np.array([_number_in(value) for value in saved[name]], dtype=pattern.dtype)
        return part.reshape(pattern.shape)

    return mapped(filled, fresh)


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


def _held_out(learner: AskTell) -> list[Json]:
    """The rounds that are held back, beside their tickets."""
    rounds = {} if learner._held is None else learner._held.rounds
    return [_round_out(learner, round_, *turn) for round_, turn in sorted(rounds.items())]


def _hold_again(learner: AskTell, saved: list[Json]) -> None:
    book, held = learner._book, learner._held
    if held is None:
        if saved:
            raise ValueError(f"{len(saved)} rounds are held back, but this learner holds none")
        return
    for entry in saved:
        round_ = as_count(entry["round"], "round", learner._first_round, book.opened)
        if round_ in book.open or round_ in held.rounds:
            raise ValueError(f"round {round_} is held back and is not finished")
        held.rounds[round_] = Turn(*_round_in(learner, book.id_of(round_), round_, entry))
    held.turn = learner._first_round
    held.go_on(book)


def _unlearned(learner: AskTell, told: Told) -> list[int]:
    """The experts of which something is to be learned: all, if their losses are held back."""
    if learner._held is not None:
        return list(range(len(learner.arms)))
    untold: list[int] = np.flatnonzero(np.isnan(told.losses)).tolist()
    return untold


def _open_out(learner: AskTell, round_: int, entry: Any) -> Json:
    told = learner._told(entry)
    return _round_out(learner, round_, entry, told)


def _round_out(learner: AskTell, round_: int, entry: Any, told: Told) -> Json:
    """A round of which something is still to be learned: what was in force, and what was told."""
    ticket = learner._ticket_of(round_, entry)
    if learner.is_bandit:
        _, (arm, _, play) = entry
        rows, about = {arm: play}, [arm]
    else:
        about = list(range(len(learner.arms)))
        rows = {arm: entry.plays[arm].tolist() for arm in _unlearned(learner, told)}
    plays = [[arm, [_number_out(value) for value in row]] for arm, row in rows.items()]
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
    oldest = 1 if learner._patience is None else opened - learner._patience
    for entry in saved["open"]:
        last = next(reversed(book.open), 0)
        round_ = as_count(entry["round"], "round", max(last + 1, oldest), opened)
        name = book.id_of(round_)
        book.open[round_], told = _round_in(learner, name, round_, entry)
        if learner.is_bandit and entry["told"]:
            raise ValueError(f"the ticket {name!r} is open and {entry['told']!r} is told")
    for round_, state, about, told in saved["closed"]:
        book.closed[round_] = tuple(_closed_in(learner, TicketState(state), about, told))
        book.order.append(round_)
    return book


def _round_in(learner: AskTell, name: str, round_: int, saved: Json) -> tuple[Any, Told]:
    """A round of which something is still to be learned, and what was told of it."""
    if saved["epoch"] != learner._epoch_of(round_):
        raise ValueError(f"the epoch of round {round_} is {saved['epoch']!r}")
    plays = dict(_play_in(arm, play, learner) for arm, play in saved["plays"])
    if learner.is_bandit:
        told = _told_in(saved["told"], list(plays))
        return _play_opened_in(learner, name, round_, saved, plays), told
    entry = _round_opened_in(learner, name, round_, saved, plays)
    return entry, Told(entry.losses)


def _play_opened_in(learner: AskTell, name: str, round_: int, saved: Json, plays: Any) -> OpenPlay:
    """A bandit's ticket: one play."""
    [(arm, play)] = plays.items()
    if saved["arm"] != learner.arms[arm]:
        raise ValueError(f"the ticket {name!r} is of {saved['arm']!r}")
    probability = float(_number_in(saved["probability"]))
    ticket = Ticket(name, round_, learner.arms[arm], probability)
    return ticket, (arm, probability, play)


def _round_opened_in(
    learner: AskTell, name: str, round_: int, saved: Json, plays: Any
) -> OpenRound:
    """A ticket of experts: of each what was in force, or what was told, or if held back both."""
    arms = len(learner.arms)
    weights = np.array([_number_in(weight) for weight in saved["weights"]], dtype=np.float64)
    told = _told_in(saved["told"], list(range(arms)))
    if weights.shape != (arms,) or sorted(plays) != _unlearned(learner, told):
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
