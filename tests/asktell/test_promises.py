"""What was promised at construction, and what becomes of it: horizon, missing losses, memory."""

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import belated
from belated import BelatedError, BelatedWarning, HorizonExceededError, MissingExceededError
from belated.environments.missing import missing_counts
from tests.asktell.session_kinds import (
    BANDITS,
    CONCEALED,
    EXPERTS,
    KINDS,
    PARTIAL,
    WITH_HORIZON,
    Kind,
    asked_like,
    part_of_state,
    refused,
)

every_kind = pytest.mark.parametrize("kind", KINDS, ids=repr)
every_bandit = pytest.mark.parametrize("kind", BANDITS, ids=repr)
with_horizon = pytest.mark.parametrize("kind", WITH_HORIZON, ids=repr)


# -- horizon


@with_horizon
def test_a_round_beyond_the_horizon_warns_once(kind: Kind) -> None:
    """The rounds promised are silent, the next one warns, all others are silent again."""
    learner = kind.make(horizon=3)
    for _ in range(3):
        kind.tell(learner, learner.ask(), 0.5)
    learner.weights()
    with pytest.warns(BelatedWarning, match="round 4 is beyond horizon=3") as caught:
        kind.tell(learner, learner.ask(), 0.5)
    assert len(caught) == 1
    for _ in range(3):
        kind.tell(learner, learner.ask(), 0.5)
    belated.from_json(learner.to_json()).ask()
    assert learner.round == 7


@with_horizon
def test_strict_refuses_a_round_beyond_the_horizon(kind: Kind) -> None:
    """Nothing changes, however often it is tried, and what is outstanding can still be told."""
    learner = kind.make(horizon=3, strict=True)
    tickets = [learner.ask() for _ in range(3)]
    for _ in range(2):
        refused(learner, HorizonExceededError, "horizon=3", learner.ask)
    assert kind.tell(learner, tickets[1], 0.5).counted
    refused(learner, HorizonExceededError, "horizon=3", learner.ask)


def test_a_concealed_bandit_has_no_horizon() -> None:
    """It is anytime."""
    with pytest.raises(TypeError, match="horizon"):
        CONCEALED.make(horizon=10)


@with_horizon
def test_a_horizon_that_doubles_is_never_exceeded(kind: Kind) -> None:
    """No warning, and nothing for strict to refuse."""
    learner = kind.make(horizon="doubling", strict=True)
    for _ in range(33):
        kind.tell(learner, learner.ask(), 0.5)
    assert learner.round == 33


@with_horizon
@pytest.mark.parametrize("variant", ["paper", "repaired"])
def test_doubling_starts_anew_at_every_power_of_two(kind: Kind, variant: str) -> None:
    """Epoch k is a fresh learner of horizon 2^k, fed with the feedback of that epoch alone."""
    prior = [0.5, 0.3, 0.2]
    learner = kind.make(horizon="doubling", variant=variant, prior=prior)
    random = np.random.default_rng(5)
    fixed = {"max_missing": 50} if kind is PARTIAL else {}
    open_tickets: list[tuple[belated.Ticket, int, Any]] = []
    for round_ in range(1, 32):
        epoch = round_.bit_length() - 1
        if round_ == 2**epoch:
            fresh = learner.kind(arms=3, horizon=2**epoch, variant=variant, prior=prior, **fixed)
            state = fresh.start()
        prediction = fresh.predict(state)
        ticket = asked_like(learner, dict(zip(learner.arms, prediction.q.tolist(), strict=True)))
        played = [learner.arms.index(ticket.arm)] if kind.is_bandit else [0, 1, 2]
        plays = fresh.commit(state, prediction, played[0] if kind.is_bandit else -1)
        open_tickets.append((ticket, epoch, list(zip(played, plays, strict=True))))
        for index in np.flatnonzero(random.random(len(open_tickets)) < 0.4)[::-1]:
            late, past, frozen = open_tickets.pop(index)
            loss = float(random.random())
            missing = min(2, late.round - 1)
            feedback = kind.tell(learner, late, loss, missing)
            assert feedback.counted is (past == epoch)
            assert feedback.state is belated.TicketState.TOLD
            for arm, play in frozen if past == epoch else ():
                fresh.observe(state, play, arm, loss, missing)


@with_horizon
def test_feedback_of_an_earlier_epoch_is_told_but_not_learned(kind: Kind) -> None:
    """The weights stay; the ticket is told for all other purposes."""
    learner = kind.make(horizon="doubling")
    late = learner.ask()
    learner.ask()
    weights = learner.weights()
    feedback = kind.tell(learner, late, 1.0)
    assert (feedback.counted, feedback.state) == (False, belated.TicketState.TOLD)
    assert learner.weights() == weights
    refused(learner, belated.ConflictError, "1.0", lambda: kind.tell(learner, late, 0.5))
    assert not kind.tell(learner, late, 1.0).counted


