"""What every store does, whatever the database."""

import json
import logging
import math

import pytest
from sqlalchemy import update

from belated.service.store import (
    START,
    ApiKey,
    Decision,
    NamedOutcome,
    NamedOutcomes,
    Note,
    Outcome,
    Snapshot,
    Store,
)
from belated.service.store.records import request_key
from belated.service.store.schema import SNAPSHOTS
from tests.service.material import decision, experts, expired, open_tickets, told, whole_journal

AWKWARD = [0.1 + 0.2, 5e-324, 1.7976931348623157e308, 1 / 3, 0.0, 1.0, 123456789.12345679]


def test_problems_have_unique_names(store: Store) -> None:
    """A problem is there as it was created, and a second one of its name is refused."""
    spec = {"arms": ["a", "ü"], "horizon": None, "rate": 0.1}
    store.create_problem("prices", spec, at=2.0)
    with pytest.raises(ValueError, match="there is a problem 'prices' already"):
        store.create_problem("prices", {}, at=3.0)
    assert [each.name for each in store.problems()] == ["ads", "prices"]
    found = store.problem("prices")
    assert found is not None
    assert found.spec == spec
    assert found.at == 2.0
    assert store.problem("nothing") is None
    assert store.notes("prices") == [Note("prices", "created", spec, 2.0)]


def test_notes_are_part_of_the_journal(store: Store) -> None:
    """What happens to a problem stands in the journal in its place."""
    store.record("ads", "paused", {"why": "night"}, at=1.0)
    store.append([decision("t1")], [], [Note("ads", "arms added", {"arms": ["blue"]}, 2.0)])
    assert [note.kind for note in store.notes("ads")] == ["created", "paused", "arms added"]
    kinds = [type(event.body).__name__ for event in whole_journal(store)]
    assert kinds == ["Note", "Note", "Decision", "Note"]


@pytest.mark.parametrize("kind", ["decided", "told", "expired", "cancelled", "created"])
def test_notes_cannot_pass_for_what_the_store_writes(store: Store, kind: str) -> None:
    """A kind that the store keeps for itself is refused."""
    with pytest.raises(ValueError, match=f"'{kind}' is not a kind of note"):
        store.record("ads", kind, {}, at=1.0)
    assert len(whole_journal(store)) == 1


def test_a_decision_comes_back_as_it_was(store: Store) -> None:
    """Every field of a decision survives, and so does every field of its outcome."""
    first = Decision(
        "t1", "ads", 7, "green", 0.1 + 0.2, {"red": 1 / 3, "green": 2 / 3}, "p-9", 1.5, "k", "d",
        99.5, 12, 1,
    )  # fmt: skip
    outcome = Outcome("t1", "green", "told", 1 / 7, 3.25, 4, -12.5)
    assert store.append([first], []).decisions == [(first, True, True)]
    assert store.append([], [outcome]).outcomes == [(outcome, True)]
    assert store.ticket("t1") == (first, (outcome,), ())
    assert store.ticket("t2") is None
    assert [event.body for event in whole_journal(store)][1:] == [first, outcome]
    assert [event.problem for event in whole_journal(store)] == ["ads"] * 3


