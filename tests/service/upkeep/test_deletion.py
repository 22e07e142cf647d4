"""A deleted problem is gone for everybody, and its name can be used again."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Connection

from belated.service.admin.delete import delete, delete_offline, delete_served
from belated.service.admin.verify import verified_at_rest
from belated.service.core.errors import NotFoundError, StateConflictError
from belated.service.core.replicas import Replicas
from belated.service.core.requests import RunOnThread, SetStatus
from belated.service.store import Decision, ProblemGone, Store, open_store
from belated.service.upkeep.retention import sweep_deleted
from tests.service.core.thread_client import ThreadClient, busy, take_snapshots, thread_client
from tests.service.material import open_tickets, whole_kept

ARMS = ["red", "green"]


def clean(store: Store) -> bool:
    """Whether verification finds nothing wrong."""
    return all(each.is_clean for each in verified_at_rest(store))


def prepared(thread: ThreadClient) -> list[Decision]:
    """Two problems with decisions, half of which were told; the first one is archived."""
    made = []
    for name in ("ads", "other"):
        thread.create(name, arms=ARMS)
        made += [thread.ask(name, key=f"k{number}", digest="d") for number in range(6)]
        for decision in made[-6:-3]:
            thread.tell(decision.ticket, 0.5)
    thread.do(SetStatus("ads", "archived"))
    return made


def removed(thread: ThreadClient, name: str) -> None:
    """Delete a problem that is served."""
    thread.do(RunOnThread(lambda store, replicas: delete_served(store, replicas, name, 5.0)))


def test_only_an_archived_problem_is_deleted(store: Store) -> None:
    """And one that is not there is not found."""
    with pytest.raises(StateConflictError, match="'ads' is active; archive it first"):
        delete(store, "ads", 1.0)
    with pytest.raises(NotFoundError, match="there is no problem 'unheard'"):
        delete(store, "unheard", 1.0)


def test_nothing_is_left_and_the_name_is_free(address: str) -> None:
    """Another problem of this name begins anew; all others are as they were."""
    with open_store(address) as store:
        with thread_client(store) as thread:
            made = prepared(thread)
            removed(thread, "ads")
            with pytest.raises(NotFoundError, match="there is no problem 'ads'"):
                thread.ask("ads")
            with pytest.raises(NotFoundError, match="there is no ticket"):
                thread.tell(made[4].ticket, 0.5)
            with pytest.raises(StateConflictError, match="is being deleted; its name is free soon"):
                thread.create("ads", arms=ARMS)
            assert clean(store)
            assert sum(sweep_deleted(store)) == 6 + 3 + 2
            assert {each.problem for each in open_tickets(store)} == {"other"}
            assert store.counts("ads").by_arm == {}
            kinds = [e.body.kind for e in whole_kept(store) if e.problem == "ads"]  # type: ignore[union-attr]
            assert kinds == ["deleted"]
            thread.create("ads", arms=["blue", "grey"])
            again = thread.ask("ads", key="k0", digest="d")
            assert (again.round, again.arm in ("blue", "grey")) == (1, True)
            assert thread.tell(again.ticket, 0.25).counted
            assert thread.ask("other").round == 7
        assert clean(store)
        for name in ("ads", "other"):
            store.snapshots.prune(name, 0)
        assert clean(store)
        problem = store.problem("ads")
        assert problem is not None
        assert problem.generation == 2
    with open_store(address) as store, thread_client(store) as thread:
        assert thread.ask("ads").round == 2


def test_an_interrupted_deletion_is_finished(address: str) -> None:
    """Killed between any two slices, the rest is deleted later; meanwhile nothing is wrong."""
    with open_store(address) as store:
        with thread_client(store) as thread:
            prepared(thread)
        delete(store, "ads", 1.0)
        gone, position = store.sweep_deleted("ads", "", 4)
        assert gone > 0
        assert position is not None
    with open_store(address) as store:
        assert Replicas.loaded(store).by_name.keys() == {"other"}
        assert clean(store)
        assert store.being_deleted() == ["ads"]
        assert sum(sweep_deleted(store)) > 0
        assert store.being_deleted() == []
        assert clean(store)
        with thread_client(store) as thread:
            thread.do(SetStatus("other", "archived"))
        assert delete_offline(store, "other", 2.0) > 0
        assert store.problems() == []
        assert clean(store)


def test_a_stopped_worker_cannot_write_about_it(database: str) -> None:
    """It still has the old replica when the name belongs to another problem."""
    with open_store(database) as store, open_store(database) as other:
        with thread_client(store) as one, thread_client(other, 2) as two:
            made = prepared(one)
            two.catch_up()
            go_on = busy(two)
            late = two.sent(RunOnThread(lambda store, replicas: replicas.by_name["ads"].round))
            removed(one, "ads")
            for _ in sweep_deleted(store):
                pass
            one.create("ads", arms=["blue", "grey"])
            one.ask("ads")
            go_on.set()
            late.result(600)
            with pytest.raises(NotFoundError):
                two.tell(made[4].ticket, 0.5)
            assert two.ask("ads").arm in ("blue", "grey")
            for thread in (one, two):
                thread.catch_up()
            assert one.states() == two.states()
        assert clean(store)


def test_the_fence_is_in_the_transaction(address: str) -> None:
    """Records of a generation that is no more are refused as a whole, outcomes too."""
    with open_store(address) as store:
        with thread_client(store) as thread:
            made = prepared(thread)
        old = made[0]._replace(ticket="new", key=None)
        assert store.append([old], [], generations={"ads": 1}).decisions[0].new
        delete(store, "ads", 1.0)
        rows = len(whole_kept(store))
        with pytest.raises(ProblemGone, match="there is no problem 'ads'"):
            store.append([old._replace(ticket="newer")], [], generations={"ads": 1})
        for _ in sweep_deleted(store):
            pass
        with thread_client(store) as thread:
            thread.create("ads", arms=ARMS)
            for generations in ({"ads": 1}, {"ads": 1, "other": 1}):
                with pytest.raises(ProblemGone):
                    store.append([], [], [], generations=generations)
            store.append([], [], [], generations={"ads": 2, "other": 1})
        assert len(whole_kept(store)) < rows


def test_a_snapshot_of_the_old_one_is_not_taken_for_the_new(database: str) -> None:
    """A worker that lagged has saved it after the deletion."""
    with open_store(database) as store:
        with thread_client(store) as thread:
            prepared(thread)
        stale = Replicas.loaded(store)
        delete_offline(store, "ads", 1.0)
        with thread_client(store) as thread:
            thread.create("ads", arms=ARMS)
            thread.ask("ads")
        stale.changed["ads"] = None
        take_snapshots(store, stale, "7" + stale.position[1:])
        assert Replicas.loaded(store).by_name["ads"].round == 1


def test_a_deletion_waits_for_what_is_being_written(database: str) -> None:
    """A transaction that has found a problem to be there ends before the problem does."""
    with open_store(database) as store, open_store(database) as other:
        with thread_client(store) as thread:
            prepared(thread)
        checked, go_on = threading.Event(), threading.Event()

        def slow(connection: Connection) -> None:
            other._check_known(connection, {"ads": 1})
            checked.set()
            assert go_on.wait(600)

        with ThreadPoolExecutor(2) as pool:
            writing = pool.submit(other._transactions.write, slow)
            assert checked.wait(600)
            deleting = pool.submit(delete, store, "ads", 1.0)
            with pytest.raises(TimeoutError):
                deleting.result(0.3)
            go_on.set()
            writing.result(600)
            deleting.result(600)
        with pytest.raises(ProblemGone):
            other.append([], [], [], generations={"ads": 1})