@with_horizon
@pytest.mark.parametrize("how", ["cancelled", "expired"])
def test_an_earlier_epoch_does_not_reach_into_the_present_one(kind: Kind, how: str) -> None:
    """A play of round 3 that is cancelled or expires in round 4 or later changes no weights."""
    learner = kind.make(horizon="doubling", expire_after=1, default_loss=1.0)
    twin = kind.make(horizon="doubling")
    tickets = [learner.ask() for _ in range(4)]
    assert tickets == [twin.ask() for _ in range(4)]
    if how == "cancelled":
        learner.cancel(tickets[2])
    assert learner.ask() == twin.ask()
    assert learner.pending() == [tickets[3], twin.pending()[-1]]
    counts = "outstanding" if kind.is_bandit else "missing"
    assert part_of_state(learner, counts) == part_of_state(twin, counts)


# -- missing


@every_bandit
def test_more_unanswered_plays_than_promised_warn_once(kind: Kind) -> None:
    """With one arm and max_missing=2 the fourth unanswered play is one too many."""
    learner = kind.make(["only"], max_missing=2)
    for _ in range(3):
        learner.ask()
    learner.weights()
    with pytest.warns(BelatedWarning, match="3 losses.*max_missing=2") as caught:
        learner.ask()
    assert len(caught) == 1
    learner.ask()
    belated.from_json(learner.to_json()).ask()


@every_bandit
def test_strict_refuses_to_play_while_more_than_promised_is_missing(kind: Kind) -> None:
    """An answer, or a cancelled play, makes room again."""
    learner = kind.make(["only"], max_missing=2, strict=True)
    tickets = [learner.ask() for _ in range(3)]
    for close in (lambda: kind.tell(learner, tickets[1], 0.5), lambda: learner.cancel(tickets[2])):
        refused(learner, MissingExceededError, "max_missing=2", learner.ask)
        close()
        learner.ask()


@every_bandit
def test_an_expiry_that_makes_room_keeps_the_promise(kind: Kind) -> None:
    """What expires in the coming round is no longer missing in it."""
    learner = kind.make(["only"], max_missing=2, strict=True, expire_after=2, default_loss=0.5)
    for _ in range(10):
        learner.ask()
    assert len(learner.pending()) == 3


def test_a_reported_missing_count_above_the_promise_warns_once() -> None:
    """The count that comes with a loss is watched too, and learned as it is."""
    learner = PARTIAL.make(max_missing=1)
    tickets = [learner.ask() for _ in range(1)]
    for _ in range(5):
        learner.tell(tickets[-1], 0.5, missing=0)
        tickets.append(learner.ask())
    last = tickets.pop()
    earlier = learner.ask()
    with pytest.warns(BelatedWarning, match="3 losses.*max_missing=1") as caught:
        assert learner.tell(last, 0.5, missing=3).counted
    assert len(caught) == 1
    assert learner.tell(earlier, 0.5, missing=5).counted


def test_strict_refuses_a_reported_missing_count_above_the_promise() -> None:
    """The loss is not learned; a count within the promise is welcome."""
    learner = PARTIAL.make(max_missing=1, strict=True)
    for _ in range(3):
        learner.tell(learner.ask(), 0.5, missing=0)
    ticket = learner.ask()
    for count in (2, 3):
        refused(
            learner,
            MissingExceededError,
            f"{count} losses",
            lambda c=count: learner.tell(ticket, 0.5, missing=c),
        )
    assert learner.tell(ticket, 0.5, missing=1).counted


def test_horizon_and_missing_are_warned_of_separately() -> None:
    """One broken promise does not silence the other."""
    learner = PARTIAL.make(["only"], horizon=2, max_missing=2)
    learner.ask()
    learner.ask()
    with pytest.warns(BelatedWarning, match="horizon=2"):
        learner.ask()
    with pytest.warns(BelatedWarning, match="max_missing=2"):
        learner.ask()
    learner.ask()


def breaking_calls() -> dict[str, tuple[Any, Callable[[], object]]]:
    """A learner and the call that breaks its promise, for every way to break one."""
    experts, partial = EXPERTS.make(horizon=1), PARTIAL.make(horizon=1)
    experts.ask()
    partial.ask()
    waiting = CONCEALED.make(["only"], max_missing=0)
    waiting.ask()
    told = PARTIAL.make(["only"], max_missing=0)
    told.tell(told.ask(), 0.5, missing=0)
    ticket = told.ask()
    return {
        "experts beyond the horizon": (experts, lambda: experts.ask()),
        "a bandit beyond the horizon": (partial, lambda: partial.ask()),
        "unanswered plays": (waiting, lambda: waiting.ask()),
        "a reported count": (told, lambda: told.tell(ticket, 0.5, missing=1)),
    }


