"""Learners that were saved in earlier format versions are read, and go on exactly.

The folders saved/version-3, -4 and -5 have texts that the releases of that time wrote after 40
rounds with late, lost, expired and cancelled plays. NAME.next.json is what the release did next
with them: each step, its arguments, and what came of it. The practical bandit is another learner
since, and its texts are refused.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import belated
from belated.asktell.saving import checksum
from belated.compiled.kernels import compile_mode
from belated.learners.paper.concealed import added_in_version_5

SAVED = Path(__file__).parent / "saved"
SUFFIX = ".next.json"
NEXT = sorted(
    str(path.relative_to(SAVED)).removesuffix(SUFFIX) for path in SAVED.rglob("*" + SUFFIX)
)
ALL = {
    str(path.relative_to(SAVED).with_suffix(""))
    for path in SAVED.rglob("*.json")
    if not path.name.endswith(SUFFIX)
}
FORMER_BANDITS = sorted(
    name for name in ALL if "practical" in name and name.lower().find("experts") < 0
)
TEXTS = sorted(name for name in ALL - set(FORMER_BANDITS) if name.startswith("version-3"))
INTERPRETED = compile_mode() == "never"
# A few stand for all where each learner would have to be compiled.
FEW = [
    "version-3/ConcealedBandit.paper",
    "version-3/DelayedExperts.one",
    "version-3/PartiallyConcealedBandit.paper",
]
PLAYED = NEXT if INTERPRETED else FEW


def text_of(name: str) -> str:
    return (SAVED / f"{name}.json").read_text().strip()


def numbers_in(state: dict[str, list[Any]]) -> list[Any]:
    return [value for part in state.values() for value in part]


@pytest.mark.parametrize("name", TEXTS if INTERPRETED else PLAYED)
def test_all_of_it_is_read(name: str) -> None:
    """Saved again, in the present format, it says the same; and that is read as well."""
    text = text_of(name)
    learner = belated.from_json(text)
    before, after = json.loads(text), json.loads(learner.to_json())
    assert (before["version"], after["version"]) == (3, 5)
    added = added_in_version_5(after["state"])
    older = {name: part for name, part in after["state"].items() if name not in added}
    assert sorted(map(repr, numbers_in(older))) == sorted(map(repr, numbers_in(before["state"])))
    assert after["feedback"] == before["terms"]
    assert after["held"] == before.get("held", [])
    assert after["class"] == before["class"].replace(
        "DelayedExperts", "Experts" if "practical" in name else "DelayedExperts"
    )
    for key in ("arms", "epoch", "warned", "stream", "tickets"):
        assert after[key] == before[key], key
    assert belated.from_json(learner.to_json()).to_json() == learner.to_json()


@pytest.mark.parametrize("name", FORMER_BANDITS)
def test_the_practical_bandit_of_before_is_refused(name: str) -> None:
    """In one sentence, which says what to do; its experts go on (see above)."""
    with pytest.raises(belated.StateFormatError) as caught:
        belated.from_json(text_of(name))
    assert str(caught.value) == (
        "the saved learner is the practical-bandit of an earlier release, which another learner "
        "has replaced; start a new one with belated.Bandit(arms), see docs/asktell.md"
    )
    assert {name.partition("/")[0] for name in FORMER_BANDITS} == {
        "version-3", "version-4", "version-5"
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore::belated.BelatedWarning")
@pytest.mark.parametrize("name", PLAYED)
def test_it_goes_on_as_the_release_that_wrote_it(name: str) -> None:
    """The same arms, probabilities, weights and answers, bit for bit."""
    learner: Any = belated.from_json(text_of(name))
    key = json.loads(text_of(name))["tickets"]["key"]
    for verb, *rest in json.loads((SAVED / (name + SUFFIX)).read_text()):
        if verb == "ask":
            options, expected = rest
            assert decided(learner.ask(**options)) == expected
            continue
        round_, options, expected = rest
        assert answer(getattr(learner, verb), f"{key}-{round_}", options) == expected


def decided(ticket: belated.Ticket) -> list[Any]:
    if ticket.weights is not None:
        return list(ticket.weights.values())
    return [ticket.arm, ticket.probability]


def answer(verb: Any, ticket: str, options: dict[str, Any]) -> list[Any]:
    """What a report or a cancelling came to, or the name of its error."""
    try:
        feedback = verb(ticket, **options)
    except belated.BelatedError as error:
        return [type(error).__name__]
    return [feedback.counted, feedback.state.value]


# -- states whose arrays were renamed and divided since


def rewritten(content: dict[str, Any]) -> str:
    """A text with this content and a checksum that fits."""
    content.pop("checksum", None)
    return json.dumps({**content, "checksum": checksum(content)})


@pytest.mark.parametrize(
    "name",
    [
        f"version-3/{each}"
        for each in ("ConcealedBandit.paper", "exp3.expiring", "uniform.expiring")
    ],
)
def test_arrays_under_other_names_are_read_in_their_order(name: str) -> None:
    """A flat state has the numbers of a nested one in the same order, under other names."""
    before = belated.from_json(text_of(name)).to_json()
    content = json.loads(text_of(name))
    content["state"] = {f"old {key}": value for key, value in content["state"].items()}
    assert belated.from_json(rewritten(content)).to_json() == before


def test_arrays_that_were_divided_or_joined_since_are_read() -> None:
    """What was one array may be several by now, and several one."""
    before = belated.from_json(text_of("version-3/ConcealedBandit.paper")).to_json()
    content = json.loads(text_of("version-3/ConcealedBandit.paper"))
    numbers = numbers_in(content["state"])
    content["state"] = {"first": numbers[:4], "second": numbers[4:]}
    assert belated.from_json(rewritten(content)).to_json() == before


@pytest.mark.parametrize("change", [lambda part: part[:-1], lambda part: [*part, 1.0]])
def test_a_number_too_few_or_too_many_is_refused(change: Any) -> None:
    """The numbers must fill the state exactly."""
    content = json.loads(text_of("version-3/ConcealedBandit.paper"))
    content["state"] = {"all": change(numbers_in(content["state"]))}
    with pytest.raises(belated.StateFormatError):
        belated.from_json(rewritten(content))
