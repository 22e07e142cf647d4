"""Sessions with any learner: how it is chosen, what is held back for it, what it must be told."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import belated
from belated import StateFormatError, TicketState
from tests.asktell.session_kinds import refused


def hedge(**options: Any) -> Any:
    return belated.Experts(["a", "b"], learner="anytime-hedge", seed=3, **options)


def exp3(**options: Any) -> Any:
    return belated.Bandit(["a", "b"], learner="exp3", seed=3, **options)


# -- choosing


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: belated.Bandit(2, learner="thomson"), "did you mean 'thompson'?"),
        (lambda: belated.Bandit(2, learner=None), "learner is None; it must be the name"),
        (lambda: belated.Bandit(2, learner="hedge"), "so use belated.Experts"),
        (lambda: belated.Experts(2, learner="exp3"), "use belated.Bandit"),
        (lambda: exp3(windo=3), "exp3 has no option 'windo'; it has delivery, window; did you"),
        (lambda: exp3(window=-1), "window is -1; it must be a whole number"),
        (lambda: exp3(delivery="later"), "delivery is 'later'; for exp3 it must be 'own' or"),
        (lambda: belated.Bandit(2, learner="dew"), "dew must know total_delay and max_delay; give"),
        (lambda: belated.Bandit(2, learner="masoudian"), "masoudian must know max_delay; give"),
        (lambda: exp3(window=3, expire_after=3, default_loss=0), "window is 3 and expire_after is"),
        (lambda: belated.Experts(2, learner="dorm", hint="x"), "hint is 'x'; it must be"),
        (
            lambda: belated.Experts(2, learner="full-information", prior={0: 1.0}),
            "prior and arms differ at 1",
        ),
    ],
)
def test_what_cannot_be_is_one_sentence(make: Callable[[], Any], text: str) -> None:
    """It names the value and the rule."""
    with pytest.raises(ValueError) as caught:
        make()
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


def test_learners_of_one_seed_hand_out_tickets_of_their_own() -> None:
    """The learner is part of what a ticket's id is made from, and named in the text."""
    one, other = exp3(), belated.Bandit(["a", "b"], learner="uniform", seed=3)
    assert one.ask().id != other.ask().id
    assert repr(one) == "<Bandit by exp3 of 2 arms: 1 rounds played, 1 tickets pending>"


def test_what_is_unknown_and_can_be_found_out_need_not_be_told() -> None:
    """The horizon doubles, and so does max_missing, as with the classes of their own."""
    general = belated.Bandit(["a", "b"], learner="partially-concealed", seed=5)
    own = belated.PartiallyConcealedBandit(["a", "b"], seed=5)
    for t in range(40):
        assert general.weights() == own.weights()
        tickets = general.ask(), own.ask()
        for learner, ticket in zip((general, own), tickets, strict=True):
            if t % 3 == 0:
                learner.tell(ticket, 0.5, missing=min(t, 3))
            elif t % 7 == 0:
                learner.cancel(ticket)
    assert general.outstanding() == own.outstanding()


def test_missing_counts_are_required_where_they_are_told_and_refused_elsewhere() -> None:
    """By the setting of the learner."""
    partial = belated.Bandit(2, learner="partially-concealed")
    ticket = partial.ask()
    refused(partial, ValueError, "missing is None", lambda: partial.tell(ticket, 0.5))
    assert partial.tell(ticket, 0.5, missing=0).counted
    other = exp3()
    ticket = other.ask()
    refused(other, ValueError, "only a partially", lambda: other.tell(ticket, 0.5, missing=0))


def test_what_is_to_come_is_counted_by_the_tickets() -> None:
    """By arm of a bandit, by expert where some are told."""
    bandit, experts = exp3(), hedge()
    for _ in range(6):
        ticket = bandit.ask()
    assert sum(bandit.outstanding().values()) == 6
    bandit.tell(ticket, 0.5)
    assert sum(bandit.outstanding().values()) == 5
    ticket = experts.ask()
    experts.ask()
    experts.tell(ticket, {"b": 0.5})
    assert experts.missing() == {"a": 2, "b": 1}


# -- held back


def test_a_padded_round_is_learned_when_the_last_of_it_is_told() -> None:
    """Before that nothing changes, whatever is told of it; earlier rounds need not be there."""
    learner = hedge(delivery="padded")
    before = learner.weights()
    first, second = learner.ask(), learner.ask()
    assert learner.tell(second, {"a": 1.0}).counted
    learner.tell(first, {"b": 0.25})
    learner = belated.from_json(learner.to_json())
    assert learner.weights() == before
    assert learner.tell(second, {"b": 0.5}).state is TicketState.TOLD
    assert learner._runner.workspace.state.losses.tolist() == [1.0, 0.5]


def test_rounds_in_order_wait_for_those_before_them() -> None:
    """A later round is held, kept through saving, and learned right after the earlier one."""
    learner = exp3(delivery="in order")
    before = learner.weights()
    first, second, third = (learner.ask() for _ in range(3))
    assert learner.tell(third, 1.0).state is TicketState.TOLD
    assert learner.tell(second, 1.0).counted
    learner = belated.from_json(learner.to_json())
    assert learner._runner.workspace.state.losses.sum() == 0.0
    assert learner.weights() == before
    refused(learner, belated.ConflictError, "first report", lambda: learner.tell(third, 0.5))
    learner.tell(first, 0.0)
    assert learner._runner.workspace.state.losses.sum() > 0.0
    assert json.loads(learner.to_json())["held"] == []