def test_named_outcomes_are_kept_until_their_ticket_is_closed(store: Store) -> None:
    """Each revision once, in their order; nothing is written that a closing does not rest on."""
    store.append([decision("t1"), decision("t2")], [])
    sale, more = (
        NamedOutcome("t1", "sale", 0, 0.1 + 0.2, 3.0),
        NamedOutcome("t1", "sale", 1, -4.0, 4.0),
    )
    assert store.append([], [], named=NamedOutcomes([sale, more])).named == [(True, None)] * 2
    assert [event.body for event in whole_journal(store)][-2:] == [sale, more]
    again, other = sale._replace(reward=9.0), NamedOutcome("t3", "sale", 0, 1.0, 1.0)
    results = store.append([], [], named=NamedOutcomes([again, other])).named
    assert results == [(False, store.ticket("t1")), (False, None)]
    stale = NamedOutcomes([], {"t1": 1, "t2": 0})
    done = store.append([], [told("t1"), told("t2")], named=stale)
    assert done.outcomes == [(None, False), (told("t2"), True)]
    assert store.append([], [told("t1")], named=NamedOutcomes([], {"t1": 2})).outcomes[0].counted
    late = NamedOutcome("t1", "refund", 0, -4.0, 9.0)
    ((counted, record),) = store.append([], [], named=NamedOutcomes([late])).named
    assert (counted, record) == (False, (decision("t1"), (told("t1"),), (sale, more)))
    assert store.counts("ads").by_arm == {"red": {"decided": 2, "told": 2}}
    with pytest.raises(ValueError, match="'sale' of ticket 't1' has a number that is not finite"):
        store.append([], [], named=NamedOutcomes([sale._replace(reward=float("nan"))]))


@pytest.mark.parametrize("number", AWKWARD)
def test_numbers_survive_to_the_last_bit(store: Store, number: float) -> None:
    """Probabilities, weights, losses and times are exactly what was given."""
    store.append([decision("t1", probability=number, at=number, expires_at=number)], [])
    store.append([experts("t2", "a")._replace(weights={"a": number})], [])
    store.append([], [told("t1", number)])
    decided, several, outcome = (event.body for event in whole_journal(store)[1:])
    assert isinstance(decided, Decision)
    assert isinstance(several, Decision)
    assert isinstance(outcome, Outcome)
    assert (decided.probability, decided.at, decided.expires_at) == (number, number, number)
    assert several.weights == {"a": number}
    assert outcome.loss == number


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_are_refused(store: Store, number: float) -> None:
    """Nothing of a batch is written if one of its numbers is not finite."""
    bad = [
        ([decision("t1"), decision("t2", probability=number)], []),
        ([decision("t1"), decision("t2", expires_at=number)], []),
        ([decision("t1"), experts("t2", "a")._replace(weights={"a": number})], []),
        ([decision("t1")], [told("t1", number)]),
    ]
    for decisions, outcomes in bad:
        with pytest.raises(ValueError, match="a number that is not finite"):
            store.append(decisions, outcomes)
    assert len(whole_journal(store)) == 1


@pytest.mark.parametrize("bad", ["a\0b", "\ud800"], ids=["NUL", "half a pair"])
def test_text_that_no_store_can_hold_is_refused(store: Store, bad: str) -> None:
    """Before a transaction begins, with a sentence; and nothing is found under it."""
    records = [
        ([decision("t1"), decision(bad)], [], []),
        ([decision("t1", key=bad)], [], []),
        ([experts("t1", bad)], [], []),
        ([decision("t1")], [told("t1", arm=bad)], []),
        ([decision("t1")], [], [Note("ads", bad, {}, 1.0)]),
    ]
    for given in records:
        with pytest.raises(ValueError, match="cannot be stored; it must be Unicode without NUL"):
            store.append(*given)
    with pytest.raises(ValueError, match="cannot be stored"):
        store.keys.add("hash", ["admin:*"], bad, 1.0)
    with pytest.raises(ValueError, match="cannot be stored"):
        store.create_problem(bad, {}, 1.0)
    assert store.tickets([bad, "t1"]) == store.decided_under([("ads", bad)]) == {}
    assert store.problem(bad) is None
    assert len(whole_journal(store)) == 1


