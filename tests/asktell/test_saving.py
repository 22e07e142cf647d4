"""A learner as JSON text: resumed after any prefix it goes on exactly; damage is refused."""

import contextlib
import functools
import hashlib
import json
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import belated
from belated import StateFormatError
from belated.asktell.saving import checksum
from belated.learners.paper.full_information import MOST_CARRIED
from tests.asktell.session_kinds import (
    CONCEALED,
    EXPERTS,
    KINDS,
    PARTIAL,
    WITH_HORIZON,
    Kind,
    part_of_state,
)

every_kind = pytest.mark.parametrize("kind", KINDS, ids=repr)
Operation = tuple[Any, ...]
LOSSES = (0.0, 0.125, 0.3, 1 / 3, 0.9, 1.0, float("nan"))
NAMES = (["a"], ["a", "b"], ["a", 1, "1"], 4)


@st.composite
def options_of(draw: st.DrawFn, kind: Kind) -> dict[str, Any]:
    """The options of a learner, the odd ones among them."""
    options: dict[str, Any] = {
        "arms": draw(st.sampled_from(NAMES)),
        "variant": draw(st.sampled_from(["paper", "repaired"])),
        "remember": draw(st.sampled_from([0, 1, 2, 1000])),
        "strict": draw(st.booleans()),
        "seed": draw(st.integers(0, 2**64)),
    }
    arms = options["arms"]
    names = list(range(arms)) if isinstance(arms, int) else arms
    if kind in WITH_HORIZON:
        options["horizon"] = draw(st.sampled_from(["doubling", 1, 5, 1000]))
        parts = draw(st.none() | st.lists(st.integers(1, 9), min_size=4, max_size=4))
        if parts:
            weights = [part / sum(parts[: len(names)]) for part in parts[: len(names)]]
            options["prior"] = dict(zip(names, weights, strict=True))
    if kind.is_bandit:
        options["max_missing"] = draw(st.sampled_from([None, 0, 1, 3, 1000]))
    if kind is CONCEALED:
        options["gamma_weight"] = draw(st.sampled_from([None, "q", "q+eps"]))
    if draw(st.booleans()):
        options["expire_after"] = draw(st.integers(0, 4))
        options["default_loss"] = draw(st.sampled_from([0.0, 0.7]))
    return options


def operations(kind: Kind) -> st.SearchStrategy[Operation]:
    """One step of a history; tickets are meant by how long ago they were handed out."""
    ago = st.integers(0, 5)
    loss = st.sampled_from(LOSSES)
    words = st.sampled_from(["loss", "reward"])
    ask = st.just(("ask",))
    if kind.is_bandit:
        tell = st.tuples(st.just("tell"), ago, words, loss, st.integers(0, 3))
    else:
        pieces = st.dictionaries(st.integers(0, 3), loss, max_size=4)
        tell = st.tuples(st.just("tell"), ago, words, pieces, st.none())
    other = st.tuples(st.sampled_from(["cancel", "tell altered"]), ago)
    return st.one_of(ask, ask, ask, tell, tell, other, st.just(("weights",)), st.just(("pending",)))


