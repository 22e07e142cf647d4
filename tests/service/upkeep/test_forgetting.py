"""Keys of decisions can be blanked: the state needs them not, and checksums still hold."""

import pytest
from sqlalchemy import text

from belated.service.admin.forget import forget
from belated.service.admin.keys import make_key, revoke_key
from belated.service.admin.verify import verified_at_rest
from belated.service.core.errors import InvalidRequestError, NotFoundError
from belated.service.store import Store, open_store
from tests.service.core.thread_client import thread_client
from tests.service.upkeep.test_retention import Clock


def keys(store: Store) -> list[str | None]:
    """The keys in the journal, oldest first."""
    found = text("select key from journal where kind = 'decided' order by turn, seq")
    return list(store._transactions.read(lambda connection: connection.execute(found).scalars()))


def complaints(store: Store) -> list[str]:
    """All that verification finds wrong."""
    return [text for each in verified_at_rest(store) for text in each.complaints]


def test_keys_are_forgotten_by_ticket_and_by_age(address: str) -> None:
    """Nothing else changes: the state, the checksums, and the keys of all others."""
    clock = Clock()
    with open_store(address) as store:
        with thread_client(store, clock=clock) as thread:
            for name in ("ads", "other"):
                thread.create(name, arms=["red", "green"])
            made = []
            for number in range(4):
                clock.now += 10.0
                made.append(thread.ask("ads", key=f"anna-{number}", digest="d"))
                thread.ask("other", key=f"bert-{number}", digest="d")
            before = thread.states()
            assert forget(store, "ads", made[3].ticket, None, clock.now) == 1
            assert forget(store, "ads", made[3].ticket, None, clock.now) == 0
            assert forget(store, "ads", None, 15.0, clock.now) == 2
            assert [key for key in keys(store) if key and key.startswith("anna")] == ["anna-2\n0"]
            assert sum(key is not None for key in keys(store)) == 5
            assert thread.states() == before
            again = [thread.ask("ads", key=f"anna-{number}", digest="d") for number in (2, 3)]
            assert again[0].ticket == made[2].ticket
            assert again[1].ticket != made[3].ticket
            assert thread.tell(made[3].ticket, 0.5).counted
        assert complaints(store) == []
        assert all(each.sealed == each.events for each in verified_at_rest(store))
        record = store.ticket(made[0].ticket)
        assert record is not None
        assert record.decision == made[0]._replace(key=None)


def test_an_altered_row_is_not_made_right(address: str) -> None:
    """Its key is blanked all the same, and verification goes on to complain."""
    with open_store(address) as store:
        with thread_client(store) as thread:
            thread.create("ads", arms=["red", "green"])
            ticket = thread.ask("ads", key="anna", digest="d").ticket
        change = text("update journal set at = at + 1 where kind = 'decided'")
        store._transactions.write(lambda connection: connection.execute(change))
        assert forget(store, "ads", ticket, None, 0.0) == 1
        assert keys(store) == [None]
        assert "is not as it was written" in str(complaints(store))


def test_what_cannot_be_forgotten_is_said(store: Store) -> None:
    """An unknown problem or ticket, both, or neither."""
    with pytest.raises(NotFoundError, match="there is no problem 'unheard'"):
        forget(store, "unheard", None, 1.0, 2.0)
    with pytest.raises(NotFoundError, match="there is no ticket 'x' of 'ads'"):
        forget(store, "ads", "x", None, 2.0)
    for ticket, age in ((None, None), ("x", 1.0)):
        with pytest.raises(InvalidRequestError, match="either a ticket or an age"):
            forget(store, "ads", ticket, age, 2.0)


def test_the_label_of_a_key_is_forgotten(store: Store) -> None:
    """With the key that is revoked; without being asked to, it stays."""
    made = [make_key(store, "anna@example.org", ["ask:ads"], 1.0)["id"] for _ in range(2)]
    assert revoke_key(store, made[0], 2.0).label == "anna@example.org"
    assert revoke_key(store, made[1], 2.0, forget=True).label == ""
    assert revoke_key(store, made[0], 3.0, forget=True).label == ""
