"""The service tells contextual learners the time of day, by which the ages of plays are counted."""

from typing import Any

import pytest

from belated.learners.driver import Driver
from belated.learners.states import identical
from belated.service.core.problems import checked_spec, served
from belated.service.core.replica import Replica
from belated.service.core.snapshots import (
    arrays_of,
    fingerprint,
    packed,
    restored,
    unpacked,
)
from belated.service.store import Decision, Outcome, ProblemRecord

ARMS = ["red", "green"]
LATER_PARTS = ("model.clock", "model.plays.at", "model.plays.due")


def replica_of(**changes: Any) -> Replica:
    """A problem of the learner `linear` that nobody has used."""
    spec = checked_spec({"arms": ARMS, "learner": "linear", "options": {"features": 0}})
    return Replica(served(ProblemRecord("shop", {**spec, **changes}, 1.0, None, 1)))


def journal() -> list[Decision | Outcome]:
    """Forty decisions ten seconds apart, of which half are told five minutes later."""
    events: list[tuple[float, Decision | Outcome]] = []
    for round_ in range(1, 41):
        at, arm, ticket = 1e9 + 10.0 * round_, ARMS[round_ % 2], f"{round_:026d}"
        made = Decision(ticket, "shop", round_, arm, 0.5, None, "", at)
        events.append((at, made))
        if round_ % 3:
            kind: Any = "told" if round_ % 4 else "cancelled"
            loss = float(round_ % 2) if kind == "told" else None
            events.append((at + 300.0, Outcome(ticket, arm, kind, loss, at + 300.0)))
    return [body for _, body in sorted(events, key=lambda each: each[0])]


def test_ages_are_those_of_the_journal() -> None:
    """The state is that of a driver that is told the same times."""
    replica = replica_of()
    driver, rows = Driver(replica.learner, room=32), {}
    for body in journal():
        replica.fold(body)
        driver.tick(body.at)
        if isinstance(body, Decision):
            arm = ARMS.index(body.arm or "")
            rows[body.ticket] = driver.play(arm, probability=0.5)[0], arm
        elif body.kind == "told":
            driver.tell(*rows[body.ticket], body.loss or 0.0)
        else:
            driver.withdraw(*rows[body.ticket])
    assert replica.learner.keeps_time
    assert identical(replica.state, driver.state)
    assert replica.state.model.law.counts[:, 7].any()  # 128 to 255 seconds


def test_a_snapshot_and_the_rest_are_the_whole_journal() -> None:
    bodies, whole, first = journal(), replica_of(), replica_of()
    for body in bodies:
        whole.fold(body)
    for body in bodies[:45]:
        first.fold(body)
    second = unpacked(first.problem, packed(first))
    for body in bodies[45:]:
        second.fold(body)
    assert fingerprint(second) == fingerprint(whole)


def test_problems_of_before_count_rounds() -> None:
    replica = replica_of(options={"features": 0})
    assert not replica.learner.keeps_time
    replica.fold(journal()[0])
    assert replica.state.model.clock.tolist() == [2.0, 1.0]


@pytest.mark.parametrize("rounds", [0, 3, 30])
def test_a_checkpoint_without_times_is_read(rounds: int) -> None:
    """It is of a problem that counts rounds, and what it lacks is as if it had been there."""
    replica = replica_of(options={"features": 0})
    for body in journal()[:rounds]:
        replica.fold(body)
    arrays = arrays_of(replica)
    for part in LATER_PARTS:
        del arrays[f"state.{part}"]
    again = restored(replica.problem, arrays)
    assert fingerprint(again) == fingerprint(replica)
    again.fold(journal()[rounds])
