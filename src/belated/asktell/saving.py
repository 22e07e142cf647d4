"""Sessions as JSON text: every digit, open ticket, random word and warm start is in it.

The text carries a format version and a checksum, so that a damaged or foreign one is refused when
`belated.asktell.loading` reads it. This module writes the snapshot of any session, and does not
know the classes of sessions.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from belated.asktell.options import epoch_of
from belated.asktell.session_state import SavedBook, SavedRound, SessionState
from belated.asktell.ticket_book import ToldLosses
from belated.learners.states import leaves

FORMAT = "belated-learner"
VERSION = 5
PACKED_FROM, PACKED_LEVEL = 1000, 1

Json = dict[str, Any]


def to_text(session: SessionState) -> str:
    """The text of a session, with its checksum."""
    parts = leaves(session.state)
    content: Json = {
        "format": FORMAT,
        "version": VERSION,
        "class": session.session,
        "learner": session.learner,
        "arms": list(session.arms),
        "options": session.options,
        "feedback": asdict(session.feedback),
        "epoch": session.epoch,
        "warned": sorted(session.warned),
        "stream": [f"{int(word):016x}" for word in session.stream],
        "state": {name: part_out(part) for name, part in parts.items()},
        "shapes": {name: part.shape for name, part in parts.items()},
        "tickets": _book_out(session, session.book),
        "held": [_round_out(session, each) for each in session.held],
    }
    if session.minimum_share > 0.0:
        content["minimum_share"] = session.minimum_share
    return json.dumps({**content, "checksum": checksum(content)}, allow_nan=False)


def checksum(content: Mapping[str, Any]) -> str:
    """The checksum of all other content."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def part_out(part: Any) -> list[float | str] | str:
    """An array as a list; a long one as the base64 text of its packed bytes, if that is shorter."""
    listed = numbers_out(part.ravel())
    if part.size < PACKED_FROM:
        return listed
    packed = zlib.compress(part.astype(part.dtype.newbyteorder("<")).tobytes(), PACKED_LEVEL)
    text = base64.b64encode(packed).decode()
    return text if len(text) < len(json.dumps(listed)) else listed


def numbers_out(values: Any) -> list[float | str]:
    """An array of numbers as a list; JSON has no infinities, so they are written as text."""
    return [value if np.isfinite(value) else repr(value) for value in values.tolist()]


def _book_out(session: SessionState, book: SavedBook) -> Json:
    return {
        "key": book.key,
        "remember": book.remember,
        "opened": book.opened,
        "open": [_round_out(session, each) for each in book.open],
        "closed": [
            [round_, closed.state.value, *_about_out(session, closed.arm, closed.told)]
            for round_, closed in book.closed.items()
        ],
    }


def _round_out(session: SessionState, saved: SavedRound) -> Json:
    """A round from which something is still to be learned."""
    ticket, plays = saved.ticket, saved.plays
    _, told = _about_out(session, next(iter(plays), -1), saved.told)
    seen: Json = {}
    if ticket.probabilities is not None:
        shares = [ticket.probabilities.get(arm) for arm in session.arms]
        seen = {"context": ticket.context, "probabilities": shares}
        if not ticket.probabilities.keys() <= set(session.arms):
            seen["named"] = list(ticket.probabilities)
            seen["probabilities"] = list(ticket.probabilities.values())
    return {
        **seen,
        "round": ticket.round,
        "arm": ticket.arm,
        "probability": ticket.probability,
        "weights": ticket.weights and list(ticket.weights.values()),
        "epoch": epoch_of(ticket.round, session.options.get("horizon")),
        "plays": [[arm, numbers_out(np.array(row))] for arm, row in plays.items()],
        "told": told,
    }


def _about_out(session: SessionState, arm: int, told: ToldLosses) -> tuple[list[int], list[Any]]:
    """The arms that a ticket is about, and what was reported: arm, loss and missing count of each.

    A bandit's ticket is about `arm`, one of experts about all of them.
    """
    about = [arm] if session.is_bandit else list(range(len(session.arms)))
    reports = told.reports()
    named = zip(reports.places.tolist(), reports.losses.tolist(), strict=True)
    return about, [[about[place], loss, reports.missing] for place, loss in named]
