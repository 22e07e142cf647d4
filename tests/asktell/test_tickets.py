"""The life of a ticket: pending, then told, expired or cancelled, and never anything else."""

import contextlib
import gc
import itertools
from typing import Any

import numpy as np
import pytest

from belated import (
    ClosedTicketError,
    ConflictError,
    Ticket,
    TicketState,
    UnknownTicketError,
    from_json,
)
from tests.asktell.session_kinds import (
    BANDITS,
    COLOURS,
    CONCEALED,
    EXPERTS,
    KINDS,
    PARTIAL,
    Kind,
    asked_like,
    refused,
)

every_kind = pytest.mark.parametrize("kind", KINDS, ids=repr)


@every_kind
def test_tickets_count_the_rounds_and_are_pending_until_closed(kind: Kind) -> None:
    """Ids differ, rounds go 1, 2, 3, and `pending` lists the open tickets, oldest first."""
    learner = kind.make()
    tickets = [learner.ask() for _ in range(4)]
    assert [ticket.round for ticket in tickets] == [1, 2, 3, 4]
    assert len({ticket.id for ticket in tickets}) == 4
    assert learner.round == 4
    kind.tell(learner, tickets[1], 0.5)
    learner.cancel(tickets[2])
    assert learner.pending() == [tickets[0], tickets[3]]


@pytest.mark.parametrize("kind", BANDITS, ids=repr)
def test_a_bandit_ticket_names_an_arm_and_its_probability(kind: Kind) -> None:
    """Arm and probability are given, weights are not."""
    learner = kind.make()
    ticket = learner.ask()
    assert ticket.arm in learner.arms
    assert ticket.probability == pytest.approx(1 / 3, abs=1e-12)
    assert ticket.weights is None


def test_an_experts_ticket_carries_all_weights() -> None:
    """Weights by name; no arm, no probability."""
    ticket = EXPERTS.make(prior=[0.5, 0.25, 0.25]).ask()
    assert ticket.weights == pytest.approx({"red": 0.5, "green": 0.25, "blue": 0.25}, abs=1e-12)
    assert ticket.arm is None
    assert ticket.probability is None


def test_what_a_ticket_says_cannot_be_changed_by_its_holder() -> None:
    """What was in force is frozen: writing into the weights leaves the learner as it was."""
    learner = EXPERTS.make()
    ticket = learner.ask()
    before = learner.to_json()
    with contextlib.suppress(TypeError):
        ticket.weights["red"] = 5.0
    assert learner.to_json() == before


@pytest.mark.parametrize("kind", BANDITS, ids=repr)
def test_the_garbage_collector_visits_an_open_ticket_only_once(kind: Kind) -> None:
    """After one young collection it has left them all, also those of a learner that resumes."""
    learner = kind.make()
    for _ in range(5):
        learner.ask()
    for each in (learner, from_json(learner.to_json())):
        gc.collect(0)
        kept = [*each._book.open.values(), *each._book.tickets.values()]
        assert len(kept) == 10
        assert not any(gc.is_tracked(part) for part in kept)


@every_kind
def test_a_loss_is_told_by_ticket_or_by_id(kind: Kind) -> None:
    """Both forms count, and teach the same."""
    by_ticket, by_id = kind.make(), kind.make()
    first, second = by_ticket.ask(), by_id.ask()
    feedback = kind.tell(by_ticket, first, 0.25)
    assert (feedback.ticket, feedback.counted, feedback.state) == (first.id, True, TicketState.TOLD)
    assert kind.tell(by_id, second.id, 0.25) == feedback
    assert by_ticket.to_json() == by_id.to_json()


@every_kind
def test_a_ticket_is_cancelled_by_ticket_or_by_id(kind: Kind) -> None:
    """Both forms cancel, count nothing, and stop the waiting."""
    by_ticket, by_id = kind.make(), kind.make()
    feedback = by_ticket.cancel(by_ticket.ask())
    assert (feedback.counted, feedback.state) == (False, TicketState.CANCELLED)
    assert by_id.cancel(by_id.ask().id) == feedback
    assert by_ticket.to_json() == by_id.to_json()
    assert by_ticket.pending() == []