BREACHES = (
    "experts beyond the horizon",
    "a bandit beyond the horizon",
    "unanswered plays",
    "a reported count",
)


@pytest.mark.parametrize("breach", BREACHES)
def test_a_warning_points_at_the_line_of_the_user(breach: str) -> None:
    """Not into belated and not past the caller."""
    _, call = breaking_calls()[breach]
    with pytest.warns(BelatedWarning) as caught:
        call()
    assert (caught[0].filename, caught[0].lineno) == (__file__, call.__code__.co_firstlineno)


@pytest.mark.parametrize("breach", BREACHES)
def test_a_warning_that_is_made_an_error_changes_nothing(breach: str) -> None:
    """As any error: `python -W error` is as good as strict=True."""
    learner, call = breaking_calls()[breach]
    for _ in range(2):
        refused(learner, BelatedWarning, "regret bound no longer holds", call)


def test_a_bound_that_is_only_watched_voids_nothing() -> None:
    """The repaired concealed bandit warns of it, and says that its guarantee holds."""
    learner = belated.ConcealedBandit(["only"], variant="repaired", max_missing=0)
    learner.ask()
    with pytest.warns(BelatedWarning, match="max_missing=0; .* the regret bound holds"):
        learner.ask()


@every_bandit
def test_an_unknown_bound_starts_at_one_and_doubles_when_exceeded(kind: Kind) -> None:
    """With n plays unanswered it is the first power of two that is at least n; never a warning."""
    learner = kind.make(["only"], max_missing=None, strict=True)
    found = []
    for _ in range(10):
        learner.ask()
        found += part_of_state(learner, "max_missing")
    assert found == [1, 1, 2, 4, 4, 8, 8, 8, 8, 16]


def test_an_unknown_bound_doubles_when_a_report_exceeds_it() -> None:
    """From one past a reported five to eight."""
    learner = PARTIAL.make(max_missing=None, strict=True)
    for _ in range(5):
        learner.tell(learner.ask(), 0.5, missing=0)
    ticket = learner.ask()
    assert part_of_state(learner, "max_missing") == [1]
    learner.tell(ticket, 0.5, missing=5)
    assert part_of_state(learner, "max_missing") == [8]
    learner.tell(learner.ask(), 0.5, missing=3)
    assert part_of_state(learner, "max_missing") == [8]


def test_a_bound_found_out_is_kept_when_the_horizon_doubles() -> None:
    """A new epoch starts with what the last one knew."""
    learner = PARTIAL.make(["only"], max_missing=None, horizon="doubling", strict=True)
    for _ in range(7):
        learner.ask()
    assert part_of_state(learner, "max_missing") == [4]
    learner.ask()
    assert part_of_state(learner, "max_missing") == [4]


@every_bandit
def test_a_bound_that_is_never_exceeded_plays_like_a_promise_of_one(kind: Kind) -> None:
    """max_missing=None is max_missing=1 until it has to give way."""
    learner, twin = kind.make(max_missing=None), kind.make(max_missing=1)
    for _ in range(10):
        ticket = asked_like(learner, twin.weights())
        assert twin.ask() == ticket
        for each in (learner, twin):
            kind.tell(each, ticket, 0.75)


def test_missing_counts_what_is_still_to_come_of_every_expert() -> None:
    """Before round t it is rho_t of the delays that the user lives by."""
    random = np.random.default_rng(3)
    delays = random.integers(0, 5, (20, 3))
    rho = missing_counts(delays)
    learner = EXPERTS.make()
    tickets = []
    for t in range(20):
        assert learner.missing() == dict(zip(learner.arms, rho[t].tolist(), strict=True))
        tickets.append(learner.ask())
        for s, i in zip(*np.nonzero(np.arange(20)[:, None] + delays == t), strict=True):
            learner.tell(tickets[s], {learner.arms[i]: 0.5})


@every_bandit
def test_a_bandit_does_not_know_what_is_missing_but_what_is_outstanding(kind: Kind) -> None:
    """missing() is an error, outstanding() counts the unanswered plays of each arm."""
    learner = kind.make()
    with pytest.raises(BelatedError, match="outstanding"):
        learner.missing()
    tickets = [learner.ask() for _ in range(9)]
    kind.tell(learner, tickets[2], 0.5)
    learner.cancel(tickets[5])
    arms = [ticket.arm for ticket in learner.pending()]
    assert len(arms) == 7
    assert learner.outstanding() == {arm: arms.count(arm) for arm in learner.arms}


