"""Bad input: the right error, a message that names the value, and a learner that did not change."""

import math
from collections import deque
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from belated import ClosedTicketError, ConflictError, Ticket, TicketState, UnknownTicketError
from tests.asktell.session_kinds import (
    BANDITS,
    CONCEALED,
    EXPERTS,
    KINDS,
    PARTIAL,
    WITH_HORIZON,
    Kind,
    refused,
)

every_kind = pytest.mark.parametrize("kind", KINDS, ids=repr)


def in_use(kind: Kind, **options: Any) -> tuple[Any, dict[str, Ticket]]:
    """A learner in the middle of its life, with a ticket in every state."""
    learner = kind.make(expire_after=6, default_loss=0.5, **options)
    names = ("expired", "told", "cancelled", "pending", "young")
    tickets = {name: learner.ask() for name in names}
    kind.tell(learner, tickets["told"], 0.25)
    learner.cancel(tickets["cancelled"])
    for _ in range(3):
        kind.tell(learner, learner.ask(), 0.75)
    assert learner.pending() == [tickets["pending"], tickets["young"]]
    return learner, tickets


# -- losses

BAD_LOSSES: dict[str, tuple[Any, str]] = {
    "NaN": (math.nan, "nan"),
    "numpy NaN": (np.float64("nan"), "nan"),
    "infinite": (math.inf, "inf"),
    "minus infinite": (-math.inf, "-inf"),
    "negative": (-0.125, "-0.125"),
    "barely negative": (-5e-324, "-5e-324"),
    "above range": (1.5, "1.5"),
    "barely above range": (math.nextafter(1.0, 2.0), "1.0000000000000002"),
    "larger than any double": (10**400, "1000"),
    "text": ("0.5", "'0.5'"),
    "bytes": (b"0.5", "b'0.5'"),
    "complex": (0.5 + 0j, "(0.5+0j)"),
    "a list": ([0.5], "[0.5]"),
}


@every_kind
@pytest.mark.parametrize("what", BAD_LOSSES)
@pytest.mark.parametrize("word", ["loss", "reward"])
@pytest.mark.parametrize("state", ["pending", "told"])
def test_a_bad_loss_is_refused(kind: Kind, what: str, word: str, state: str) -> None:
    """NaN, infinite, out of range or no number: ValueError, whether loss or reward."""
    value, named = BAD_LOSSES[what]
    learner, tickets = in_use(kind)
    tell = kind.tell if word == "loss" else kind.tell_reward
    error = refused(learner, ValueError, named, lambda: tell(learner, tickets[state], value))
    assert word in str(error)


@pytest.mark.parametrize("what", BAD_LOSSES)
def test_a_bad_loss_among_good_ones_refuses_them_all(what: str) -> None:
    """Nothing is learned of a report if one of its losses is bad, by name or by place."""
    value, named = BAD_LOSSES[what]
    learner, tickets = in_use(EXPERTS)
    by_name = {"red": 0.5, "green": value, "blue": 0.5}
    by_place = [0.5, value, 0.5]
    for losses in (by_name, by_place):
        error = refused(
            learner, ValueError, named, lambda told=losses: learner.tell(tickets["young"], told)
        )
        assert "'green'" in str(error)


@every_kind
@pytest.mark.parametrize(("value", "named"), [(9.5, "9.5"), (20.5, "20.5"), (0.5, "0.5")])
def test_a_loss_outside_the_range_of_the_user_is_refused(
    kind: Kind, value: float, named: str
) -> None:
    """loss_range is the rule, and the message names it."""
    learner = kind.make(loss_range=(10, 20))
    ticket = learner.ask()
    for tell in (kind.tell, kind.tell_reward):
        error = refused(learner, ValueError, named, lambda t=tell: t(learner, ticket, value))
        assert "[10, 20]" in str(error)


@pytest.mark.parametrize("kind", BANDITS, ids=repr)
def test_no_loss_at_all_is_refused(kind: Kind) -> None:
    """None is not a loss, and 0 is one."""
    learner, tickets = in_use(kind)
    rule = "loss and reward"
    refused(learner, ValueError, rule, lambda: kind.tell(learner, tickets["young"], None))
    assert kind.tell(learner, tickets["young"], 0).counted


