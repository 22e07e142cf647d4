"""Rows of contexts, features of arms, cohorts and named outcomes as only a person with SQL writes.

Each concerns one problem: it gets 503 with the reason wherever one looks, and all others go on.
"""

import functools
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from belated.service.admin.export import rows_of
from belated.service.admin.uplift import uplift_of
from belated.service.admin.verify import verified_at_rest
from belated.service.contexts import canonical
from belated.service.core.errors import RequestError, UnavailableError
from belated.service.store import Store, open_store
from belated.service.web.views import ticket_view
from tests.service.core.test_isolation import caught_up, run
from tests.service.core.thread_client import ThreadClient, thread_client

ARMS = ["red", "green"]
SEEN: dict[str, Any] = {
    "learner": "linear",
    "features": {"age": "number", "device": ["phone", "desktop"]},
    "default_loss": 1.0,
    "holdout": {"share": 0.5, "arm": "red"},
}
PRICED: dict[str, Any] = {"learner": "linear-shared", "default_loss": 1.0}
ORDERS: dict[str, Any] = {
    "soft_range": [0.0, 100.0],
    "outcomes": {"names": ["sale"], "rule": "sum", "revise_within": 3600.0},
}
CONTEXT, ACTIONS = canonical({"age": 31}), canonical({"red": {"price": 1}, "green": {"price": 2}})
DECIDED = "update journal set {} where problem = '{{}}' and kind = 'decided'"
NAMED = "update journal set {} where problem = '{{}}' and kind = 'named'"


class Damage(NamedTuple):
    """A problem, a statement that damages its rows, and what is said of it then."""

    spec: dict[str, Any]
    statement: str
    reason: str


DAMAGES = (
    Damage(SEEN, DECIDED.format("context = '(('"), "cannot be folded"),
    Damage(SEEN, DECIDED.format("context = '5'"), "context is 5"),
    Damage(SEEN, DECIDED.format("""context = '{{"age":1e999}}'"""), "a finite number"),
    Damage(SEEN, DECIDED.format("""context = '{{"shoe":1}}'"""), "which features does not declare"),
    Damage(SEEN, DECIDED.format(f"context = '{'[' * 100_000}'"), "cannot be folded"),
    Damage(SEEN, DECIDED.format("weights = '[]'"), "is no JSON object"),
    Damage(SEEN, DECIDED.format("""weights = '{{"red":NaN}}'"""), "its weights are not finite"),
    Damage(PRICED, DECIDED.format("actions = '(('"), "cannot be folded"),
    Damage(PRICED, DECIDED.format("""actions = '{{"red":5}}'"""), "cannot be folded"),
    Damage(ORDERS, NAMED.format("revision = null"), "a named outcome has"),
    Damage(ORDERS, NAMED.format("raw = null"), "a named outcome has"),
)


def refused(work: Callable[[], Any]) -> RequestError | None:
    """The refusal that some work ends with; None if it is done."""
    try:
        work()
    except RequestError as error:
        return error
    return None


def play(thread: ThreadClient, name: str, spec: dict[str, Any]) -> str:
    """Decide thrice, and report once; the ticket of the report."""
    known: dict[str, Any] = {"contexts": [CONTEXT]} if spec is SEEN else {}
    if spec is PRICED:
        known = {"actions": ACTIONS, "among": frozenset(ARMS)}
    tickets = [thread.ask(name, **known).ticket for _ in range(3)]
    if spec is ORDERS:
        thread.tell(tickets[0], reward=40.0, outcome="sale")
    else:
        thread.tell(tickets[0], 0.5)
    return tickets[0]


def shown(store: Store, name: str, ticket: str) -> list[RequestError | None]:
    """What comes of looking at a ticket, the log and the uplift of a problem."""
    problem = store.problem(name)
    assert problem is not None

    def everything(_: str) -> bool:
        return True

    looks: list[Callable[[], Any]] = [
        functools.partial(ticket_view, store, ticket, everything, everything),
        functools.partial(rows_of, store, problem),
        functools.partial(uplift_of, store, problem, time.time(), 1e-9, "age"),
    ]
    return [refused(look) for look in looks]


def test_one_row_harms_one_problem(address: str) -> None:
    """At a start, when the journal is folded; nothing ends with anything but a refusal."""
    tickets: dict[str, str] = {}
    with open_store(address, "off") as store:
        with thread_client(store) as thread:
            for number, damage in enumerate(DAMAGES):
                thread.create(f"bad-{number}", arms=ARMS, **damage.spec)
                tickets[f"bad-{number}"] = play(thread, f"bad-{number}", damage.spec)
            for number, spec in enumerate((SEEN, PRICED, ORDERS)):
                thread.create(f"fine-{number}", arms=ARMS, **spec)
                tickets[f"fine-{number}"] = play(thread, f"fine-{number}", spec)
        for name in tickets:
            store.snapshots.prune(name, 0)
        for number, damage in enumerate(DAMAGES):
            run(store, damage.statement.format(f"bad-{number}").replace(":", r"\:"))
        with thread_client(store) as thread:
            broken = caught_up(thread)
            assert set(broken) == {name for name in tickets if name.startswith("bad")}
            for number, damage in enumerate(DAMAGES):
                assert damage.reason in broken[f"bad-{number}"], (number, broken)
                for work in (thread.ask, lambda name: thread.tell(tickets[name], 0.5)):
                    assert isinstance(
                        refused(functools.partial(work, f"bad-{number}")), UnavailableError
                    )
            for name in tickets:
                for error in shown(store, name, tickets[name]):
                    assert error is None or name.startswith("bad") or "no holdout" in str(error)
            for number, spec in enumerate((SEEN, PRICED, ORDERS)):
                play(thread, f"fine-{number}", spec)
        found = {each.problem: each for each in verified_at_rest(store)}
        assert {name for name, each in found.items() if not each.is_clean} == set(broken)