def test_a_key_is_answered_by_its_first_decision(store: Store) -> None:
    """A key that was seen writes nothing, within a batch or later, and other requests show."""
    first = decision("t1", key="k", digest="x")
    store.create_problem("prices", {}, at=1.0)
    within = store.append([first, decision("t2", key="k", digest="x")], [])
    assert within.decisions == [(first, True, True), (first, False, True)]
    later = store.append(
        [
            decision("t3", key="k", digest="y"),
            decision("t4", key="other", digest="x"),
            decision("t5", key="k", problem="prices"),
            decision("t6"),
        ],
        [],
    )
    assert later.decisions[0] == (first, False, False)
    assert [answer.new for answer in later.decisions] == [False, True, True, True]
    assert store.append([decision("t7"), decision("t8")], []).decisions[1].new
    decided = [event.body for event in whole_journal(store) if isinstance(event.body, Decision)]
    assert [each.ticket for each in decided] == ["t1", "t4", "t5", "t6", "t7", "t8"]


def test_a_key_is_one_request(store: Store) -> None:
    """Of a request that asks for more under a used key, nothing is written; of others all is."""

    def batch(key: str, number: int, name: str) -> list[Decision]:
        return [
            decision(f"{name}{place}", key=request_key(key, place), digest=f"{number}")
            for place in range(number)
        ]

    two = batch("k", 2, "a")
    assert all(each.new for each in store.append(two, []).decisions)
    mixed = [*batch("k", 4, "b"), *batch("new", 3, "c"), decision("d")]
    results = store.append(mixed, []).decisions
    assert [each.new for each in results] == [False] * 4 + [True] * 4
    assert [each.same_request for each in results[:4]] == [False] * 4
    assert [each.decision for each in results[:2]] == two
    again = store.append([each._replace(ticket="e" + each.ticket) for each in two], [])
    assert again.decisions == [(each, False, True) for each in two]
    assert store.counts("ads").of("decided") == len(open_tickets(store)) == 6
    assert len(whole_journal(store)) == 7


def test_an_outcome_counts_once(store: Store) -> None:
    """The first outcome stands; later ones get it as their answer, whatever they say."""
    store.append([decision("t1"), decision("t2")], [])
    within = store.append([], [told("t1", 0.1), told("t1", 0.2), told("nothing")])
    assert within.outcomes == [(told("t1", 0.1), True), (told("t1", 0.1), False), (None, False)]
    later = store.append([], [expired("t1"), told("t2", 0.3)])
    assert later.outcomes == [(told("t1", 0.1), False), (told("t2", 0.3), True)]
    assert store.counts("ads").of("told") == 2
    assert store.counts("ads").of("expired") == 0


def test_an_outcome_can_come_with_its_decision(store: Store) -> None:
    """A ticket that is decided and told in one batch is closed."""
    appended = store.append([decision("t1", expires_at=1.0)], [told("t1")])
    assert appended.outcomes == [(told("t1"), True)]
    assert open_tickets(store) == []


def test_an_outcome_must_be_of_the_arm(store: Store) -> None:
    """An outcome of an arm that the ticket does not wait for is not written."""
    store.append([decision("t1"), experts("t2", "a", "b")], [])
    wrong = [told("t1", arm="green"), told("t2", arm="red")]
    assert store.append([], wrong).outcomes == [(None, False), (None, False)]
    assert len(whole_journal(store)) == 3
    assert store.append([], [told("t1"), told("t2", arm="b")]).outcomes[1].counted


def test_experts_wait_for_every_arm(store: Store) -> None:
    """A ticket of experts takes an outcome of each arm, in any order, and is then closed."""
    store.append([experts("t1", "a", "b", "c", expires_at=50.0), decision("t2")], [])
    mixed = store.append([], [told("t1", arm="b"), told("t2"), told("t1", arm="b")])
    assert [answer.counted for answer in mixed.outcomes] == [True, True, False]
    assert [(each.ticket, each.awaiting) for each in open_tickets(store)] == [("t1", 2)]
    both = store.append([], [expired("t1", arm="c"), expired("t1", arm="a")])
    assert all(answer.counted for answer in both.outcomes)
    assert open_tickets(store) == []
    record = store.ticket("t1")
    assert record is not None
    assert [(each.arm, each.kind) for each in record.outcomes] == [
        ("b", "told"), ("c", "expired"), ("a", "expired"),
    ]  # fmt: skip