@pytest.mark.parametrize("kind", BANDITS, ids=repr)
def test_a_loss_and_a_reward_together_are_refused(kind: Kind) -> None:
    """Exactly one of them must be told."""
    learner, tickets = in_use(kind)
    more = {"missing": 0} if kind is PARTIAL else {}
    refused(
        learner,
        ValueError,
        "loss and reward",
        lambda: learner.tell(tickets["young"], 0.5, reward=0.5, **more),
    )


def test_no_losses_and_both_losses_and_rewards_are_refused_for_experts() -> None:
    """Neither, both, and None for one expert."""
    learner, tickets = in_use(EXPERTS)
    ticket, good = tickets["young"], {"red": 0.5}
    refused(learner, ValueError, "losses or rewards", lambda: learner.tell(ticket))
    refused(
        learner, ValueError, "losses or rewards", lambda: learner.tell(ticket, good, reward=good)
    )
    refused(learner, ValueError, "None", lambda: learner.tell(ticket, {"red": None}))


@pytest.mark.parametrize(
    ("losses", "named"),
    [
        ({"violet": 0.5}, "'violet'"),
        ({"red": 0.5, "violet": 0.5}, "'violet'"),
        ({0: 0.5}, "0"),
        ({None: 0.5}, "None"),
        ([0.5, 0.5], "2"),
        ([0.5] * 4, "4"),
        ([], "0"),
        (0.5, "0.5"),
        ("red", "'red'"),
        (b"red", "b'red'"),
        (np.array(0.5), "0.5"),
        pytest.param({0.25, 0.5, 0.75}, "0.25", id="a set"),
        pytest.param(iter([0.5, 0.5, 0.5]), "iterator", id="an iterator"),
    ],
    ids=repr,
)
def test_losses_of_unknown_experts_or_in_no_order_are_refused(losses: Any, named: str) -> None:
    """Unknown names, wrong lengths, no list at all, and a set, whose order means nothing."""
    learner, tickets = in_use(EXPERTS)
    refused(learner, ValueError, named, lambda: learner.tell(tickets["young"], losses))


@pytest.mark.parametrize(
    "loss", [Fraction(1, 4), Decimal("0.25"), np.float32(0.25), np.array(0.25)], ids=repr
)
@every_kind
def test_a_number_of_any_type_is_a_loss(kind: Kind, loss: Any) -> None:
    """Whatever converts to a float exactly teaches the same as that float."""
    learner, twin = kind.make(), kind.make()
    kind.tell(learner, learner.ask(), loss)
    kind.tell(twin, twin.ask(), 0.25)
    assert learner.to_json() == twin.to_json()


# -- tickets


@every_kind
def test_a_ticket_in_the_wrong_state_is_refused(kind: Kind) -> None:
    """Told, expired, cancelled, unknown and foreign tickets, told and cancelled."""
    learner, tickets = in_use(kind, strict=True)
    foreign = kind.make(seed=8).ask()
    cases = [
        ("told", "cancel", ClosedTicketError, "told"),
        ("told", "tell", ConflictError, "0.25"),
        ("expired", "cancel", ClosedTicketError, "expired"),
        ("expired", "tell", ClosedTicketError, "expired"),
        ("cancelled", "cancel", ClosedTicketError, "cancelled"),
        ("cancelled", "tell", ClosedTicketError, "cancelled"),
    ]
    for state, verb, error, named in cases:
        for form in (tickets[state], tickets[state].id):
            refusal = refused(
                learner, error, named, lambda v=verb, f=form: use(kind, learner, v, f)
            )
            assert tickets[state].id in str(refusal)
    for stranger in (foreign, foreign.id, "no-such-ticket"):
        for verb in ("tell", "cancel"):
            refused(
                learner,
                UnknownTicketError,
                getattr(stranger, "id", stranger),
                lambda v=verb, f=stranger: use(kind, learner, v, f),
            )


def use(kind: Kind, learner: Any, verb: str, ticket: Any) -> object:
    return kind.tell(learner, ticket, 0.125) if verb == "tell" else learner.cancel(ticket)


@every_kind
def test_an_expired_ticket_is_not_learned_again(kind: Kind) -> None:
    """Without strict the report is recorded; state and weights of the learner stay as they are."""
    learner, tickets = in_use(kind)
    weights = learner.weights()
    feedback = kind.tell(learner, tickets["expired"], 0.125)
    assert (feedback.counted, feedback.state) == (False, TicketState.EXPIRED)
    assert learner.weights() == weights