# -- units


@every_kind
@pytest.mark.parametrize("loss_range", [(0.0, 1.0), (-3.0, 5.0), (100, 400), (-0.1, 0.7)], ids=repr)
def test_losses_and_rewards_in_a_range_are_converted(kind: Kind, loss_range: Any) -> None:
    """A loss x is (x - low)/(high - low), a reward (high - x)/(high - low), exactly."""
    low, high = loss_range
    learner, twin = kind.make(loss_range=loss_range), kind.make()
    for value in np.linspace(low, high, 8).tolist():
        ticket = learner.ask()
        assert twin.ask() == ticket
        kind.tell(learner, ticket, value)
        kind.tell(twin, ticket, (value - low) / (high - low))
        ticket = learner.ask()
        assert twin.ask() == ticket
        kind.tell_reward(learner, ticket, value)
        kind.tell(twin, ticket, (high - value) / (high - low))
    assert learner.weights() == twin.weights()


# -- weights


def history(kind: Kind, learner: Any, rounds: int) -> None:
    """Some rounds, every third of them unanswered."""
    for round_ in range(rounds):
        ticket = learner.ask()
        if round_ % 3:
            kind.tell(learner, ticket, 0.125 * (round_ % 8))


@every_kind
@pytest.mark.parametrize("expire_after", [None, 0, 3])
@pytest.mark.parametrize("variant", ["paper", "repaired"])
def test_weights_are_those_of_the_next_ask_and_change_nothing(
    kind: Kind, expire_after: int | None, variant: str
) -> None:
    """Also when an expiry, a new epoch or a doubled bound is due."""
    options: dict[str, Any] = {"variant": variant, "expire_after": expire_after}
    options["default_loss"] = None if expire_after is None else 0.75
    if kind in WITH_HORIZON:
        options["horizon"] = "doubling"
    if kind.is_bandit:
        options["max_missing"] = None
    for rounds in range(12):
        learner = kind.make(2, **options)
        history(kind, learner, rounds)
        before = learner.to_json()
        weights = learner.weights()
        assert learner.weights() == weights
        assert learner.to_json() == before
        assert sum(weights.values()) == pytest.approx(1.0, abs=1e-12)
        asked_like(learner, weights)


@every_kind
def test_weights_keep_silent_about_promises(kind: Kind) -> None:
    """Only a round that is played can break one."""
    options = {"horizon": 1} if kind in WITH_HORIZON else {"max_missing": 0}
    learner = kind.make(["only"], strict=True, **options)
    learner.ask()
    assert learner.weights() == {"only": 1.0}
    with pytest.raises(BelatedError):
        learner.ask()


# -- memory


@every_kind
def test_what_was_told_and_forgotten_takes_no_room(kind: Kind) -> None:
    """With remember=0 the saved text of round 1000 is about as long as that of round 50."""
    learner = kind.make(horizon=1000, remember=0) if kind in WITH_HORIZON else kind.make(remember=0)
    sizes = {}
    for round_ in range(1, 1001):
        kind.tell(learner, learner.ask(), (round_ % 7) / 7)
        sizes[round_] = len(learner.to_json()) if round_ in (50, 1000) else 0
    assert sizes[1000] < 1.1 * sizes[50]


@every_kind
def test_one_ticket_that_is_never_told_takes_the_room_of_one(kind: Kind) -> None:
    """Everything the learner holds stays bounded by its state and what is pending."""
    learner = kind.make(horizon=1000, remember=0) if kind in WITH_HORIZON else kind.make(remember=0)
    learner.ask()
    sizes = {}
    for round_ in range(1, 1000):
        kind.tell(learner, learner.ask(), (round_ % 7) / 7)
        sizes[round_] = len(pickle.dumps(learner)) if round_ in (50, 999) else 0
    assert sizes[999] < 1.1 * sizes[50]


@every_kind
def test_remember_bounds_what_is_kept_of_closed_tickets(kind: Kind) -> None:
    """The saved text stops growing once that many tickets are closed."""
    learner = kind.make(remember=5)
    lengths = []
    for _ in range(90):
        kind.tell(learner, learner.ask(), 0.5)
        lengths.append(len(learner.to_json()))
    assert max(lengths) < 1.1 * lengths[20]


def test_nothing_is_warned_of_while_all_promises_hold() -> None:
    """A run within its promises is silent."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in KINDS:
            learner = kind.make()
            history(kind, learner, 100)
