"""Contexts in the service: decided, folded, verified, replayed and forgotten, in every store."""

import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

from belated.learners.registry import learner_named
from belated.replay.log_replay import replay_log
from belated.replay.logs import read_log
from belated.service.admin.export import rows_of, write_log
from belated.service.admin.forget import FRESH, forget
from belated.service.admin.retain import retain
from belated.service.admin.verify import verified_at_rest
from belated.service.contexts import canonical
from belated.service.core.errors import InvalidRequestError, StateConflictError
from belated.service.core.problems import checked_spec
from belated.service.core.requests import Ask, Cancel
from belated.service.store import Decision, Store, open_store
from belated.service.store.checksums import checksum_of
from belated.types import Setting
from tests.service.core.thread_client import ThreadClient, thread_client
from tests.service.upkeep.test_retention import Clock

ARMS = ["red", "green", "blue"]
FEATURES = {"age": "number", "device": ["phone", "desktop"], "seen": "optional number"}
SHOP = {"arms": ARMS, "learner": "linear", "features": FEATURES, "default_loss": 1.0}


def visitor(chance: random.Random) -> str | None:
    """What is known of a visitor, which may be nothing."""
    if chance.random() < 0.1:
        return None
    known = {"age": chance.randint(18, 80), "device": chance.choice(["phone", "desktop"])}
    return canonical({**known, "seen": None if chance.random() < 0.5 else chance.random()})


def play(thread: ThreadClient, rounds: int, seed: int, name: str = "shop") -> list[Decision]:
    """Ask in many contexts, sometimes among some arms; tell, cancel, or be silent."""
    chance, made = random.Random(seed), list[Decision]()
    for number in range(rounds):
        among = frozenset(chance.sample(ARMS, 2)) if number % 5 == 4 else None
        made.append(thread.ask(name, contexts=(visitor(chance),), among=among))
        for ticket in chance.sample([each.ticket for each in made[-8:]], min(2, len(made))):
            with suppress(StateConflictError):  # told before, and otherwise
                if chance.random() < 0.1:
                    thread.do(Cancel(ticket))
                elif chance.random() < 0.5:
                    thread.tell(ticket, float(chance.random() < 0.5))
    return made


def run(store: Store, statement: str) -> None:
    """Run a statement on the database."""
    store._transactions.write(lambda connection: connection.exec_driver_sql(statement))


def drop_snapshots(store: Store) -> None:
    """So that the journal is folded again from its beginning, or its checkpoint."""
    run(store, "delete from snapshots")


def check_clean(store: Store, name: str = "shop") -> None:
    """Verify a store; each row has a checksum, and each probability is the one of its state."""
    (result,) = (each for each in verified_at_rest(store) if each.problem == name)
    assert result.complaints == []
    assert result.off <= 1e-12


def test_the_state_is_the_fold_of_the_journal(address: str) -> None:
    """Bit for bit: in use, from a snapshot and the rest, and folded again from the beginning."""
    with open_store(address) as store:
        with thread_client(store) as thread:
            thread.create("shop", **SHOP)
            made = play(thread, 25, 1)
        with thread_client(store) as thread:  # from the snapshot that was taken at the end
            made += play(thread, 15, 2)
            thread.catch_up()
            states = thread.states()
        drop_snapshots(store)
        with thread_client(store) as thread:
            assert thread.states() == states
            thread.catch_up()
        check_clean(store)
        (result,) = verified_at_rest(store)
        assert result.judged == len(made) == 40
        for decision in made:
            assert decision.weights is not None
            assert sum(decision.weights.values()) == pytest.approx(1.0)
            assert decision.weights[str(decision.arm)] == decision.probability
            record = store.ticket(decision.ticket)
            assert record is not None
            assert record.decision == decision


def test_a_wrong_probability_is_noticed(address: str) -> None:
    """Verification computes the probabilities of each context again."""
    with open_store(address) as store:
        with thread_client(store) as thread:
            thread.create("shop", **SHOP)
            play(thread, 12, 3)
            thread.catch_up()
        run(store, "update journal set checksum = null")
        check_clean(store)
        changed = canonical({"age": 1000, "device": "phone"})
        run(store, f"update journal set context = '{changed}' where round = 11")
        drop_snapshots(store)
        complaints = [each for result in verified_at_rest(store) for each in result.complaints]
        assert any("off what the fold predicts" in each for each in complaints), complaints