@every_kind
def test_the_same_loss_twice_is_a_no_op(kind: Kind) -> None:
    """The repetition is not counted and changes nothing, however often it comes."""
    learner = kind.make()
    ticket = learner.ask()
    kind.tell(learner, ticket, 0.25)
    before = learner.to_json()
    for form in (ticket, ticket.id, ticket):
        feedback = kind.tell(learner, form, 0.25)
        assert (feedback.counted, feedback.state) == (False, TicketState.TOLD)
    assert learner.to_json() == before


@every_kind
def test_another_loss_for_a_told_ticket_is_a_conflict(kind: Kind) -> None:
    """The first report stands; the message names both losses."""
    learner = kind.make()
    ticket = learner.ask()
    kind.tell(learner, ticket, 0.25)
    error = refused(learner, ConflictError, "0.25", lambda: kind.tell(learner, ticket, 0.75))
    assert "0.75" in str(error)
    assert ticket.id in str(error)


def test_another_missing_count_for_a_told_ticket_is_a_conflict() -> None:
    """The missing count is part of the report."""
    learner = PARTIAL.make()
    learner.ask()
    ticket = learner.ask()
    learner.tell(ticket, 0.25, missing=1)
    assert not learner.tell(ticket, 0.25, missing=1).counted
    refused(learner, ConflictError, "missing 0", lambda: learner.tell(ticket, 0.25, missing=0))


@every_kind
def test_a_cancelled_ticket_takes_no_report_and_no_second_cancelling(kind: Kind) -> None:
    """Cancelled is for ever."""
    learner = kind.make()
    ticket = learner.ask()
    learner.cancel(ticket)
    refused(learner, ClosedTicketError, "cancelled", lambda: kind.tell(learner, ticket, 0.25))
    refused(learner, ClosedTicketError, "cancelled", lambda: learner.cancel(ticket))


@every_kind
def test_a_told_ticket_cannot_be_cancelled(kind: Kind) -> None:
    """What was learned is not unlearned."""
    learner = kind.make()
    ticket = learner.ask()
    kind.tell(learner, ticket, 0.25)
    refused(learner, ClosedTicketError, "told", lambda: learner.cancel(ticket))


def strangers(key: str) -> dict[str, Any]:
    return {
        "of another learner": "0badcafe-1",
        "of a round to come": f"{key}-4",
        "of round zero": f"{key}-0",
        "of a negative round": f"{key}--1",
        "with a leading zero": f"{key}-01",
        "with a space": f"{key}-1 ",
        "with a plus sign": f"{key}-+1",
        "with a digit of another script": f"{key}-\u0661",
        "with a superscript": f"{key}-\u00b2",
        "with a fraction": f"{key}-1.0",
        "of a round with very many digits": f"{key}-" + "9" * 5000,
        "without a round": f"{key}-",
        "without a dash": key,
        "in capitals": f"{key.upper()}x-1",
        "empty": "",
        "a number": 1,
        "nothing": None,
        "bytes": f"{key}-1".encode(),
        "a tuple": ("a", 1),
        "a home-made ticket": Ticket("nonsense", 1),
        "a home-made ticket without an id": Ticket(None, 1),  # type: ignore[arg-type]
    }


@every_kind
@pytest.mark.parametrize("what", strangers("key"))
def test_an_id_that_was_never_handed_out_is_unknown(kind: Kind, what: str) -> None:
    """Foreign, malformed and future ids are refused by tell and cancel, whatever their form."""
    learner = kind.make()
    tickets = [learner.ask() for _ in range(3)]
    stranger = strangers(tickets[0].id.rpartition("-")[0])[what]
    refused(learner, UnknownTicketError, "ticket", lambda: kind.tell(learner, stranger, 0.5))
    refused(learner, UnknownTicketError, "ticket", lambda: learner.cancel(stranger))