def perform(kind: Kind, learner: Any, tickets: list[Any], operation: Operation) -> object:
    """Do one step; everything a user sees of it, errors and warnings included."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            seen = attempt(kind, learner, tickets, operation)
        except (belated.BelatedError, ValueError) as error:
            seen = (type(error).__name__, str(error))
    return seen, [str(warning.message) for warning in caught]


def attempt(kind: Kind, learner: Any, tickets: list[Any], operation: Operation) -> object:
    verb, *rest = operation
    if verb == "ask":
        tickets.append(learner.ask())
        return tickets[-1]
    if verb in ("weights", "pending"):
        return getattr(learner, verb)()
    ticket = tickets[-1 - rest[0]] if rest[0] < len(tickets) else "nobody's"
    if verb == "cancel":
        return learner.cancel(ticket)
    if verb == "tell altered":
        return learner.tell(
            belated.Ticket(getattr(ticket, "id", ticket), 0), **report(kind, 0.5, 0)
        )
    _, word, value, missing = rest
    if not kind.is_bandit:
        value = {learner.arms[i]: loss for i, loss in value.items() if i < len(learner.arms)}
    return learner.tell(ticket, **report(kind, value, missing, word))


def report(kind: Kind, value: Any, missing: int | None, word: str = "loss") -> dict[str, Any]:
    if kind is EXPERTS and not isinstance(value, dict):
        value = {}
    return {word: value} | ({"missing": missing} if kind is PARTIAL else {})


@every_kind
@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_resumed_after_any_prefix_a_learner_goes_on_exactly(
    kind: Kind, data: st.DataObject
) -> None:
    """Saved never, once or before every step: same tickets, weights, errors, warnings and text."""
    options = data.draw(options_of(kind), "options")
    steps = data.draw(st.lists(operations(kind), max_size=30), "history")
    cut = data.draw(st.integers(0, len(steps)), "cut")
    never, once, always = (kind.make(**options) for _ in range(3))
    tickets: dict[str, list[Any]] = {"never": [], "once": [], "always": []}
    for number, step in enumerate(steps):
        once = belated.from_json(once.to_json()) if number == cut else once
        always = belated.from_json(always.to_json())
        expected = perform(kind, never, tickets["never"], step)
        assert perform(kind, once, tickets["once"], step) == expected
        assert perform(kind, always, tickets["always"], step) == expected
    assert once.to_json() == always.to_json() == never.to_json()


@every_kind
def test_a_long_history_goes_on_exactly_wherever_it_is_resumed(kind: Kind) -> None:
    """Beyond the rounds for which experts carry their weights along, looked at or not."""
    options = {"horizon": 500} if kind in WITH_HORIZON else {}
    learners = [kind.make(5, **options) for _ in range(3)]
    rng, waiting, ages = np.random.default_rng(51), [], set()
    for t in range(220):
        resumed = [2, 1] if t in (70, 101, 165) else [2]
        for number in resumed:
            learners[number] = belated.from_json(learners[number].to_json())
        waiting.append([learner.ask() for learner in learners])
        assert waiting[-1][0] == waiting[-1][1] == waiting[-1][2]
        if t >= 6:
            losses, missing = rng.random(5), min(t - 6, 6)
            told = losses[0] if kind.is_bandit else dict(enumerate(losses))
            for learner, ticket in zip(learners, waiting.pop(0), strict=True):
                learner.tell(ticket, **report(kind, told, missing))
        assert learners[0].weights() == learners[2].weights()
        if kind is EXPERTS:
            ages.add(part_of_state(learners[0], "carried")[0])
    assert len({learner.to_json() for learner in learners}) == 1
    assert kind is not EXPERTS or {0.0, 1.0, MOST_CARRIED} <= ages


@every_kind
def test_saving_and_resuming_leaves_the_learner_and_the_text_as_they_are(kind: Kind) -> None:
    """to_json changes nothing, and the text of the resumed learner is the same text."""
    learner = used(kind)
    text = learner.to_json()
    assert learner.to_json() == text
    resumed = belated.from_json(text)
    assert type(resumed) is type(learner)
    assert resumed.to_json() == text
    assert belated.from_json(text.encode()).to_json() == text
    assert (resumed.arms, resumed.round) == (learner.arms, learner.round)


@every_kind
def test_two_learners_resumed_from_one_text_do_not_share_anything(kind: Kind) -> None:
    """What one learns the other does not."""
    text = used(kind).to_json()
    one, other = belated.from_json(text), belated.from_json(text)
    kind.tell(one, one.ask(), 1.0)
    assert other.to_json() == text


def used(kind: Kind) -> Any:
    """A learner with told, cancelled, expired, pending and (experts) half-told tickets."""
    learner = kind.make(expire_after=5, default_loss=0.25)
    tickets = [learner.ask() for _ in range(7)]
    kind.tell(learner, tickets[3], 1 / 3)
    learner.cancel(tickets[4])
    if kind is EXPERTS:
        learner.tell(tickets[5], {"green": 0.1})
    return learner


# -- damage


@functools.cache
def text_of(kind: Kind) -> str:
    """The saved text that the tests below damage."""
    return used(kind).to_json()


def refuses(text: Any, match: str = "saved learner") -> None:
    """from_json raises StateFormatError and nothing else, and says what is wrong."""
    with pytest.raises(StateFormatError, match=match):
        belated.from_json(text)


@every_kind
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_one_changed_character_is_noticed(kind: Kind, data: st.DataObject) -> None:
    """Any character put for any other: refused, unless the text still means the same."""
    text = text_of(kind)
    place = data.draw(st.integers(0, len(text) - 1), "place")
    character = data.draw(st.characters() | st.sampled_from('0123456789.-eE"{}[],: '), "character")
    changed = text[:place] + character + text[place + 1 :]
    with contextlib.suppress(StateFormatError):
        assert belated.from_json(changed).to_json() == text


@every_kind
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_a_text_cut_short_is_refused(kind: Kind, data: st.DataObject) -> None:
    """Wherever it breaks off."""
    text = text_of(kind)
    refuses(text[: data.draw(st.integers(0, len(text) - 1))], "not JSON")


@every_kind
def test_every_changed_digit_of_the_state_is_noticed(kind: Kind) -> None:
    """The first digit of any number anywhere in the text."""
    text = text_of(kind)
    starts = [
        place
        for place, character in enumerate(text)
        if character.isdigit() and text[place - 1] in " [-"
    ]
    assert len(starts) > 30
    for place in starts:
        digit = str((int(text[place]) + 1) % 10)
        refuses(text[:place] + digit + text[place + 1 :])


@every_kind
@pytest.mark.parametrize("checksum", ["old", "new"])
def test_a_dropped_key_is_refused(kind: Kind, checksum: str) -> None:
    """At the top and in every object below it, even if the checksum is made to fit."""
    whole = json.loads(text_of(kind))
    for key in set(whole) - {"checksum"}:
        refuses(rewritten(kind, lambda content, k=key: content.pop(k), checksum))
    for outer in ("feedback", "state", "tickets"):
        for key in whole[outer]:
            refuses(rewritten(kind, lambda content, o=outer, k=key: content[o].pop(k), checksum))


def rewritten(kind: Kind, change: Callable[[dict[str, Any]], object], checksum: str = "new") -> str:
    """The text with a change in its content, the checksum left as it was or made to fit."""
    content = json.loads(text_of(kind))
    stated = content.pop("checksum")
    change(content)
    if checksum == "new":
        canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
        stated = hashlib.sha256(canonical.encode()).hexdigest()
    return json.dumps({**content, "checksum": stated})


@every_kind
def test_a_state_of_another_release_is_refused_in_a_sentence(kind: Kind) -> None:
    """It names the parts in which the states differ."""
    part = min(json.loads(text_of(kind))["state"])

    def rename(content: dict[str, Any]) -> None:
        content["state"]["formerly"] = content["state"].pop(part)

    refuses(rewritten(kind, rename), f"than this release has: .* the parts .*{part}")


@every_kind
def test_a_text_without_a_checksum_is_refused(kind: Kind) -> None:
    """It is what tells damage from data."""
    content = json.loads(text_of(kind))
    del content["checksum"]
    refuses(json.dumps(content), "checksum")


@every_kind
def test_the_checksum_made_to_fit_here_is_the_one_of_the_format(kind: Kind) -> None:
    """Without a change the rewritten text is accepted, so the refusals below are for cause."""
    resumed = belated.from_json(rewritten(kind, lambda content: None))
    assert resumed.to_json() == text_of(kind)


@pytest.mark.parametrize(
    "text",
    ["", " ", "no JSON", "{", b"", b"\xff\xfe\x00", b"\x80", None, 7, [], "\x00", "[" * 100_000],
    ids=lambda text: repr(text)[:12],
)
def test_what_is_not_json_is_refused(text: Any) -> None:
    """Empty, garbage, bytes in no encoding, no text at all, nested beyond reason."""
    refuses(text, "not JSON")


@pytest.mark.parametrize(
    "text",
    ["null", "[]", "{}", "7", '"text"', "NaN", '{"format": "other"}', '{"format": null}'],
)
def test_json_of_another_kind_is_refused(text: str) -> None:
    """The message says which format it must have."""
    refuses(text, "no saved learner; it must have format 'belated-learner'")


@every_kind
@pytest.mark.parametrize("version", [0, 2, 6, 4.5, "5", None, [5]])
def test_another_version_is_refused(kind: Kind, version: Any) -> None:
    """Whatever the checksum says, and the message names the version that was found."""
    for sum_ in ("old", "new"):
        text = rewritten(kind, lambda content: content.update(version=version), sum_)
        refuses(text, "format version")


@every_kind
@pytest.mark.parametrize("name", ["OtherBandit", "Session", "", None, 5, ["ConcealedBandit"]])
def test_an_unknown_class_is_refused(kind: Kind, name: Any) -> None:
    """Even with a checksum that fits."""
    refuses(rewritten(kind, lambda content: content.update({"class": name})))


@every_kind
def test_the_state_of_another_class_is_refused(kind: Kind) -> None:
    """A state must fit the class that is named."""
    for other in KINDS:
        if other is not kind:
            name = other.make_class.__name__
            refuses(rewritten(kind, lambda content, n=name: content.update({"class": n})))


WRONG: dict[str, Callable[[list[Any]], Any]] = {
    "one number more": lambda part: [*part, *(part[-1:] or [0])],
    "one number less": lambda part: part[:-1],
    "none": lambda part: [],
    "nested": lambda part: [part, part],
    "text": lambda part: ["seven", *part[1:]],
    "nothing in it": lambda part: [None, *part[1:]],
    "an object": lambda part: {},
    "null": lambda part: None,
    "a number": lambda part: 1,
    "a whole number beyond all bounds": lambda part: [10**400, *part[1:]],
}


@every_kind
@pytest.mark.parametrize("wrong", WRONG)
def test_a_part_of_the_state_that_does_not_fit_is_refused(kind: Kind, wrong: str) -> None:
    """Wrong length, shape or content of any part, even with a checksum that fits."""
    for name, part in json.loads(text_of(kind))["state"].items():
        changed = {name: WRONG[wrong](part)}
        if not part and not changed[name]:  # nothing can be taken from an empty part
            continue
        refuses(rewritten(kind, lambda content, new=changed: content["state"].update(new)))


@every_kind
@pytest.mark.parametrize("epoch", [1, -1, "0", None])
def test_an_epoch_that_does_not_fit_is_refused(kind: Kind, epoch: Any) -> None:
    """With a fixed horizon there is only epoch 0; any other would start the learner anew."""
    refuses(rewritten(kind, lambda content: content.update(epoch=epoch)))


def test_a_part_of_the_state_too_many_is_refused() -> None:
    """Even with a checksum that fits."""
    for kind in KINDS:
        refuses(rewritten(kind, lambda content: content["state"].update(surplus=[1.0])))


@every_kind
@pytest.mark.parametrize(
    "words",
    [[], ["0"] * 3, ["0"] * 5, ["f" * 17] * 4, ["-1"] * 4, ["xyz"] * 4, [1, 2, 3, 4], None],
    ids=repr,
)
def test_a_random_stream_that_does_not_fit_is_refused(kind: Kind, words: Any) -> None:
    """It has four words of 64 bits; fewer would be read beyond their end."""
    refuses(rewritten(kind, lambda content: content.update(stream=words)))


BROKEN_TICKETS: dict[str, Callable[[dict[str, Any]], object]] = {
    "an arm out of range": lambda entry: entry.update(plays=[[99, entry["plays"][0][1]]]),
    "a negative arm": lambda entry: entry.update(plays=[[-1, entry["plays"][0][1]]]),
    "a play without content": lambda entry: entry.update(plays=[[0, []]]),
    "a play of text": lambda entry: entry.update(plays=[[0, ["a", "b", "c"]]]),
    "no plays": lambda entry: entry.update(plays=None),
    "a round that was never played": lambda entry: entry.update(round=99),
    "no round": lambda entry: entry.update(round="one"),
    "a round that has expired": lambda entry: entry.update(round=1),
    "another epoch": lambda entry: entry.update(epoch=1),
    "a play too few": lambda entry: entry["plays"].pop(),
    "a loss told of an untold arm": lambda entry: entry.update(
        told=[[entry["plays"][0][0], 0.5, -1]]
    ),
}


@every_kind
@pytest.mark.parametrize("broken", BROKEN_TICKETS)
def test_a_pending_ticket_that_does_not_fit_is_refused(kind: Kind, broken: str) -> None:
    """Compiled code does not look where it writes, so what it is given must be looked at here."""
    change = BROKEN_TICKETS[broken]
    refuses(rewritten(kind, lambda content: change(content["tickets"]["open"][0])))


def test_experts_may_stand_in_any_order_in_a_saved_ticket() -> None:
    """As they were told, which is how the first release wrote them."""

    def turn(content: dict[str, Any]) -> None:
        for entry in content["tickets"]["open"]:
            entry["plays"].reverse()
            entry["told"].reverse()
        for _, _, about, told in content["tickets"]["closed"]:
            about.reverse()
            told.reverse()

    assert belated.from_json(rewritten(EXPERTS, turn)).to_json() == text_of(EXPERTS)


@every_kind
def test_infinite_parts_of_the_state_survive(kind: Kind) -> None:
    """A fresh learner holds infinities, which JSON has no numbers for."""
    text = kind.make().to_json()
    json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert any("inf" in part for part in json.loads(text)["state"].values())
    assert belated.from_json(text).to_json() == text


def test_slots_that_do_not_fit_together_are_refused() -> None:
    """Skipping keeps plays in numbered slots, and compiled code trusts the numbers."""
    bandit = belated.ConcealedBandit(["a", "b"], variant="repaired", skipping=True, seed=1)
    tickets = [bandit.ask() for _ in range(40)]
    for ticket in tickets[::2]:
        bandit.tell(ticket, loss=0.5)
    text = bandit.to_json()
    assert belated.from_json(text).to_json() == text
    for part, place, value in [
        ("last_arm", 0, 2),
        ("skippable.free", 0, 10**6),
        ("skippable.free", 1, 10**6),
        ("skippable.older", 0, -2),
        ("skippable.newest", 1, 10**6),
    ]:
        content = json.loads(text)
        content.pop("checksum")
        content["state"][part][place] = value
        with pytest.raises(StateFormatError, match="does not fit together"):
            belated.from_json(json.dumps({**content, "checksum": checksum(content)}))
