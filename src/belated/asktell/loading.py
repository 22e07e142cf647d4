"""Reading saved sessions: the text is checked, and a session goes on exactly where it stood.

Compiled code does not check where it writes, so everything that it will be given is checked here or
by `Session.restore`. Besides its own format this module reads version 4, in which the repaired
concealed bandit rested on max_missing, and version 3, in which the arrays of a state were not
nested in records.
"""

import base64
import json
import math
import re
import zlib
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from belated.asktell.bandits import Bandit, ConcealedBandit, PartiallyConcealedBandit
from belated.asktell.experts import DelayedExperts, Experts
from belated.asktell.learner_options import learner_in_epoch
from belated.asktell.options import ROUNDS_AT_ONCE, FeedbackOptions, epoch_of
from belated.asktell.saving import FORMAT, VERSION, Json, checksum, numbers_out
from belated.asktell.session_state import SavedBook, SavedRound, SessionState
from belated.asktell.shares import as_minimum_share
from belated.asktell.ticket_book import UNTOLD, ClosedTicket, ToldLosses
from belated.checks import LossRange, as_arms, as_count
from belated.compiled.dispatch import NO_ARM
from belated.learners.contract import Learner
from belated.learners.paper.concealed import added_in_version_5
from belated.learners.registry import UnknownLearnerError, option_names
from belated.learners.states import leaves, with_leaves
from belated.plugins import PluginError
from belated.types import StateFormatError, Ticket, TicketState

UNNESTED, PROMISED = 3, 4  # the format versions before this one
PRACTICAL = {True: "practical-bandit", False: "practical-experts"}  # by whether it is a bandit
AnySession = DelayedExperts | PartiallyConcealedBandit | ConcealedBandit | Bandit | Experts
SESSIONS: dict[str, type[AnySession]] = {
    each.__name__: each
    for each in (DelayedExperts, PartiallyConcealedBandit, ConcealedBandit, Bandit, Experts)
}