def test_bad_records_change_nothing(store: Store) -> None:
    """One bad record is refused with a sentence, and the others of its batch are not written."""
    store.append([decision("t0")], [])
    good = decision("t1")
    with pytest.raises(ValueError, match="there is no problem 'nowhere'"):
        store.append([good, decision("t2", problem="nowhere")], [])
    with pytest.raises(ValueError, match="decision 't2' has neither an arm nor weights"):
        store.append([good, decision("t2", arm=None)], [])
    with pytest.raises(ValueError, match="the outcome of ticket 't0' is 'lost'"):
        store.append([good], [told("t0")._replace(kind="lost")])
    with pytest.raises(ValueError, match="the store cannot hold this"):
        store.append([good, decision("t0")], [told("t0")])
    with pytest.raises(ValueError, match="there is no problem 'nowhere'"):
        store.record("nowhere", "paused", {}, at=1.0)
    assert [type(event.body) for event in whole_journal(store)] == [Note, Decision]
    assert store.append([good], [told("t0")]).outcomes[0].counted


def test_the_journal_is_read_page_by_page(store: Store) -> None:
    """Pages of any size give the same events, and positions rise and survive JSON."""
    for number in range(7):
        outcomes = [told(f"t{number - 1}")] if number else []
        store.append([decision(f"t{number}")], outcomes)
    whole = whole_journal(store)
    assert len(whole) == 1 + 7 + 6
    for limit in (1, 2, 5):
        assert whole_journal(store, limit) == whole
    positions = [event.position for event in whole]
    assert positions[0] > START
    assert positions == sorted(set(positions))
    resumed = json.loads(json.dumps(positions[5]))
    assert store.tail(resumed)[0] == whole[6:]
    assert store.tail(positions[-1]) == ([], positions[-1])
    with pytest.raises(ValueError, match="'12' is no position of the journal"):
        store.tail("12")


def test_one_problem_can_be_read_alone(store: Store) -> None:
    """The events of one problem are those of the journal, in their order."""
    store.create_problem("prices", {}, at=1.0)
    store.append([decision("t1"), decision("t2", problem="prices"), decision("t3")], [told("t2")])
    for name in ("ads", "prices"):
        own = [event for event in whole_journal(store) if event.problem == name]
        assert store.tail(START, 10, problem=name)[0] == own
        assert len(own) == 3


def test_open_tickets_have_their_deadlines(store: Store) -> None:
    """Time and round are kept beside a ticket until it has an outcome."""
    until = {"t1": (30.0, None), "t2": (10.0, 4), "t3": (20.0, None), "t4": (None, None)}
    store.append(
        [decision(t, expires_at=at, expires_round=round_) for t, (at, round_) in until.items()], []
    )
    found = {each.ticket: (each.expires_at, each.expires_round) for each in open_tickets(store)}
    assert found == until
    store.append([], [told("t2")])
    assert [each.ticket for each in open_tickets(store)] == ["t1", "t3", "t4"]
    assert open_tickets(store)[1] == ("t3", "ads", "red", 10.0, 20.0, None, 1)


def test_counts_and_ages(store: Store) -> None:
    """Tallies and ages are those of the journal."""
    store.append(
        [
            decision("t1", at=1.0),
            decision("t2", at=2.0),
            decision("t3", at=3.0, arm="green"),
            experts("t4", "a", "b", at=4.0),
        ],
        [told("t1")],
    )
    store.append([decision("t5", at=5.0)], [told("t4", arm="a")])
    assert store.counts("ads").by_arm == {
        "red": {"decided": 3, "told": 1},
        "green": {"decided": 1},
        "a": {"told": 1},
        None: {"decided": 1},
    }
    assert store.counts("ads").of("decided") == 5
    assert store.counts("nothing").by_arm == {}
    assert store.ages("ads", [2.0, 5.0]) == {"red": [0, 1, 1], "green": [0, 1, 0], None: [0, 1, 0]}
    assert store.ages("ads", []) == {"red": [2], "green": [1], None: [1]}