def test_the_replay_of_an_export_gives_the_live_probabilities(tmp_path: Path) -> None:
    """As CSV and as Parquet; arms that were left out have the probability 0."""
    with open_store(str(tmp_path / "belated.db")) as store, thread_client(store) as thread:
        thread.create("shop", **SHOP)
        made = play(thread, 40, 4)
        problem = store.problem("shop")
        assert problem is not None
        rows = rows_of(store, problem)
    learner = learner_named("linear")(3, **{**problem.spec["options"], "default_loss": 1.0})
    live = [[(each.weights or {}).get(arm, 0.0) for arm in ARMS] for each in made]
    for ending in ("csv", "parquet"):
        path = tmp_path / f"log.{ending}"
        write_log(rows, path)
        found = replay_log(read_log(path, Setting.CONCEALED, ARMS), learner)
        np.testing.assert_allclose(found.weights, live, atol=1e-10)


def prices(chance: random.Random) -> str:
    """What is known of two or three arms of a round."""
    among = chance.sample(ARMS, chance.choice([2, 3]))
    return canonical(
        {arm: {"price": chance.random()} if chance.random() < 0.9 else None for arm in among}
    )


def test_features_of_arms(address: str, tmp_path: Path) -> None:
    """They are kept, folded, verified, replayed and shown as contexts are; wrong ones refused."""
    chance = random.Random(9)
    options = {"features": ["age"], "action_features": ["price"]}
    with open_store(address) as store:
        with thread_client(store) as thread:
            thread.create("shop", arms=ARMS, learner="linear-shared", options=options)
            made = []
            for number in range(20):
                actions = prices(chance)
                among = frozenset(json.loads(actions))
                contexts = (canonical({"age": number}),)
                ask = {"contexts": contexts, "among": among, "actions": actions}
                made.append(thread.ask("shop", **ask))
                assert made[-1].actions == actions
                assert set(made[-1].weights or ()) == among
                if number % 2:
                    thread.tell(made[-1].ticket, chance.random())
            thread.catch_up()
            states = thread.states()
            strange = canonical({"red": {"cost": 1}})
            with pytest.raises(InvalidRequestError, match="in the features of 'red', context has"):
                thread.ask("shop", among=frozenset(["red"]), actions=strange)
            thread.create("plain", arms=ARMS, learner="linear")
            with pytest.raises(InvalidRequestError, match="linear takes no features of arms"):
                thread.ask("plain", actions=strange)
        drop_snapshots(store)
        with thread_client(store) as thread:
            thread.catch_up()
            assert thread.states()["shop"] == states["shop"]
        check_clean(store)
        problem = store.problem("shop")
        assert problem is not None
        if not store.one_owner:  # there decisions are made from earlier states
            return
        write_log(rows_of(store, problem), tmp_path / "log.csv")
    learner = learner_named("linear-shared")(3, **problem.spec["options"])
    found = replay_log(read_log(tmp_path / "log.csv", Setting.CONCEALED, ARMS), learner)
    live = [[(each.weights or {}).get(arm, 0.0) for arm in ARMS] for each in made]
    np.testing.assert_allclose(found.weights, live, atol=1e-10)


WRONG: dict[str, tuple[Any, str]] = {
    "a strange name": ({"age": 3, "shoe": 40}, "context has the name 'shoe', which features does"),
    "text for a number": ({"age": "old"}, "'age' is 'old'; it must be a number"),
    "no number": ({"age": float("nan")}, "'age' is nan; it must be a finite number"),
    "a huge number": ({"age": 10**400}, "must be a finite number of at most 1e"),
    "a strange category": ({"device": "fridge"}, "'device' is 'fridge'; it must be one of"),
    "too many names": ({f"n{k}": 1 for k in range(1_001)}, "context has 1001 names"),
    "too many letters": ({f"n{k}": 1 for k in range(10_001)}, "98902 letters as JSON"),
}  # fmt: skip