@pytest.mark.parametrize(("kind", "other"), list(itertools.product(KINDS, KINDS)), ids=repr)
def test_a_ticket_of_another_learner_is_unknown(kind: Kind, other: Kind) -> None:
    """Whether the ticket itself or its id is handed in."""
    learner, stranger = kind.make(seed=1), other.make(seed=2).ask()
    learner.ask()
    for form in (stranger, stranger.id):
        refused(learner, UnknownTicketError, stranger.id, lambda f=form: learner.cancel(f))
        refused(learner, UnknownTicketError, stranger.id, lambda f=form: kind.tell(learner, f, 0.5))


def alterations(ticket: Ticket) -> dict[str, dict[str, Any]]:
    weights = ticket.weights and {**ticket.weights, "red": 0.9}
    return {
        "round": {"round": ticket.round + 1},
        "arm": {"arm": "violet"},
        "probability": {"probability": 0.999},
        "weights": {"weights": weights or {"red": 1.0}},
    }


@every_kind
@pytest.mark.parametrize("part", ["round", "arm", "probability", "weights"])
def test_an_altered_ticket_is_refused(kind: Kind, part: str) -> None:
    """A ticket must come back as it was handed out."""
    learner = kind.make()
    ticket = learner.ask()
    forged = ticket._replace(**alterations(ticket)[part])
    refused(learner, UnknownTicketError, ticket.id, lambda: kind.tell(learner, forged, 0.5))
    refused(learner, UnknownTicketError, ticket.id, lambda: learner.cancel(forged))
    assert kind.tell(learner, Ticket(*ticket), 0.5).counted


@every_kind
def test_only_the_last_closed_tickets_are_remembered(kind: Kind) -> None:
    """A forgotten ticket is closed: neither a repetition nor a contradiction can be told."""
    learner = kind.make(remember=2)
    tickets = [learner.ask() for _ in range(4)]
    kind.tell(learner, tickets[1], 0.5)
    learner.cancel(tickets[0])
    kind.tell(learner, tickets[3], 0.5)
    forgotten = tickets[1]
    refused(learner, ClosedTicketError, forgotten.id, lambda: kind.tell(learner, forgotten, 0.5))
    refused(learner, ClosedTicketError, forgotten.id, lambda: kind.tell(learner, forgotten, 0.1))
    refused(learner, ClosedTicketError, forgotten.id, lambda: learner.cancel(forgotten.id))
    assert not kind.tell(learner, tickets[3], 0.5).counted
    assert kind.tell(learner, tickets[2], 0.5).counted


@every_kind
def test_exactly_the_last_closed_tickets_are_remembered_whenever_one_asks(kind: Kind) -> None:
    """Tickets close in a mixed order; old ones are looked for after some closings only."""
    learner = kind.make(remember=3)
    tickets = [learner.ask() for _ in range(30)]
    closing = [tickets[7 * k % 30] for k in range(30)]
    for k, ticket in enumerate(closing, 1):
        kind.tell(learner, ticket, 0.5)
        if k % 4 == 0 or k % 5 == 0:
            for each in closing[max(0, k - 3) : k]:
                assert not kind.tell(learner, each, 0.5).counted
                refused(learner, ConflictError, each.id, lambda t=each: kind.tell(learner, t, 0.1))
            for each in closing[: max(0, k - 3)]:
                with pytest.raises(ClosedTicketError, match="the last 3 closed tickets"):
                    kind.tell(learner, each, 0.5)


@pytest.mark.parametrize("kind", BANDITS, ids=repr)
@pytest.mark.parametrize("number", [float, np.int64])
def test_a_round_may_be_another_number_that_equals_it(kind: Kind, number: type[Any]) -> None:
    """As a table that was read with pandas gives it; the learner keeps its own and can be saved."""
    learner, twin = kind.make(), kind.make()
    ticket, own = learner.ask(), twin.ask()
    assert kind.tell(learner, ticket._replace(round=number(1)), 0.5) == kind.tell(twin, own, 0.5)
    assert learner.to_json() == twin.to_json()


