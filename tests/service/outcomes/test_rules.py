"""What named outcomes amount to, by an oracle that looks at every report; and wrong rules."""

import random
from fractions import Fraction
from typing import Any

import pytest

from belated.service.core.problems import checked_spec
from belated.service.outcomes.rules import RULES, rule_of, standing
from belated.service.store import NamedOutcome

NAMES = ["click", "sale", "refund"]
WEIGHTS = {"click": 0.25, "sale": 1.0, "refund": -2.0}


def said(rule: str, reports: list[NamedOutcome]) -> Fraction:
    """What a rule says, written out: one name after the other, exactly."""
    rewards, first = {}, {}
    for name in NAMES:
        of_name = [each for each in reports if each.name == name]
        if of_name:
            first[name] = reports.index(of_name[0])
            highest = max(each.revision for each in of_name)
            (stands,) = [each for each in of_name if each.revision == highest]
            rewards[name] = Fraction(stands.reward)
    if rule in ("first", "last"):
        chosen = min if rule == "first" else max
        return rewards[chosen(first, key=lambda name: first[name])]
    if rule == "max":
        return max(rewards.values())
    weights = WEIGHTS if rule == "weighted" else dict.fromkeys(NAMES, 1.0)
    return sum((Fraction(weights[name]) * value for name, value in rewards.items()), Fraction(0))


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_says_what_the_oracle_says_in_any_order(rule: str) -> None:
    """Random reports with revisions, shuffled; a sum is the same bits in every order."""
    chance = random.Random(5)
    outcomes = {"names": NAMES, "rule": rule, "revise_within": 60.0}
    outcomes["weights"] = WEIGHTS if rule == "weighted" else None
    made = rule_of({"outcomes": outcomes})
    assert made is not None
    for _ in range(200):
        pairs = [(name, revision) for name in NAMES for revision in range(3)]
        reports = [
            NamedOutcome("t", name, revision, chance.choice([0.1, 1e9, -3.5, 12.0]), 1.0)
            for name, revision in chance.sample(pairs, chance.randint(1, 6))
        ]
        assert made.reward(reports) == pytest.approx(float(said(rule, reports)), abs=1e-6)
        if rule in ("sum", "max", "weighted"):
            assert made.reward(chance.sample(reports, len(reports))) == made.reward(reports)


def test_a_revision_replaces_the_reward_and_not_the_place() -> None:
    """The first outcome stays the first when it is revised, also by a report out of order."""
    reports = [
        NamedOutcome("t", "click", 1, 2.0, 1.0),
        NamedOutcome("t", "sale", 0, 12.0, 2.0),
        NamedOutcome("t", "click", 0, 1.0, 3.0),
        NamedOutcome("t", "click", 2, 3.0, 4.0),
    ]
    assert [(name, each.reward) for name, each in standing(reports).items()] == [
        ("click", 3.0),
        ("sale", 12.0),
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"names": []}, r"the names of outcomes are \[\]; they must be a list of names"),
        ({"names": ["a b"]}, "the outcome 'a b' is no name"),
        ({"names": ["a", "a"]}, "they must differ"),
        ({"names": [f"n{i}" for i in range(21)]}, "there are 21 outcomes; there may be 20"),
        ({"rule": "best"}, "the rule of outcomes is 'best'; it must be one of first, last"),
        ({"weights": {"click": 1}}, "only the rule weighted has weights"),
        ({"rule": "weighted"}, "it must give a weight to each of click, sale, refund"),
        ({"revise_within": None}, "outcomes has no revise_within"),
        ({"revise_within": -1}, "revise_within is -1.0; it must be from 0"),
        ({"colour": 1}, "it must have names and a rule"),
    ],
)
def test_a_wrong_rule_is_refused(changes: dict[str, Any], words: str) -> None:
    """One sentence says which value is wrong, and what it must be."""
    outcomes = {"names": NAMES, "rule": "sum", "revise_within": 60, **changes}
    with pytest.raises(ValueError, match=words):
        checked_spec({"arms": ["red"], "outcomes": outcomes})


def test_experts_and_partial_feedback_have_none() -> None:
    """They are told more than one loss in a round."""
    outcomes = {"names": NAMES, "rule": "sum", "revise_within": 60}
    for spec in (
        {"kind": "experts", "arms": ["red", "green"]},
        {
            "arms": ["red", "green"],
            "learner": "partially-concealed",
            "options": {"max_missing": 9, "horizon": 99},
        },
    ):
        with pytest.raises(ValueError, match="outcomes is given for a learner that is told more"):
            checked_spec({**spec, "outcomes": outcomes})


def test_a_range_is_hard_or_soft() -> None:
    """Both at once would say two things."""
    with pytest.raises(ValueError, match=r"loss_range is \(0, 1\) and soft_range is \(0, 9\)"):
        checked_spec({"arms": ["red"], "loss_range": (0, 1), "soft_range": (0, 9)})