def test_a_wrong_context_changes_nothing() -> None:
    """One sentence says what is wrong with it; a batch with one wrong context decides nothing."""
    nested: Any = 1
    for _ in range(50):
        nested = {"deeper": nested}
    with open_store("memory:") as store, thread_client(store) as thread:
        thread.create("shop", **SHOP)
        thread.create("plain", arms=ARMS)
        play(thread, 5, 5)
        states = thread.states()
        for given, sentence in (*WRONG.values(), ({"age": nested}, "nested more than 10 deep")):
            with pytest.raises(InvalidRequestError, match=sentence):
                thread.ask("shop", contexts=(canonical(given),))
        with pytest.raises(InvalidRequestError, match="learner exp3 takes none"):
            thread.ask("plain", contexts=(canonical({"age": 1}),))
        fine = canonical({"age": 31})
        contexts = (fine, canonical({"shoe": 1}))
        with pytest.raises(InvalidRequestError, match="shoe"):
            thread.do(Ask("shop", 2, contexts=contexts))
        assert thread.states() == states
        assert len(thread.do(Ask("shop", 2, contexts=(fine, None)))) == 2


def test_a_look_leaves_no_trace() -> None:
    """The weights of a problem are those of nobody in particular, whoever asked last."""
    with open_store("memory:") as store, thread_client(store) as thread:
        thread.create("shop", **SHOP)
        play(thread, 5, 6)
        states = thread.states()
        made = thread.ask("shop", contexts=(canonical({"age": 20}),), key="once", digest="d")
        after = thread.states()
        assert after != states
        again = thread.ask("shop", contexts=(canonical({"age": 90}),), key="once", digest="d")
        assert again == made
        with pytest.raises(InvalidRequestError, match="was used for another request"):
            thread.ask("shop", contexts=(canonical({"age": 90}),), key="once", digest="e")
        assert thread.states() == after


def test_arms_change_under_contexts(address: str) -> None:
    """Also while plays in many contexts wait."""
    with open_store(address) as store:
        with thread_client(store) as thread:
            thread.create("shop", **SHOP, minimum_share=0.05)
            play(thread, 10, 7)
            thread.catch_up()
            assert thread.change_arms("shop", ["pink"], ["blue"]) == ("red", "green", "pink")
            thread.catch_up()
            made = [thread.ask("shop", contexts=(canonical({"age": k}),)) for k in range(20, 30)]
            assert all(set(each.weights or ()) == {"red", "green", "pink"} for each in made)
            assert min(min((each.weights or {}).values()) for each in made) >= 0.05 - 1e-12
            for each in made[::2]:
                thread.tell(each.ticket, 0.5)
            thread.catch_up()
            states = thread.states()
        drop_snapshots(store)
        with thread_client(store) as thread:
            thread.catch_up()
            assert thread.states() == states
        check_clean(store)


@pytest.mark.parametrize("learner", ["practical-bandit", "linear"])
def test_every_arm_has_its_least_share(learner: str) -> None:
    """With and without contexts, among some arms, and beside a holdout; all can be verified."""
    with open_store("memory:") as store:
        with thread_client(store) as thread:
            more = {"learner": learner, "arms": ARMS, "minimum_share": 0.2}
            thread.create("ads", **more)
            thread.create("held", **more, holdout={"share": 0.1, "arm": "red"})
            for number in range(60):
                among = frozenset(ARMS[1:]) if number % 3 == 2 else None
                for name in ("ads", "held"):
                    made = thread.ask(name, among=among, keeps_all=True)
                    shares = made.weights or {}
                    assert sum(shares.values()) == pytest.approx(1.0)
                    least = 0.2 if name == "ads" else 0.18
                    assert min(shares.values()) >= least - 1e-12
                    assert set(shares) == set(ARMS[1:] if among else ARMS)
                    thread.tell(made.ticket, 0.0 if made.arm == "red" else 1.0)
            with pytest.raises(StateConflictError, match="cannot all have its minimum_share"):
                thread.change_arms("ads", [f"more {number}" for number in range(3)])
        for name in ("ads", "held"):
            check_clean(store, name)


def test_specifications_say_what_is_wrong() -> None:
    """Of features, of the least share, and of options that are given twice."""
    spec = checked_spec(SHOP)
    assert spec["options"]["features"] == FEATURES
    for wrong, sentence in (
        ({"features": {"age": "numbr"}}, "the feature 'age' is 'numbr'"),
        ({"features": ["age"], "options": {"features": ["age"]}}, "features is given twice"),
        ({"learner": "exp3", "features": ["age"]}, "exp3 has no option 'features'"),
        ({"minimum_share": 0.5}, "minimum_share is 0.5; it must be at least 0 and, with 3 arms"),
        ({"hash_bits": 20, "features": None}, "hash_bits is 20"),
    ):
        with pytest.raises(ValueError, match=sentence):
            checked_spec({"arms": ARMS, "learner": "linear", **wrong})
    with pytest.raises(ValueError, match="minimum_share is given for experts"):
        checked_spec({"arms": ARMS, "kind": "experts", "minimum_share": 0.1})