# -- the missing count


@pytest.mark.parametrize(
    ("missing", "named"),
    [
        (None, "None"),
        (-1, "-1"),
        (0.5, "0.5"),
        (5, "5"),
        (10**30, "1000"),
        (math.nan, "nan"),
        (math.inf, "inf"),
        ("1", "'1'"),
        (True, "True"),
        ([1], "[1]"),
    ],
    ids=repr,
)
def test_a_bad_missing_count_is_refused(missing: Any, named: str) -> None:
    """Absent, negative, fractional, no number, or more than there were rounds before (here 4)."""
    learner, tickets = in_use(PARTIAL)
    ticket = tickets["young"]
    assert ticket.round == 5
    error = refused(
        learner, ValueError, named, lambda: learner.tell(ticket, loss=0.5, missing=missing)
    )
    assert "missing" in str(error)
    assert learner.tell(ticket, loss=0.5, missing=4).counted


def test_the_missing_count_may_not_be_left_out() -> None:
    """Not even for a told ticket."""
    learner, tickets = in_use(PARTIAL)
    for state in ("young", "told"):
        refused(learner, ValueError, "missing", lambda s=state: learner.tell(tickets[s], 0.25))


@pytest.mark.parametrize("kind", [EXPERTS, CONCEALED], ids=repr)
@pytest.mark.parametrize("missing", [0, 1, -1])
def test_a_missing_count_where_none_is_told_is_refused(kind: Kind, missing: int) -> None:
    """The other two settings never hear of it."""
    learner, tickets = in_use(kind)
    loss = kind.told(learner, 0.5)
    named = f"missing is {missing}"
    refused(
        learner, ValueError, named, lambda: learner.tell(tickets["young"], loss, missing=missing)
    )


# -- construction


def not_made(kind: Kind, named: str, arms: Any = ("red", "green", "blue"), **options: Any) -> None:
    """Making the learner raises ValueError, and the message names what is wrong."""
    with pytest.raises(ValueError) as caught:
        kind.make(arms, **options)
    assert named in str(caught.value)


@pytest.mark.parametrize("kind", WITH_HORIZON, ids=repr)
@pytest.mark.parametrize(
    ("prior", "named"),
    [
        ([0.5, 0.5], "2"),
        ([0.25] * 4, "4"),
        ([], "0"),
        ([1.5, -0.25, -0.25], "1.5"),
        ([-0.25, 0.75, 0.5], "-0.25"),
        ([0.25, 0.25, 0.25], "0.75"),
        ([0.5, 0.5, 0.5], "1.5"),
        ([0.5, 0.5, math.nan], "nan"),
        ([0.5, 0.5, math.inf], "inf"),
        ([0.5, 0.25, "0.25"], "'0.25'"),
        ([0.5, 0.25, None], "None"),
        ({"red": 0.5, "green": 0.25, "violet": 0.25}, "'violet'"),
        ({"red": 0.5, "green": 0.5}, "'blue'"),
        ({"red": 0.5, "green": 0.25, "blue": 0.25, "violet": 0.0}, "'violet'"),
        ({"red": 0.5, "green": 0.5, "blue": -0.5}, "-0.5"),
        (0.5, "0.5"),
        ("uniform", "'u"),
        pytest.param({0.5, 0.2, 0.3}, "0.2", id="a set"),
    ],
    ids=repr,
)
def test_a_bad_prior_is_refused(kind: Kind, prior: Any, named: str) -> None:
    """Wrong length, negative, not summing to one, unknown arms, no numbers, no order."""
    not_made(kind, named, prior=prior)


def test_a_prior_of_zero_is_refused_where_the_arm_could_never_be_played() -> None:
    """The partially concealed bandit divides by it; an expert of weight zero is only ignored."""
    not_made(PARTIAL, "0.0", prior=[0.5, 0.5, 0.0])
    weights = EXPERTS.make(prior=[0.5, 0.5, 0.0]).ask().weights
    assert weights == pytest.approx({"red": 0.5, "green": 0.5, "blue": 0.0}, abs=1e-12)