def test_a_cancelled_play_holds_nobody_up_and_an_expired_one_no_longer() -> None:
    """What waits for it is learned at once."""
    for end in ("cancel", "expiry"):
        terms = {"expire_after": 2, "default_loss": 0.0} if end == "expiry" else {}
        learner = exp3(delivery="in order", **terms)
        first, second = learner.ask(), learner.ask()
        learner.tell(second, 1.0)
        assert learner._runner.workspace.state.losses.sum() == 0.0
        if end == "cancel":
            learner.cancel(first)
        else:
            learner.ask()
            looked = learner.weights()
            assert learner._runner.workspace.state.losses.sum() == 0.0
            ticket = learner.ask()
            assert ticket.probability == looked[ticket.arm]
        assert learner._runner.workspace.state.losses.sum() > 0.0


def test_half_a_round_that_is_cancelled_is_learned_and_half_withdrawn() -> None:
    """As where every loss is learned as it comes; in order it still takes its turn."""
    states = []
    for delivery in ("own", "padded", "in order"):
        learner = hedge(delivery=delivery)
        first, second = learner.ask(), learner.ask()
        learner.tell(second, {"a": 0.75})
        learner.cancel(second)
        if delivery == "in order":
            assert learner._runner.workspace.state.losses.tolist() == [0.0, 0.0]
            learner = belated.from_json(learner.to_json())
        learner.cancel(first)
        states.append(learner._runner.workspace.state.losses.tolist())
    assert states == [[0.75, 0.0]] * 3


def test_a_window_tells_all_at_its_end_and_nothing_after_it() -> None:
    """Exactly so many rounds later, as 1 if nothing came; a late report is kept, not learned."""
    learner = hedge(window=2)
    first = learner.ask()
    learner.tell(first, {"a": 0.5})
    second = learner.ask()
    learner.tell(second, [0.0, 0.25])
    learner.ask()
    even = learner.weights()
    assert learner._runner.workspace.state.losses.tolist() == [0.0, 0.0]
    learner.ask()
    assert learner._runner.workspace.state.losses.tolist() == [0.5, 1.0]
    assert learner.weights() != even
    late = learner.tell(first, {"b": 0.0})
    assert (late.counted, late.state) == (False, TicketState.EXPIRED)
    learner = belated.from_json(learner.to_json())
    learner.ask()
    assert learner._runner.workspace.state.losses.tolist() == [0.5, 1.25]


def test_what_is_held_back_is_forgotten_at_a_restart() -> None:
    """With horizon="doubling", as whatever comes from before it."""
    learner = belated.Experts(2, learner="msmwc")
    for _ in range(3):
        last = learner.ask()
    learner.tell(last, [1.0, 0.0])
    assert len(json.loads(learner.to_json())["held"]) == 1
    learner.ask()
    assert json.loads(learner.to_json())["held"] == []
    assert learner.weights() == {0: 0.5, 1: 0.5}


# -- delays that are known at once


def test_delays_are_told_before_the_draw() -> None:
    """By name or in order, None for never; also in a round in which something expires."""
    terms = {"expire_after": 1, "default_loss": 0.0}
    learner = belated.Bandit(["a", "b"], learner="dew-skipping", total_delay=9, horizon=9, **terms)
    for delays in ({"a": 0, "b": 0}, [None, None], (0, 0), [10**9, None], [0, 0]):
        ticket = learner.ask(delays=delays)
        frozen = learner._book.open[ticket.round][2]
        assert np.isinf(frozen) == (delays[ticket.arm if isinstance(delays, dict) else 0] != 0)
    for odd, text in (
        (None, "must know the delay of every arm"),
        ([1], "must know the delay of every arm"),
        ({"a": 1}, "delays and arms differ at 'b'"),
        ({"a": 1, "b": 1, "c": 1}, "delays and arms differ at 'c'"),
        ([1, -1], "delay is -1"),
    ):
        refused(learner, ValueError, text, lambda odd=odd: learner.ask(delays=odd))
    other = exp3()
    refused(other, ValueError, "exp3 is not told delays", lambda: other.ask(delays=[1, 1]))


# -- saving


def damaged(learner: Any, change: Callable[[dict[str, Any]], object]) -> str:
    """The text of a learner with a change in its content and a checksum that fits."""
    content = json.loads(learner.to_json())
    del content["checksum"]
    change(content)
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return json.dumps({**content, "checksum": hashlib.sha256(canonical.encode()).hexdigest()})


def shorter(content: dict[str, Any]) -> None:
    """A copy less in every part than the rounds to come may need."""
    for name, shape in content["shapes"].items():
        if len(content["state"][name]) > 1 and shape[0] > 4:
            size = len(content["state"][name]) // shape[0]
            shape[0] -= 1
            content["state"][name] = content["state"][name][:-size]


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.update(learner="nobody"),
        lambda content: content.update(learner="hedge"),
        lambda content: content.pop("learner"),
        lambda content: content.pop("shapes"),
        lambda content: content.pop("held"),
        lambda content: content["shapes"].update(round=[2]),
        lambda content: content["shapes"].update(copies=[0]),
        lambda content: content["shapes"].update(awaited=[1, 32]),
        lambda content: content["held"].append(content["tickets"]["open"][0]),
        shorter,
    ],
)
def test_a_state_that_does_not_fit_its_learner_is_refused(
    change: Callable[[dict[str, Any]], object],
) -> None:
    """Of another learner, of a wrong shape, with too little room, or with what it never holds."""
    learner = belated.Bandit(2, learner="bold-exp3", seed=1)
    learner.ask()
    assert belated.from_json(damaged(learner, lambda content: None)).to_json() == learner.to_json()
    with pytest.raises(StateFormatError):
        belated.from_json(damaged(learner, change))
