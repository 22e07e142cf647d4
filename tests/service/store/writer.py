"""A process that writes batches to a store and acknowledges each in a file once it is written.

python -m tests.service.store.writer ADDRESS DURABILITY ACKNOWLEDGED FIRST BATCHES
"""

import os
import sys
from pathlib import Path

from belated.service.store import Decision, Store, open_store
from tests.service.material import decision, open_tickets, told, whole_journal

SIZE = 4


def tickets_of(batch: int) -> list[str]:
    """The tickets that a batch decides; the next batch tells their outcomes."""
    return [f"b{batch:06d}-{number}" for number in range(SIZE)]


def write(store: Store, batch: int) -> None:
    """Write one batch, as often as it takes only if it was written before."""
    store.append(
        [decision(ticket, key=ticket, expires_at=1e9) for ticket in tickets_of(batch)],
        [told(ticket, batch / 7) for ticket in (tickets_of(batch - 1) if batch else [])],
    )


def acknowledged_in(path: Path) -> int:
    """How many batches were acknowledged, in their order."""
    return len(path.read_bytes()) // 8 if path.exists() else 0


def complaint(store: Store, acknowledged: int) -> str:
    """What is wrong with the store if the first so many batches were acknowledged; or nothing."""
    events = whole_journal(store)
    decided = [event.body.ticket for event in events if isinstance(event.body, Decision)]
    outcomes = [
        (event.body.ticket, event.body.arm)
        for event in events
        if not isinstance(event.body, Decision) and hasattr(event.body, "ticket")
    ]
    if len(set(decided)) < len(decided) or len(set(outcomes)) < len(outcomes):
        return "something is there twice"
    whole = len(decided) // SIZE
    if decided != [ticket for batch in range(whole) for ticket in tickets_of(batch)]:
        return "a batch is there in part, or out of order"
    if [ticket for ticket, _ in outcomes] != decided[: len(decided) - SIZE]:
        return "outcomes are lost"
    if whole < acknowledged:
        return f"{acknowledged} batches were acknowledged, and {whole} are there"
    waiting = {row.ticket for row in open_tickets(store)}
    if waiting != set(decided[len(decided) - SIZE :]):
        return "the open tickets are not those without an outcome"
    if store.counts("ads").of("decided") != len(decided):
        return "the tallies are not those of the journal"
    return ""


def main(address: str, durability: str, acknowledged: str, first: str, batches: str) -> None:
    """Write batches, then end without closing anything."""
    store = open_store(address, durability)  # type: ignore[arg-type]
    if store.problem("ads") is None:
        store.create_problem("ads", {}, at=0.0)
    file = os.open(acknowledged, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for batch in range(int(first), int(first) + int(batches)):
        write(store, batch)
        os.write(file, f"{batch:07d}\n".encode())
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