# -- expiry


@every_kind
@pytest.mark.parametrize("expire_after", [0, 1, 3])
def test_an_expired_play_is_learned_as_if_told_with_that_delay(
    kind: Kind, expire_after: int
) -> None:
    """A twin without expiry, told the default loss that many rounds later, has the same weights."""
    learner = kind.make(expire_after=expire_after, default_loss=0.75)
    twin = kind.make()
    waiting = []
    for round_ in range(1, 13):
        weights = twin.weights()
        assert learner.weights() == weights
        before = twin.outstanding() if kind.is_bandit else {}
        ticket = asked_like(learner, weights)
        assert twin.ask() == ticket
        waiting.append((ticket, before.get(ticket.arm, 0)))
        if round_ > expire_after:
            late, unanswered = waiting[round_ - 1 - expire_after]
            kind.tell(twin, late, 0.75, missing=unanswered)
    assert len(learner.pending()) == expire_after + 1


@every_kind
def test_a_report_in_the_last_moment_counts(kind: Kind) -> None:
    """A ticket of round s is open until round s + expire_after + 1 is asked for."""
    learner = kind.make(expire_after=2, default_loss=1.0)
    first, second = learner.ask(), learner.ask()
    learner.ask()
    assert kind.tell(learner, first, 0.0).counted
    learner.ask()
    learner.ask()
    feedback = kind.tell(learner, second, 0.0)
    assert (feedback.counted, feedback.state) == (False, TicketState.EXPIRED)


@every_kind
def test_a_late_report_is_recorded_but_not_learned(kind: Kind) -> None:
    """The weights stay; the same report again is a no-op, another one a conflict."""
    learner = kind.make(expire_after=0, default_loss=0.5)
    ticket = learner.ask()
    learner.ask()
    before, state = learner.to_json(), learner.weights()
    feedback = kind.tell(learner, ticket, 0.25)
    assert (feedback.counted, feedback.state) == (False, TicketState.EXPIRED)
    assert learner.weights() == state
    assert learner.to_json() != before
    recorded = learner.to_json()
    assert not kind.tell(learner, ticket, 0.25).counted
    assert learner.to_json() == recorded
    refused(learner, ConflictError, "0.25", lambda: kind.tell(learner, ticket, 0.75))
    refused(learner, ClosedTicketError, "expired", lambda: learner.cancel(ticket))


@every_kind
def test_strict_refuses_a_late_report(kind: Kind) -> None:
    """With strict=True an expired ticket is simply closed."""
    learner = kind.make(expire_after=0, default_loss=0.5, strict=True)
    ticket = learner.ask()
    learner.ask()
    refused(learner, ClosedTicketError, "expired", lambda: kind.tell(learner, ticket, 0.25))
    refused(learner, ClosedTicketError, "expired", lambda: kind.tell(learner, ticket, 0.5))


@every_kind
def test_told_and_cancelled_tickets_do_not_expire(kind: Kind) -> None:
    """Only what is still pending is given the default loss."""
    learner, twin = kind.make(expire_after=1, default_loss=1.0), kind.make()
    for each in (learner, twin):
        first, second = each.ask(), each.ask()
        kind.tell(each, first, 0.25)
        each.cancel(second)
    for _ in range(2):
        assert learner.weights() == twin.weights()
        learner.cancel(learner.ask())
        twin.cancel(twin.ask())
    assert learner.weights() == twin.weights()


def test_a_missing_expert_expires_alone() -> None:
    """Of a half-told ticket only the untold experts are given the default loss."""
    learner = EXPERTS.make(expire_after=1, default_loss=1.0)
    twin = EXPERTS.make()
    ticket = learner.ask()
    twin.ask()
    for each in (learner, twin):
        each.tell(ticket, {"green": 0.25})
        each.ask()
    twin.tell(ticket, {"red": 1.0, "blue": 1.0})
    assert learner.weights() == twin.weights()
    learner.ask()
    refused(learner, ConflictError, "0.25", lambda: learner.tell(ticket, {"green": 0.5}))
    assert learner.tell(ticket, {"red": 0.125}).state is TicketState.EXPIRED
    refused(learner, ConflictError, "0.125", lambda: learner.tell(ticket, {"red": 0.25}))