def test_tickets_join_decisions_and_outcomes(store: Store) -> None:
    """Many tickets are found at once; the journal has every decision once, across its pages."""
    store.create_problem("prices", {}, at=1.0)
    tickets = [f"t{number:04d}" for number in range(1500)]
    store.append(
        [decision(ticket) for ticket in tickets], [told(ticket) for ticket in tickets[::3]]
    )
    store.append([decision("other", problem="prices")], [])
    journal = [each.body for each in whole_journal(store) if each.problem == "ads"]
    assert [each.ticket for each in journal if isinstance(each, Decision)] == tickets
    records = store.tickets(tickets)
    assert [len(records[ticket].outcomes) for ticket in tickets] == [1, 0, 0] * 500


def test_snapshots_are_a_checked_cache(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    """The newest sound snapshot is found; a damaged one is logged and passed over."""
    store.append([decision("t1")], [told("t1")])
    old, middle, new = (event.position for event in whole_journal(store))
    assert store.snapshots.latest("ads") is None
    for position in (new, old, middle):
        store.snapshots.save(Snapshot("ads", position, "1.0", position.encode() * 100))
    newest = Snapshot("ads", new, "1.1", bytes(range(256)))
    store.snapshots.save(newest)
    assert store.snapshots.latest("ads") == newest
    assert store.snapshots.latest("prices") is None
    damage = update(SNAPSHOTS).where(SNAPSHOTS.c.position == new).values(blob=b"other")
    store._transactions.write(lambda connection: connection.execute(damage))
    with caplog.at_level(logging.WARNING):
        found = store.snapshots.latest("ads")
    assert found is not None
    assert found.position == middle
    assert f"the snapshot of 'ads' at {new} is damaged" in caplog.text
    assert store.snapshots.prune("ads", keep=1) == 2
    assert store.snapshots.latest("ads") is None


def test_a_snapshot_cannot_pass_for_another(store: Store) -> None:
    """A blob that was moved to another position is damaged, too."""
    store.append([decision("t1")], [])
    first, second = (event.position for event in whole_journal(store))
    store.snapshots.save(Snapshot("ads", first, "1.0", b"state"))
    moved = update(SNAPSHOTS).values(position=second)
    store._transactions.write(lambda connection: connection.execute(moved))
    assert store.snapshots.latest("ads") is None


def test_keys_are_kept_and_revoked(store: Store) -> None:
    """Keys come back with their scopes; revoking says whether it changed anything."""
    store.keys.add("abc", ["ads:ask", "ads:tell"], "shop", at=1.0)
    store.keys.add("def", ["admin"], "me", at=2.0)
    with pytest.raises(ValueError, match="the store cannot hold this"):
        store.keys.add("abc", [], "again", at=3.0)
    assert store.keys.revoke("abc", at=4.0)
    assert not store.keys.revoke("abc", at=5.0)
    assert not store.keys.revoke("nothing", at=5.0)
    assert store.keys.all() == [
        ApiKey("abc", "shop", ("ads:ask", "ads:tell"), 1.0, 4.0),
        ApiKey("def", "me", ("admin",), 2.0, None),
    ]


def test_a_key_that_cannot_be_read_opens_nothing(store: Store) -> None:
    """Nor does it keep others from being read."""
    for name in ("good", "bad"):
        store.keys.add(name, ["ask:ads"], name, 1.0)
    for text in ("{", "5", "[5]"):
        damage = f"update api_keys set scopes = '{text}' where hash = 'bad'"
        store._transactions.write(lambda each, damage=damage: each.exec_driver_sql(damage))
        assert {key.hash: key.scopes for key in store.keys.all()} == {
            "good": ("ask:ads",),
            "bad": (),
        }
