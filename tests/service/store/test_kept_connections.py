"""The connections that PostgreSQL's store keeps: a lost one is replaced, and nothing is lost."""

import psycopg
import pytest

from belated.service.store import START, BehindCheckpoint, Note, ProblemGone, Retention, open_store
from belated.service.store.postgres import PostgresStore
from tests.service.material import decision, told, whole_journal

END_ALL = """
select pg_terminate_backend(pid, 60000) from pg_stat_activity
where pid <> pg_backend_pid() and datname = current_database()"""


@pytest.fixture
def opened(database: str) -> PostgresStore:
    """A store with a problem, whose next append may take the short way."""
    store = open_store(database)
    assert isinstance(store, PostgresStore)
    store.create_problem("ads", {"arms": ["red", "green"]}, at=0.5)
    store.append([decision("t0")], [])
    return store


def test_a_lost_connection_is_replaced(opened: PostgresStore, postgres: str) -> None:
    """The server has ended them all: the next append and the next look are as if nothing was."""
    with opened:
        opened.append([decision("t1")], [])
        opened.news(START, 10)
        with psycopg.connect(postgres, autocommit=True) as other:
            other.execute(END_ALL)
        assert all(each.new for each in opened.append([decision("t2")], []).decisions)
        events, _ = opened.news(START, 10)
        assert [getattr(each.body, "ticket", None) for each in events] == [None, "t0", "t1", "t2"]


def test_what_is_not_all_new_is_written_as_far_as_it_is(opened: PostgresStore) -> None:
    """A batch with a report that was told before: the rest counts, the earlier report stands."""
    with opened:
        opened.append([], [told("t0", 0.25)])
        appended = opened.append([decision("t1")], [told("t0", 0.75)])
        assert [each.new for each in appended.decisions] == [True]
        (result,) = appended.outcomes
        assert result.outcome is not None
        assert (result.counted, result.outcome.loss) == (False, 0.25)
        appended = opened.append([decision("t2"), decision("t3")], [told("t1", 1.0)])
        assert all(each.new for each in appended.decisions)
        assert all(each.counted for each in appended.outcomes)
        assert len(whole_journal(opened)) == 1 + 4 + 2


def test_news_are_what_is_settled_and_all_notes(opened: PostgresStore, database: str) -> None:
    """A transaction under way holds back what is settled; notes are known at once."""
    with opened, psycopg.connect(database) as other:
        other.execute("select pg_current_xact_id()")
        opened.append([decision("t1")], [])
        opened.record("ads", "paused", {}, 2.0)
        events, notes = opened.news(START, 10)
        assert [getattr(each.body, "ticket", None) for each in events] == [None, "t0"]
        assert [note.kind for note in notes] == ["paused"]
        other.rollback()
        assert len(opened.news(START, 10)[0]) == 4
        assert len(opened.news(START, 2)[0]) == 2


def test_the_short_way_is_behind_the_fence(opened: PostgresStore, database: str) -> None:
    """A problem that somebody else has deleted gets neither decisions nor outcomes any more."""
    with opened, open_store(database) as other:
        opened.append([decision("t1")], [], generations={"ads": 1})
        assert other.delete_problem("ads", 1, 3.0)
        for decisions, outcomes in (([decision("t2")], []), ([], [told("t1")])):
            with pytest.raises(ProblemGone):
                opened.append(decisions, outcomes, generations={"ads": 1})
        assert opened.ticket("t2") is None


def test_news_from_before_the_checkpoints_are_refused(opened: PostgresStore) -> None:
    """Rows between may be deleted already; whoever stands behind them can go on."""
    with opened:
        first = opened.tail(limit=1)[1]
        reached = opened.end()
        opened.retain([], Retention(reached, 2.0, 2.0), START, [], {"ads": 1})
        opened.append([decision("t1")], [])
        with pytest.raises(BehindCheckpoint):
            opened.news(first, 10)
        assert len(opened.news(reached, 10)[0]) == 1


def test_notes_of_an_append_are_written_on_any_way(opened: PostgresStore) -> None:
    """Also if all its outcomes are new."""
    with opened:
        noted = Note("ads", "late", {}, 2.0)
        opened.append([], [told("t0")], more_notes=lambda results: [noted])
        assert opened.notes("ads")[-1] == noted