def test_the_default_loss_is_in_the_units_of_the_user() -> None:
    """default_loss=15 in loss_range=(10, 20) is a loss of one half."""
    learner = CONCEALED.make(loss_range=(10, 20), expire_after=0, default_loss=15)
    twin = CONCEALED.make(expire_after=0, default_loss=0.5)
    for _ in range(5):
        assert learner.ask() == twin.ask()


# -- partial feedback


@pytest.mark.parametrize("order", list(itertools.permutations(COLOURS)), ids="-".join)
def test_experts_may_be_told_in_any_order(order: tuple[str, ...]) -> None:
    """One expert at a time or all at once: the same weights, and told when the last has come."""
    losses = {"red": 0.1, "green": 0.9, "blue": 0.4}
    at_once, in_pieces = EXPERTS.make(), EXPERTS.make()
    ticket = at_once.ask()
    in_pieces.ask()
    assert at_once.tell(ticket, losses).state is TicketState.TOLD
    states = []
    for name in order:
        feedback = in_pieces.tell(ticket, {name: losses[name]})
        assert feedback.counted
        states.append(feedback.state)
    assert states == [TicketState.PENDING, TicketState.PENDING, TicketState.TOLD]
    assert in_pieces.weights() == at_once.weights()


def test_a_list_of_losses_is_in_the_order_of_the_experts() -> None:
    """A full list means the same as the mapping by name."""
    by_name, by_place = EXPERTS.make(), EXPERTS.make()
    ticket = by_name.ask()
    by_place.ask()
    by_name.tell(ticket, {"blue": 0.4, "red": 0.1, "green": 0.9})
    by_place.tell(ticket, [0.1, 0.9, 0.4])
    assert by_name.weights() == by_place.weights()


def test_repeated_pieces_are_not_counted_and_new_ones_among_them_are() -> None:
    """A piece that was told is recognised beside one that was not."""
    learner, twin = EXPERTS.make(), EXPERTS.make()
    ticket = learner.ask()
    twin.ask()
    learner.tell(ticket, {"green": 0.5})
    before = learner.to_json()
    feedback = learner.tell(ticket, {"green": 0.5})
    assert (feedback.counted, feedback.state) == (False, TicketState.PENDING)
    assert not learner.tell(ticket, {}).counted
    assert learner.to_json() == before
    assert learner.tell(ticket, {"green": 0.5, "red": 1.0}).counted
    twin.tell(ticket, {"green": 0.5, "red": 1.0})
    assert learner.weights() == twin.weights()
    assert learner.missing() == {"red": 0, "green": 0, "blue": 1}


def test_a_contradicting_piece_refuses_the_whole_report() -> None:
    """Nothing of a report is learned if a part of it is in conflict."""
    learner = EXPERTS.make()
    ticket = learner.ask()
    learner.tell(ticket, {"green": 0.5})
    mixed = {"red": 0.5, "green": 0.75}
    refused(learner, ConflictError, "'green'", lambda: learner.tell(ticket, mixed))
    assert learner.missing()["red"] == 1


def test_cancelling_a_half_told_ticket_keeps_what_was_told() -> None:
    """The rest is no longer waited for."""
    learner, twin = EXPERTS.make(), EXPERTS.make()
    ticket = learner.ask()
    twin.ask()
    learner.tell(ticket, {"green": 0.5})
    twin.tell(ticket, {"red": 0.0, "green": 0.5, "blue": 0.0})
    learner.cancel(ticket)
    assert learner.missing() == {"red": 0, "green": 0, "blue": 0}
    assert learner.weights() == twin.weights()
    refused(learner, ClosedTicketError, "cancelled", lambda: learner.tell(ticket, {"red": 0.5}))
