"""The fast path of ask and tell: whatever it skips, it does what the slow path would do."""

import copy
import gc
import json
import pickle
import tracemalloc
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import belated
from belated import Feedback, Ticket, TicketState
from belated.learners.paper.many_arms import FEWEST_ARMS, draw_grouped, touch
from belated.numerics.random_stream import draw, seeded
from tests.asktell.session_kinds import (
    BANDITS,
    CONCEALED,
    EXPERTS,
    KINDS,
    PARTIAL,
    Kind,
    part_of_state,
    refused,
)
from tests.counting import counting_instructions

every_kind = pytest.mark.parametrize("kind", KINDS, ids=repr)
pytestmark = pytest.mark.core
compiled_only = pytest.mark.compiled  # slow without
every_bandit = pytest.mark.parametrize("kind", BANDITS, ids=repr)


# -- against a model that calls the learner's verbs one by one


@dataclass
class Model:
    """Ask and tell by the learner's own verbs, with a state, a stream and a list of plays."""

    kind: Kind
    arms: int
    options: dict[str, Any]
    stream: NDArray[np.uint64]
    epoch: int = 0
    round: int = 0
    open: dict[int, tuple[int, list[tuple[int, Any]]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.most = 1
        self.start(0)

    def start(self, epoch: int) -> None:
        options = dict(self.options)
        if options.get("horizon") == "doubling":
            options["horizon"] = 2**epoch
        if self.kind.is_bandit:
            options["max_missing"] = options.get("max_missing") or self.most
        self.epoch, self.learner = epoch, self.kind.make_class.only_kind(arms=self.arms, **options)
        self.state = self.learner.start()

    def ask(self, expire_after: int | None) -> tuple[int, NDArray[np.float64]]:
        """The arm and the weights of the coming round."""
        self.round += 1
        epoch = self.round.bit_length() - 1 if self.options.get("horizon") == "doubling" else 0
        if epoch != self.epoch:
            self.start(epoch)
        for round_ in [r for r in self.open if expire_after is not None]:
            if round_ < self.round - expire_after:
                self.close(round_, 0.75, None)
        if self.kind.is_bandit and self.options.get("max_missing") is None:
            while self.most < self.state.outstanding.max():
                self.most *= 2
            self.state.max_missing[0] = self.most
        prediction = self.learner.predict(self.state)
        arm = draw(self.stream, prediction.q) if self.kind.is_bandit else -1
        plays = self.learner.commit(self.state, prediction, arm)
        arms = [arm] if self.kind.is_bandit else range(self.arms)
        self.open[self.round] = (self.epoch, list(zip(arms, plays, strict=True)))
        return arm, prediction.q

    def close(self, round_: int, loss: float | None, missing: int | None) -> None:
        """Tell a loss of all arms of a ticket, or withdraw it if None."""
        epoch, plays = self.open.pop(round_)
        for arm, play in plays if epoch == self.epoch else []:
            if loss is None:
                self.learner.withdraw(self.state, play, arm)
            else:
                told = int(play[-1]) if missing is None else missing
                self.learner.observe(self.state, play, arm, loss, told)


@every_kind
@pytest.mark.parametrize("expire_after", [None, 4])
@pytest.mark.parametrize("doubling", [False, True])
def test_rounds_go_as_by_the_verbs_of_the_learner(
    kind: Kind, expire_after: int | None, doubling: bool
) -> None:
    """Through expiries, new epochs, a bound found out, cancelled plays, saving and copying."""
    options: dict[str, Any] = {}
    if kind is not CONCEALED:
        options["horizon"] = "doubling" if doubling else 1000
    if kind.is_bandit:
        options["max_missing"] = None if doubling else 50
    terms = {} if expire_after is None else {"expire_after": expire_after, "default_loss": 0.75}
    learner = kind.make(4, **options, **terms)
    model = Model(kind, 4, options, seeded(7))
    random = np.random.default_rng(3)
    tickets: dict[int, Ticket] = {}
    for round_ in range(1, 70):
        arm, q = model.ask(expire_after)
        ticket = tickets[round_] = learner.ask()
        if kind.is_bandit:
            assert ticket.arm == arm
            assert ticket.probability == pytest.approx(q[arm], rel=1e-9)
        else:
            np.testing.assert_allclose(list(ticket.weights.values()), q, rtol=1e-9)
        for late in [r for r in model.open if random.random() < 0.3]:
            what, loss = random.random(), float(random.random())
            missing = min(1, late - 1)
            if what < 0.2:
                model.close(late, None, None)
                learner.cancel(tickets[late])
            else:
                model.close(late, loss, missing)
                handed_in = tickets[late] if what < 0.6 else tickets[late].id
                kind.tell(learner, handed_in, loss, missing)
        if round_ % 11 == 0:
            learner = belated.from_json(learner.to_json())
        if round_ % 13 == 0:
            learner = copy.deepcopy(learner)
        if round_ % 17 == 0:
            learner = pickle.loads(pickle.dumps(learner))


# -- all or nothing


class Breakdown(ArithmeticError):
    """What a solver that finds no solution raises."""


def failing(*arguments: Any) -> Any:
    raise Breakdown("no solution")


def occasions() -> dict[str, tuple[Kind, dict[str, Any], int]]:
    """A kind, its options, and the rounds to play before the one that fails."""
    found: dict[str, tuple[Kind, dict[str, Any], int]] = {}
    for kind in KINDS:
        found[f"{kind}, a usual round"] = kind, {}, 2
        expiring = {"expire_after": 1, "default_loss": 0.5}
        found[f"{kind}, an expiry"] = kind, expiring, 2
        if kind is not CONCEALED:
            found[f"{kind}, a new epoch"] = kind, {"horizon": "doubling", **expiring}, 3
        if kind.is_bandit:
            found[f"{kind}, a doubled bound"] = kind, {"max_missing": None}, 2
    return found


@pytest.mark.parametrize("occasion", occasions())
def test_a_round_that_cannot_be_solved_changes_nothing(
    occasion: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the round would have begun with; when it can be solved again, all goes on."""
    kind, options, rounds = occasions()[occasion]
    learner, twin = kind.make(["only"], **options), kind.make(["only"], **options)
    for each in (learner, twin):
        for _ in range(rounds):
            each.ask()
        each.weights()
    broken: list[tuple[Any, Any]] = []
    make = learner._runner_for

    def broken_one(runner: Any) -> Any:
        broken.append((runner, runner.ask))
        runner.ask = failing
        return runner

    def made(*arguments: Any) -> Any:
        return broken_one(make(*arguments))

    for runner in (learner._runner, learner._scratch_copy()):
        broken_one(runner)
    monkeypatch.setattr(learner, "_runner_for", made)
    for _ in range(2):
        refused(learner, Breakdown, "no solution", learner.ask)
    monkeypatch.undo()
    for runner, ask in broken:
        runner.ask = ask
    for _ in range(5):
        assert learner.ask() == twin.ask()
    assert learner.to_json() == twin.to_json()


# -- promises, without looking at all arms


@every_bandit
def test_the_arms_beyond_the_promise_are_counted_as_they_come_and_go(kind: Kind) -> None:
    """After every step the count is what counting anew would find."""
    learner = kind.make(3, max_missing=1, expire_after=20, default_loss=1.0)
    random = np.random.default_rng(11)
    most = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(200):
            learner.ask()
            for ticket in [t for t in learner.pending() if random.random() < 0.12]:
                if random.random() < 0.3:
                    learner.cancel(ticket)
                else:
                    kind.tell(learner, ticket, float(random.random()))
            space = learner._runner.workspace
            expected = int((space.state.outstanding > 1).sum())
            assert space.arms_over[0] == expected
            resumed = belated.from_json(learner.to_json())
            assert resumed._runner.workspace.arms_over[0] == expected
            most = max(most, expected)
    assert most == 3


def test_a_bound_found_out_by_a_report_is_counted_with() -> None:
    """A report that doubles max_missing also settles which arms are beyond it."""
    learner = PARTIAL.make(["only"], max_missing=None)
    first, *_ = [learner.ask() for _ in range(3)]
    assert learner._runner.workspace.arms_over[0] == 1
    ticket = learner.ask()
    learner.tell(ticket, 0.5, missing=3)
    assert part_of_state(learner, "max_missing") == [4]
    assert learner._runner.workspace.arms_over[0] == 0
    assert learner.tell(first, 0.5, missing=0).counted


# -- what is handed out


def test_tickets_and_feedback_are_records_that_cannot_be_changed() -> None:
    """They compare by content, have a hash, and no part of them can be set."""
    learner = CONCEALED.make()
    ticket = learner.ask()
    feedback = learner.tell(ticket, 0.5)
    assert ticket == Ticket(*ticket)
    assert feedback == Feedback(ticket.id, counted=True, state=TicketState.TOLD)
    assert {ticket: 1}[Ticket(*ticket)] == 1
    for each, name in ((ticket, "round"), (feedback, "counted")):
        with pytest.raises(AttributeError):
            setattr(each, name, 0)
    assert repr(Ticket("a-1", 1, "red", 0.5)) == (
        "Ticket(id='a-1', round=1, arm='red', probability=0.5, weights=None, context=None, "
        "probabilities=None)"
    )


def test_a_ticket_of_experts_has_a_hash_and_copies_of_its_weights() -> None:
    """The weights have no part in the hash, and a copy has weights of its own."""
    ticket = EXPERTS.make().ask()
    assert hash(ticket) == hash(ticket._replace(weights={}))
    other = ticket.copy()
    other.weights["red"] = 5.0
    assert ticket.weights["red"] != 5.0


@every_bandit
def test_plain_numbers_are_handed_out(kind: Kind) -> None:
    """Compiled or not: a round is an int, a probability a float, an arm the user's own name."""
    learner = kind.make()
    ticket = learner.ask()
    assert [type(part) for part in ticket[:4]] == [str, int, str, float]
    assert json.loads(json.dumps(ticket)) == list(ticket)


@pytest.mark.parametrize("loss", [0.25, 1, True, np.float64(0.25), np.float32(0.25)], ids=repr)
@pytest.mark.parametrize("form", ["ticket", "equal ticket", "id"])
@every_bandit
def test_the_short_way_and_the_long_way_meet(kind: Kind, form: str, loss: Any) -> None:
    """However a loss and its ticket are handed in, the same is learned and remembered."""
    learner, twin = kind.make(), kind.make()
    ticket = learner.ask()
    twin.ask()
    forms: dict[str, Any] = {"ticket": ticket, "equal ticket": Ticket(*ticket), "id": ticket.id}
    feedback = kind.tell(learner, forms[form], loss)
    assert feedback == kind.tell(twin, ticket, float(loss))
    assert type(feedback) is Feedback
    assert learner.to_json() == twin.to_json()


@pytest.mark.parametrize("round_", [[1], {}, None, "1", 1.5], ids=repr)
@every_kind
def test_a_forged_round_is_refused(kind: Kind, round_: Any) -> None:
    """Whatever stands in its place."""
    learner = kind.make()
    forged = learner.ask()._replace(round=round_)
    refused(
        learner,
        belated.UnknownTicketError,
        "this learner issued",
        lambda: kind.tell(learner, forged, 0),
    )


# -- how it grows


def work_of_a_round(learner: Any, tickets: list[Ticket]) -> tuple[float, float]:
    """The instructions of a round that tells the oldest ticket, and the bytes it needs meanwhile.

    The median of a few rounds, as now and then a table becomes larger. What C does in one
    instruction, such as going through a list, is seen by the bytes if it makes something.
    """
    instructions, needed = [], []
    for ticket in tickets[:10]:
        with counting_instructions() as count:
            learner.tell(ticket, 0.5)
            tickets.append(learner.ask())
        instructions.append(count.instructions)
    tracemalloc.start()
    try:
        for ticket in tickets[10:20]:
            before, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            learner.tell(ticket, 0.5)
            tickets.append(learner.ask())
            needed.append(tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()
    return float(np.median(instructions)), float(np.median(needed))


@compiled_only
def test_a_hundred_thousand_pending_tickets_cost_no_more_than_ten() -> None:
    """Neither in instructions nor in memory, nor in what is remembered wrongly.

    The benchmarks measure how long it takes.
    """
    number = 100_000
    few, many = (CONCEALED.make(4, max_missing=10**6) for _ in range(2))
    tickets = [many.ask() for _ in range(number)]
    instructions, needed = work_of_a_round(few, [few.ask() for _ in range(10)])
    more_instructions, more_needed = work_of_a_round(many, tickets)
    assert more_instructions < 1.5 * instructions
    assert more_needed < 1.5 * needed
    assert len(many.pending()) == number
    assert many.pending() == tickets[20:]


@compiled_only
def test_pending_tickets_of_many_experts_are_small() -> None:
    """What was in force takes two doubles an expert, the weights a third."""
    learner = EXPERTS.make(2000)
    learner.ask()
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for _ in range(20):
        learner.ask()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (after - before) / (20 * 2000) < 26


@compiled_only
def test_a_million_arms_are_played() -> None:
    """Asked, told and weighed."""
    learner = CONCEALED.make(1_000_000)
    for _ in range(3):
        ticket = learner.ask()
        assert ticket.probability == pytest.approx(1e-6, rel=0.01)
        learner.tell(ticket, 1.0)


# -- arms that are alike, as one group


def pair(arms: int, **options: Any) -> tuple[Any, Any]:
    """Two bandits that differ only in whether they group."""
    grouped, plain = CONCEALED.make(arms, **options), CONCEALED.make(arms, **options)
    plain._group(False)
    return grouped, plain


@compiled_only
@pytest.mark.parametrize("variant", ["paper", "repaired"])
@pytest.mark.parametrize("max_missing", [0, 50, None])
@pytest.mark.parametrize("expire_after", [None, 6])
def test_grouped_and_plain_rounds_are_the_same(
    variant: str, max_missing: int | None, expire_after: int | None
) -> None:
    """The same arms, and weights equal to twelve digits, until there is no group left."""
    options: dict[str, Any] = {"variant": variant, "max_missing": max_missing}
    if expire_after is not None:
        options |= {"expire_after": expire_after, "default_loss": 0.5}
    grouped, plain = pair(FEWEST_ARMS, **options)
    random = np.random.default_rng(5)
    was_grouped, rounds = 0, FEWEST_ARMS // 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for round_ in range(rounds):
            one, other = (np.array(list(each.weights().values())) for each in (grouped, plain))
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=0)
            was_grouped += grouped._runner.steps != plain._runner.steps
            tickets = grouped.ask(), plain.ask()
            assert tickets[0][:3] == tickets[1][:3]
            assert tickets[0].probability == pytest.approx(one[tickets[0].arm], rel=0, abs=0)
            loss, answered = float(random.random() < 0.9), random.random() < 0.9
            for each, ticket in zip((grouped, plain), tickets, strict=True):
                if answered:
                    each.tell(ticket, loss)
            if round_ % 29 == 7:
                grouped = belated.from_json(grouped.to_json())
    assert FEWEST_ARMS // 8 < was_grouped < rounds


def test_few_arms_are_not_grouped() -> None:
    """Where it does not pay, the plain steps are taken."""
    grouped, plain = pair(FEWEST_ARMS - 1)
    assert grouped._runner.steps == plain._runner.steps


def test_touched_arms_are_kept_in_order() -> None:
    """And counted beyond the room there is for them."""
    touched = np.zeros(4, dtype=np.int64)
    for arm in (7, 2, 5):
        touch(touched, arm)
    assert touched.tolist() == [3, 2, 5, 7]
    touch(touched, 3)
    assert touched.tolist() == [4, 2, 5, 7]


@pytest.mark.parametrize(
    "arms", [[], [0], [3], [9], [0, 1], [8, 9], [2, 3, 7], [0, 4, 9]], ids=repr
)
def test_drawing_from_a_group_is_drawing_from_all(arms: list[int]) -> None:
    """By inversion over all arms in their order, for targets all over [0, 1) and at its ends."""
    touched = np.array(arms, dtype=np.int64)
    q = 0.01 + 0.02 * np.arange(len(arms))
    common = (1.0 - q.sum()) / (10 - len(arms))
    weights = np.full(10, common)
    weights[touched] = q
    ends = np.cumsum(weights)
    for target in [*np.linspace(0.0, 1.0, 501)[:-1], np.nextafter(1.0, 0.0)]:
        arm, place = draw_grouped(float(target), touched, q, 10, common)
        expected = min(int(np.searchsorted(ends, target, side="right")), 9)
        assert arm == expected or np.abs(ends - target).min() < 1e-14
        assert place == (arms.index(arm) if arm in arms else -1)