def from_json(text: str | bytes) -> AnySession:
    """Return the learner that `to_json` saved; it continues exactly where it stopped."""
    content = _checked(text)
    try:
        content = _with_practical_class(content)
        _refuse_former_bandit(content)
        if content["version"] == UNNESTED:
            content = _from_version_3(content)
        if content["version"] != VERSION:
            content = _from_version_4(content)
        session = _class_of(content)
        return session.restore(_Reader(content, session).session_state())
    except StateFormatError:
        raise
    except UnknownLearnerError:
        raise StateFormatError(
            f"the saved learner is {content['learner']!r}, which is not there; install the "
            "package that has it as a plugin, or import the module that defines it"
        ) from None
    except PluginError as error:
        raise StateFormatError(f"the saved learner cannot be used: {error}") from None
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
    """The content, if it is whole and of a format and version that can be read."""
    try:
        content = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise StateFormatError(f"the saved learner is not JSON: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise StateFormatError(f"this is no saved learner; it must have format {FORMAT!r}")
    if content.get("version") not in (UNNESTED, PROMISED, VERSION):
        raise StateFormatError(
            f"the saved learner has format version {content.get('version')!r}; "
            f"this release reads versions {UNNESTED} to {VERSION}"
        )
    if content.pop("checksum", None) != checksum(content):
        raise StateFormatError("the saved learner is damaged: its checksum does not match")
    return content


def _class_of(content: Json) -> type[AnySession]:
    found = SESSIONS.get(content["class"])
    if found is None:
        raise StateFormatError(f"the saved learner is of the unknown class {content['class']!r}")
    return found


class _Reader:
    """Reads the content of a saved session, of which class and learner are known to fit."""

    def __init__(self, content: Json, session: type[AnySession]) -> None:
        self.content = content
        self.arms = as_arms(content["arms"])
        self.is_bandit = session.is_bandit
        self.options = dict(content["options"])
        self.opened = as_count(content["tickets"]["opened"], "opened", 0)
        self.epoch = self._checked_epoch(max(self.opened, 1), content["epoch"])
        kind = session.kind_of(content["learner"])
        self.learner = learner_in_epoch(kind, len(self.arms), self.options, self.epoch)

    def session_state(self) -> SessionState:
        """The whole session as records."""
        content, feedback = self.content, self.content["feedback"]
        return SessionState(
            session=content["class"],
            learner=content["learner"],
            is_bandit=self.is_bandit,
            arms=self.arms,
            options=self.options,
            feedback=FeedbackOptions(
                **{**feedback, "loss_range": LossRange(**feedback["loss_range"])}
            ),
            epoch=self.epoch,
            warned=set(content["warned"]),
            stream=_stream_in(content["stream"]),
            state=_state_in(content["state"], content["shapes"], self.learner),
            book=self._book(content["tickets"]),
            held=[self._round(content["tickets"]["key"], each) for each in content["held"]],
            minimum_share=as_minimum_share(content.get("minimum_share", 0.0), len(self.arms)),
        )

    def _checked_epoch(self, round_: int, epoch: Any) -> int:
        """The epoch of a round, which must be the one that was saved."""
        right = epoch_of(round_, self.options.get("horizon"))
        if epoch != right:
            raise ValueError(f"the epoch of round {round_} is {epoch!r}, not {right}")
        return right

    def _book(self, saved: Json) -> SavedBook:
        return SavedBook(
            key=saved["key"],
            remember=as_count(saved["remember"], "remember", 0),
            opened=self.opened,
            open=[self._round(saved["key"], each) for each in saved["open"]],
            closed={
                round_: self._closed(TicketState(state), about, told)
                for round_, state, about, told in saved["closed"]
            },
        )

    def _round(self, key: str, saved: Json) -> SavedRound:
        """A round from which something is still to be learned."""
        round_ = as_count(saved["round"], "round", 1, self.opened)
        self._checked_epoch(round_, saved["epoch"])
        plays = dict(self._play(arm, row) for arm, row in saved["plays"])
        ticket = Ticket(f"{key}-{round_}", round_, saved["arm"])
        if self.is_bandit:
            probability = float(_number_in(saved["probability"]))
            told = _told_in(saved["told"], list(plays))
            ticket = ticket._replace(probability=probability, **self._seen(saved))
            return SavedRound(ticket, plays, told)
        weights = [float(_number_in(weight)) for weight in saved["weights"]]
        named = dict(zip(self.arms, weights, strict=True))
        told = _told_in(saved["told"], range(len(self.arms)))
        return SavedRound(ticket._replace(weights=named), plays, told)

    def _seen(self, saved: Json) -> Json:
        """The context of a ticket, and the probabilities of the arms that could be drawn."""
        if "probabilities" not in saved:
            return {}
        named = as_arms(saved["named"]) if "named" in saved else self.arms
        pairs = zip(named, saved["probabilities"], strict=True)
        shares = {arm: float(_number_in(share)) for arm, share in pairs if share is not None}
        return {"context": saved["context"], "probabilities": shares}

    def _play(self, arm: Any, row: Any) -> tuple[int, tuple[float, ...]]:
        """An arm and the row that was frozen for it, as wide as this learner makes it."""
        play = tuple(float(_number_in(value)) for value in row)
        if len(play) != self.learner.row_width:
            raise ValueError(f"the play {row!r} does not have {self.learner.row_width} numbers")
        return as_count(arm, "arm", 0, len(self.arms) - 1), play

    def _closed(self, state: TicketState, about: Any, told: Any) -> ClosedTicket:
        """A closed ticket of one arm, or of all experts."""
        arms = sorted(as_count(arm, "arm", 0, len(self.arms) - 1) for arm in about)
        if self.is_bandit:
            [arm] = arms
            return ClosedTicket(state, arm, UNTOLD).with_told(_told_in(told, arms))
        if arms != list(range(len(self.arms))):
            raise ValueError(f"a closed ticket is about the experts {about!r}")
        return ClosedTicket(state, NO_ARM, _told_in(told, arms).losses)


def _stream_in(words: list[str]) -> Any:
    if len(words) != 4 or not all(re.fullmatch("[0-9a-f]{16}", word) for word in words):
        raise ValueError(f"the random stream is {words!r}")
    return np.array([int(word, 16) for word in words], dtype=np.uint64)


def _told_in(saved: list[list[Any]], about: Iterable[int]) -> ToldLosses:
    """What was reported, by the place that each arm has in its ticket."""
    places = {arm: place for place, arm in enumerate(about)}
    losses, missing = np.full(len(places), UNTOLD), -1
    for arm, loss, count in saved:
        losses[places[arm]] = LossRange().loss(loss)
        missing = as_count(count, "missing", -1)
    return ToldLosses(losses, missing)


def _number_in(value: Any) -> float:
    if value in ("inf", "-inf"):
        return float(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    raise ValueError(f"{value!r} is no number")


# -- states


def _state_in(saved: Mapping[str, Any], shapes: Mapping[str, Any], learner: Learner) -> Any:
    """The saved arrays as a state of the learner."""
    fresh = learner.start()
    names, roomy = leaves(fresh), leaves(learner.reserved(fresh, 2 * ROUNDS_AT_ONCE))
    arrays = {}
    for name in (name for name in names if name in saved):
        part = names[name]
        shape = _shape_in(shapes[name], part.shape, roomy[name].shape)
        if isinstance(saved[name], str):
            array = _unpacked(saved[name], math.prod(shape), part.dtype)
        else:
            array = np.array([_number_in(value) for value in saved[name]], dtype=part.dtype)
        arrays[name] = array.reshape(shape)
    arrays = learner.with_later_parts(arrays)
    if {*saved, *arrays} != set(names) or len(arrays) < len(names):
        odd = ", ".join(sorted({*saved, *arrays} ^ set(names) | set(names) - set(arrays)))
        raise StateFormatError(
            f"the saved learner is another {learner.name} than this release has: "
            f"its state differs in the parts {odd}"
        )
    return with_leaves(fresh, arrays)


def _unpacked(text: str, size: int, kind: Any) -> Any:
    """So many numbers of a kind, from the base64 text of their packed bytes."""
    most = size * kind.itemsize
    try:
        raw = zlib.decompressobj().decompress(base64.b64decode(text, validate=True), most + 1)
    except zlib.error as error:
        raise ValueError(f"a part of the state cannot be unpacked: {error}") from None
    if len(raw) != most:
        raise ValueError(f"a part of the state does not have {size} numbers")
    array = np.frombuffer(raw, dtype=kind.newbyteorder("<")).astype(kind)
    if np.isnan(array).any():
        raise ValueError("a part of the state holds NaN")
    return array


def _shape_in(saved: Any, least: tuple[int, ...], roomy: tuple[int, ...]) -> tuple[int, ...]:
    """The saved shape of an array, which may be larger only where the learner makes room."""
    shape = tuple(as_count(size, "size", 0) for size in saved)
    sizes = zip(shape, least, roomy, strict=True)
    if any(size < small or (size > small and small == large) for size, small, large in sizes):
        raise ValueError(f"a part of the state has the shape {shape}, where {least} is usual")
    return shape


# -- earlier format versions


def _with_practical_class(content: Json) -> Json:
    """The content as of Bandit or Experts if the learner is a practical one.

    The paper's classes once ran these, too, as a variant of their own learner.
    """
    session, options = _class_of(content), dict(content["options"])
    name = PRACTICAL[session.is_bandit]
    if content.get("learner", options.get("variant")) not in (name, "practical"):
        return content
    if "learner" not in content:
        del options["variant"]
    general = Bandit if session.is_bandit else Experts
    return {**content, "class": general.__name__, "learner": name, "options": options}


def _refuse_former_bandit(content: Json) -> None:
    """Refuse a practical bandit of before, which solved for its weights with a multiplier."""
    of_bandit = str(content.get("learner")).endswith(PRACTICAL[True])
    if of_bandit and any(part.endswith("multiplier") for part in content["state"]):
        raise StateFormatError(
            "the saved learner is the practical-bandit of an earlier release, which another "
            "learner has replaced; start a new one with belated.Bandit(arms), see docs/asktell.md"
        )


def _from_version_4(content: Json) -> Json:
    """The content of a text of format version 4, as version 5 has it.

    The repaired concealed bandit goes on with the rates of that version, which rest on max_missing.
    What its state lacks is as at the start. In a stack of copies it is so for each of them.
    """
    state, shapes, options = (dict(content[name]) for name in ("state", "shapes", "options"))
    kind = _class_of(content).kind_of(content["learner"])
    if options.get("variant") == "repaired" and "gamma_bound" in option_names(kind):
        options["gamma_bound"] = "max_missing"
    epoch = as_count(content["epoch"], "epoch", 0, 63)
    fresh = leaves(learner_in_epoch(kind, len(content["arms"]), options, epoch).start())
    for name, older in added_in_version_5(fresh).items():
        array = fresh[name]
        if fresh[older].ndim > 1:
            array = np.repeat(array[:1], as_count(shapes[older][0], "size", 0), axis=0)
        state[name], shapes[name] = numbers_out(array.ravel()), array.shape
    return {**content, "version": VERSION, "state": state, "shapes": shapes, "options": options}


def _from_version_3(content: Json) -> Json:
    """The content of a text of format version 3, as version 4 has it.

    The paper's classes did not save the name of their learner, the shapes of its arrays (which did
    not grow) and held rounds (there were none).
    """
    session, options = _class_of(content), dict(content["options"])
    if "learner" not in content:
        content["learner"] = session.only_kind.name if session.only_kind else None
    kind = session.kind_of(content["learner"])
    epoch = as_count(content["epoch"], "epoch", 0, 63)
    learner = learner_in_epoch(kind, len(as_arms(content["arms"])), options, epoch)
    state, shapes = _nested(content["state"], content.get("shapes"), learner)
    return {
        **content,
        "options": options,
        "feedback": content["terms"],
        "state": state,
        "shapes": shapes,
        "held": content.get("held", []),
    }


def _nested(
    saved: Mapping[str, list[Any]], shapes: Mapping[str, Any] | None, learner: Learner
) -> tuple[Json, Json]:
    """The arrays of a flat state and their shapes, by the names that they have in a nested state.

    A learner knows in which order the numbers of version 3 fill its arrays now. They are strung
    together and divided again; only an array that grows must be a part of its own.
    """
    fresh = learner.start()
    roomy = leaves(learner.reserved(fresh, 2 * ROUNDS_AT_ONCE))
    added = added_in_version_5(leaves(fresh))
    now = {name: part for name, part in leaves(fresh).items() if name not in added}
    if set(saved) == set(now):
        return dict(saved), dict(shapes or {name: part.shape for name, part in now.items()})
    parts, numbers = deque(learner.from_version_3(saved).items()), deque[Any]()
    state: Json = {}
    found: Json = {}
    for name, part in now.items():
        grows = part.shape != roomy[name].shape
        if grows and not numbers:
            before, state[name] = parts.popleft()
            found[name] = (shapes or {}).get(before) or _grown(
                len(state[name]), part.shape, roomy[name].shape
            )
            continue
        while len(numbers) < part.size:
            numbers.extend(parts.popleft()[1])
        state[name] = [numbers.popleft() for _ in range(part.size)]
        found[name] = part.shape
    if numbers or parts:
        raise ValueError(f"the state has more numbers than that of a {learner.name} here")
    return state, found


def _grown(size: int, least: tuple[int, ...], roomy: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of an array of so many numbers that grows in one of its dimensions."""
    [growing] = (k for k, sizes in enumerate(zip(least, roomy, strict=True)) if len(set(sizes)) > 1)
    others = math.prod(count for k, count in enumerate(least) if k != growing)
    return (*least[:growing], size // others, *least[growing + 1 :])