def contexts_of(store: Store) -> list[str | None]:
    """The contexts in the journal, oldest first."""
    found = text("select context from journal where kind = 'decided' order by turn, seq")
    return list(store._transactions.read(lambda connection: connection.execute(found).scalars()))


def test_contexts_are_forgotten(address: str) -> None:
    """By ticket and by age; the state needs them not, also folded again, nor does retention."""
    clock = Clock()
    with open_store(address) as store:
        with thread_client(store, clock=clock) as thread:
            thread.create("shop", **SHOP)
            thread.create("other", **SHOP)
            made = []
            for number in range(20):
                clock.now += 10.0
                known = canonical({"age": 20 + number})
                made.append(thread.ask("shop", contexts=(known,), key=f"k{number}", digest="d"))
            play(thread, 4, 8, "other")
            for each in made[::2]:
                thread.tell(each.ticket, 0.5)
            thread.catch_up()
            states = thread.states()
        clock.now += 2 * FRESH
        middle = clock.now - made[9].at - 1.0
        assert forget(store, "shop", made[15].ticket, None, clock.now, contexts=True) == 1
        assert forget(store, "shop", None, middle, clock.now, contexts=True) == 10
        assert forget(store, "shop", None, middle, clock.now, contexts=True) == 0
        gone = {*range(10), 15}
        kept = [each for each in contexts_of(store) if each is not None]
        assert len(kept) == 20 - len(gone) + sum(each is not None for each in other(store))
        drop_snapshots(store)
        with thread_client(store, clock=clock) as thread:
            thread.catch_up()
            assert thread.states() == states
            for number in range(1, 20, 2):
                thread.tell(made[number].ticket, 1.0)
            thread.catch_up()
            states = thread.states()
        drop_snapshots(store)
        with thread_client(store, clock=clock) as thread:
            thread.catch_up()
            assert thread.states() == states
        for name in ("shop", "other"):
            check_clean(store, name)
        problem = store.problem("shop")
        assert problem is not None
        rows = rows_of(store, problem)
        assert [row.context is None for row in rows] == [number in gone for number in range(20)]
        assert all(row.probabilities and row.outcome == "told" for row in rows)
        record = store.ticket(made[0].ticket)
        assert record is not None
        assert record.decision == made[0]._replace(key=None, digest=None, context=None)
        assert retain(store, 0.0, clock.now + 100.0, None).tickets >= 20
        drop_snapshots(store)
        with thread_client(store, clock=clock) as thread:
            thread.catch_up()
            assert thread.ask("shop", contexts=(canonical({"age": 30}),)).round == 21
        for name in ("shop", "other"):
            check_clean(store, name)


def other(store: Store) -> list[str | None]:
    """The contexts of the other problem."""
    found = text("select context from journal where kind = 'decided' and problem = 'other'")
    return list(store._transactions.read(lambda connection: connection.execute(found).scalars()))


def test_a_context_that_workers_may_still_need_stays(database: str) -> None:
    """Of the last minute, where there may be several workers."""
    clock = Clock()
    with open_store(database) as store:
        with thread_client(store, clock=clock) as thread:
            thread.create("shop", **SHOP)
            ticket = thread.ask("shop", contexts=(canonical({"age": 20}),)).ticket
        with pytest.raises(StateConflictError, match="less than 60 seconds old"):
            forget(store, "shop", ticket, None, clock.now, contexts=True)
        assert forget(store, "shop", None, 0.0, clock.now, contexts=True) == 0
        assert forget(store, "shop", None, 0.0, clock.now + FRESH, contexts=True) == 1


def test_old_rows_keep_their_checksums() -> None:
    """A decision without a context has the checksum that it had before there were any."""
    plain = Decision("t", "ads", 1, "red", 0.25, None, "v1", 10.0)
    assert checksum_of(plain) == checksum_of(plain._replace(context=None))
    assert checksum_of(plain) != checksum_of(plain._replace(context="{}"))
    assert checksum_of(plain._replace(cohort="{}")) != checksum_of(plain._replace(context="{}"))
