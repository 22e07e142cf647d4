"""Policies in ask and tell: advice with each ask, by name or as a table, checked before use."""

from typing import Any

import numpy as np
import pytest

import belated
from belated.learners.advice.advice import Advice
from belated.learners.advice.advice_bandit import AdviceBandit
from belated.learners.driver import Driver

ARMS, POLICIES = ("red", "green", "blue"), ("careful", "bold")
LEARNERS = ["advice-bandit", "exp4", "advice"]


def made(learner: str, **options: Any) -> Any:
    """A session with two policies and three arms."""
    make = belated.Experts if learner == "advice" else belated.Bandit
    return make(ARMS, learner=learner, policies=list(POLICIES), seed=3, **options)


def table(random: np.random.Generator) -> Any:
    """What two policies advise; nobody ever advises the last arm."""
    rows = np.zeros((2, 3))
    rows[:, :2] = random.dirichlet(np.ones(2), 2)
    return rows / rows.sum(axis=1, keepdims=True)


def named(rows: Any) -> dict[str, dict[str, float]]:
    """A table by names, leaving out what is zero."""
    return {
        policy: {arm: p for arm, p in zip(ARMS, row, strict=True) if p > 0.0}
        for policy, row in zip(POLICIES, rows.tolist(), strict=True)
    }


def tell(session: Any, ticket: Any, random: np.random.Generator) -> None:
    """A loss of the arm, or those of all."""
    losses = random.random(3)
    session.tell(ticket, float(losses[0]) if session.is_bandit else losses)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("horizon", [40, "doubling"])
def test_by_names_as_a_table_and_after_saving_it_is_the_same(learner: str, horizon: Any) -> None:
    """The same draws and weights in each way, with the horizon known or doubling."""
    options = {"horizon": horizon} if learner == "advice" else {}
    sessions = [made(learner, **options) for _ in range(3)]
    randoms = [np.random.default_rng(1) for _ in sessions]
    late: list[list[Any]] = [[], [], []]
    for t in range(40):
        tickets = []
        for k, random in enumerate(randoms):
            rows = table(random)
            given = named(rows) if k == 1 else rows.tolist() if k == 2 else rows
            if k == 2 and t % 7 == 3:
                sessions[k] = belated.from_json(sessions[k].to_json())
            weights = sessions[k].weights(advice=given)
            late[k].append(sessions[k].ask(advice=given))
            tickets.append((late[k][-1], weights, sessions[k].policy_weights()))
            if t % 3 == 2:
                tell(sessions[k], late[k].pop(-2), random)
        assert tickets[0] == tickets[1] == tickets[2]
        assert tickets[0][1]["blue"] == 0.0
        assert sum(tickets[0][2].values()) == pytest.approx(1.0, abs=1e-12)
    assert len(set(sessions[0].policy_weights().values())) == 2


@pytest.mark.parametrize("kind", [AdviceBandit, Advice])
def test_it_is_the_learner_itself(kind: Any) -> None:
    """Asking and telling gives the weights of the learner that is driven by hand."""
    options = {"horizon": 20} if kind is Advice else {}
    session, random = made(kind.name, **options), np.random.default_rng(2)
    driver = Driver(kind(3, policies=2, **options))
    for _ in range(20):
        rows, losses = table(random), random.random(3)
        driver.advise(rows)
        q = driver.weights().tolist()
        assert list(session.weights(advice=rows).values()) == q
        ticket = session.ask(advice=rows)
        if session.is_bandit:
            arm = ARMS.index(ticket.arm)
            (play,) = driver.play(arm)
            driver.tell(play, arm, float(losses[arm]))
            session.tell(ticket, float(losses[arm]))
            continue
        for arm, play in enumerate(driver.play()):
            driver.tell(play, arm, float(losses[arm]))
        session.tell(ticket, losses)


def test_the_learner_finds_the_better_policy() -> None:
    """Which advises the arm that loses nothing, whichever that is."""
    session, random = made("advice-bandit"), np.random.default_rng(5)
    for _ in range(300):
        good = int(random.integers(3))
        rows = np.full((2, 3), 1 / 3)
        rows[1] = np.eye(3)[good]
        ticket = session.ask(advice=rows)
        session.tell(ticket, float(ARMS.index(ticket.arm) != good))
    assert session.policy_weights()["bold"] > 0.9


GOOD = [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]


@pytest.mark.parametrize(
    ("advice", "words"),
    [
        (None, "there is no advice; give advice=, what each policy advises"),
        ([[0.5, 0.5, 0.0]], "a row for each of 2 policies and a number for each of 3 arms"),
        ([[0.5, 0.5], [1.0, 0.0]], "a row for each of 2 policies"),
        ("much", "a row for each of 2 policies"),
        (7, "a row for each of 2 policies"),
        ([[0.0, 0.0, 0.0], GOOD[1]], "policy 'careful' advises nothing"),
        ([GOOD[0], [0.4, 0.4, 0.1]], "policy 'bold' advises probabilities with the sum 0.9"),
        ([GOOD[0], [1.5, -0.5, 0.0]], "policy 'bold' advises"),
        ([GOOD[0], [float("nan"), 0.5, 0.5]], "policy 'bold' advises"),
        ({"careful": GOOD[0]}, "policy 'bold' gives no advice"),
        ({"careful": GOOD[0], "bald": GOOD[1]}, "advice names policy 'bald', which is not known"),
        ({"careful": GOOD[0], "bold": {"grey": 1.0}}, "advice names arm 'grey'"),
        ({"careful": GOOD[0], "bold": {}}, "policy 'bold' advises nothing"),
    ],
)
@pytest.mark.parametrize("learner", LEARNERS)
def test_bad_advice_is_refused_and_changes_nothing(learner: str, advice: Any, words: str) -> None:
    session = made(learner)
    session.ask(advice=GOOD)
    before = session.to_json()
    with pytest.raises(ValueError, match=words.replace(".", r"\.")):
        session.ask(advice=advice)
    with pytest.raises(ValueError, match=words.replace(".", r"\.")):
        session.weights(advice=advice)
    assert session.to_json() == before


def test_policies_and_prior_are_checked_when_a_session_is_made() -> None:
    """By name, each once, and none with the prior zero."""
    make = belated.Bandit
    assert make(2, learner="exp4", policies=3).policies == (0, 1, 2)
    even = make(2, learner="exp4", policies=["a", "b"], prior={"b": 0.25, "a": 0.75})
    assert even.policy_weights() == pytest.approx({"a": 0.75, "b": 0.25}, abs=1e-15)
    for policies, words in (
        (["a", "a"], "policy 'a' is named twice"),
        ([], "there are 0 policies"),
    ):
        with pytest.raises(ValueError, match=words):
            make(2, learner="exp4", policies=policies)
    with pytest.raises(ValueError, match="every policy must have a weight above 0"):
        make(2, learner="exp4", policies=2, prior=[1.0, 0.0])
    with pytest.raises(
        ValueError, match="prior has 2 weights; it must have one for each policy, 3"
    ):
        make(2, learner="exp4", policies=3, prior=[0.5, 0.5])


def test_without_policies_there_is_no_advice() -> None:
    """Every arm then stands for a policy of its own, and other learners know of none."""
    for learner in ("exp4", "exp3"):
        session = belated.Bandit(2, learner=learner)
        with pytest.raises(ValueError, match=f"advice is given, but Bandit by {learner} has no"):
            session.ask(advice=[[1.0, 0.0], [0.0, 1.0]])
        with pytest.raises(belated.BelatedError, match="has no policies"):
            session.policy_weights()
        assert session.ask().probability == 0.5