@every_kind
@pytest.mark.parametrize(
    ("arms", "named"),
    [
        ([], "0"),
        (0, "0"),
        (-2, "-2"),
        (2.5, "2.5"),
        (True, "True"),
        (None, "None"),
        ("red", "'red'"),
        pytest.param({"red", "green"}, "red", id="a set"),
        (["red", "green", "red"], "'red'"),
        ((0, 1, 0), "0"),
        (deque(["red", "red"]), "'red'"),
        (["red", None], "None"),
        (["red", 1.5], "1.5"),
        (["red", True], "True"),
        (["red", ["green"]], "['green']"),
        (["red", float("nan")], "nan"),
    ],
    ids=repr,
)
def test_bad_arms_are_refused(kind: Kind, arms: Any, named: str) -> None:
    """None at all, a name twice, no names, no order."""
    not_made(kind, named, arms)


@pytest.mark.parametrize("kind", WITH_HORIZON, ids=repr)
@pytest.mark.parametrize(
    "horizon", [0, -1, 2.5, "twice", "", "10", None, math.nan, math.inf, True, [10]], ids=repr
)
def test_a_bad_horizon_is_refused(kind: Kind, horizon: Any) -> None:
    """Zero, negative, fractional, no number, or a word other than 'doubling'."""
    not_made(kind, f"horizon is {horizon!r}", horizon=horizon)


@pytest.mark.parametrize("kind", BANDITS, ids=repr)
@pytest.mark.parametrize(
    "max_missing", [-1, 0.5, "many", math.nan, math.inf, True, [1], 10**30], ids=repr
)
def test_a_bad_bound_on_the_missing_is_refused(kind: Kind, max_missing: Any) -> None:
    """Negative, fractional, no number, or beyond all counting."""
    not_made(kind, f"max_missing is {max_missing!r}", max_missing=max_missing)


@every_kind
@pytest.mark.parametrize(
    ("loss_range", "named"),
    [
        ((1, 0), "(1"),
        ((0.5, 0.5), "0.5"),
        ((0, math.nan), "nan"),
        ((-math.inf, 0), "-inf"),
        ((-1.7e308, 1.7e308), "1.7e+308"),
        ((0,), "(0,)"),
        ((0, 1, 2), "(0, 1, 2)"),
        (("0", "1"), "'0'"),
        ((0, None), "None"),
        (1, "1"),
        (None, "None"),
        pytest.param((0, 10**400), "1000", id="larger than any double"),
    ],
    ids=repr,
)
def test_a_bad_loss_range_is_refused(kind: Kind, loss_range: Any, named: str) -> None:
    """It must be two finite numbers, the lower one first."""
    not_made(kind, named, loss_range=loss_range)


@every_kind
@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"expire_after": 3}, "expire_after is 3"),
        ({"default_loss": 0.25}, "default_loss is 0.25"),
        ({"expire_after": -1, "default_loss": 0.5}, "expire_after is -1"),
        ({"expire_after": 1.5, "default_loss": 0.5}, "expire_after is 1.5"),
        ({"expire_after": "soon", "default_loss": 0.5}, "expire_after is 'soon'"),
        ({"expire_after": 3, "default_loss": 1.5}, "default_loss is 1.5"),
        ({"expire_after": 3, "default_loss": -0.5}, "default_loss is -0.5"),
        ({"expire_after": 3, "default_loss": math.nan}, "default_loss is nan"),
        ({"expire_after": 3, "default_loss": "0.5"}, "default_loss is '0.5'"),
        ({"expire_after": 3, "default_loss": 0.5, "loss_range": (1, 2)}, "default_loss is 0.5"),
        ({"variant": "improved"}, "variant is 'improved'; it must be 'paper' or 'repaired'"),
        ({"variant": "practical"}, "for the practical learner use belated."),
        ({"variant": None}, "variant is None"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 0.5}, "seed is 0.5"),
        ({"seed": "seven"}, "seed is 'seven'"),
        ({"remember": -1}, "remember is -1"),
        ({"remember": 0.5}, "remember is 0.5"),
        ({"remember": None}, "remember is None"),
    ],
    ids=repr,
)
def test_bad_terms_are_refused(kind: Kind, options: dict[str, Any], named: str) -> None:
    """Expiry without its default loss, an unknown variant, a bad seed or memory."""
    not_made(kind, named, **options)


@pytest.mark.parametrize("gamma_weight", ["p", "", 1], ids=repr)
def test_an_unknown_gamma_weight_is_refused(gamma_weight: Any) -> None:
    """It is 'q' or 'q+eps'."""
    not_made(CONCEALED, f"gamma_weight is {gamma_weight!r}", gamma_weight=gamma_weight)
