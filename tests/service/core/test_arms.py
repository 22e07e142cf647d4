"""Arms that come and go in a problem that is in use."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from belated.service.admin.change_arms import change_arms
from belated.service.admin.verify import verified_at_rest
from belated.service.core.errors import (
    InvalidRequestError,
    RequestError,
    StateConflictError,
    UnavailableError,
)
from belated.service.core.replicas import Replicas
from belated.service.core.requests import Cancel, RunOnThread, SetStatus, Tell, TicketReport
from belated.service.store import Decision, Note, Store, open_store
from tests.cli.commands import complaint
from tests.cli.test_service_commands import done, read
from tests.service.core.named_learners import (
    NamedConcealed,
    NamedExp3,
    NamedLearner,
    NamedUcb1,
)
from tests.service.core.thread_client import (
    ThreadClient,
    catch_up,
    fingerprints_in,
    take_snapshots,
    thread_client,
)
from tests.service.material import whole_journal

ARMS = ["red", "green", "blue"]
LOSSES = {"red": 0.6, "green": 0.4, "blue": 0.7, "grey": 0.2}
CHANGES = {  # after so many rounds: what is added and removed
    0: (["white"], ["blue"]),
    8: (["grey"], []),
    15: (["blue"], ["red", "white"]),
    24: (["red"], ["green"]),
}
FIRST = [("red", 0), ("green", 0), ("blue", 0)]
TWINS: dict[str, tuple[dict[str, Any], Callable[[], NamedLearner]]] = {
    "delayed-ucb1": ({}, lambda: NamedUcb1(list(FIRST))),
    "exp3": ({}, lambda: NamedExp3(list(FIRST))),
    "concealed": (
        {"max_missing": 20, "variant": "repaired", "gamma_bound": "max_missing"},
        lambda: NamedConcealed(list(FIRST)),
    ),
}
ABLE = {
    "uniform": {}, "leading-arm": {}, "d-ucb": {"delay_law": [0.2, 0.7, 1.0]},
    "practical-bandit": {}, "practical-experts": {}, "leading-expert": {},
    **{name: options for name, (options, _) in TWINS.items()},
}  # fmt: skip


def caught_up(thread: ThreadClient, store: Store) -> ThreadClient:
    """A client of a thread that has folded all that it has written itself."""
    thread.catch_up()
    return thread


def weights_now(thread: ThreadClient, problem: str) -> dict[str, float]:
    """The weights of the coming round, by name."""

    def look(store: Store, replicas: Replicas) -> dict[str, float]:
        if not store.one_owner:
            catch_up(replicas)  # as it does itself twenty times a second
        replica = replicas.by_name[problem]
        return dict(zip(replica.problem.arms, replica.weights().tolist(), strict=True))

    return dict(thread.do(RunOnThread(look)))


class Game:
    """Asks and tells out of order, and changes the arms on the way, between two outcomes.

    A twin must agree in every round.
    """

    def __init__(
        self, thread: ThreadClient, problem: str, twin: NamedLearner | None = None
    ) -> None:
        self.thread, self.problem, self.twin = thread, problem, twin
        self.changes = dict(CHANGES)
        self.weights: list[dict[str, float]] = []

    def play(self, rounds: int) -> "Game":
        """So many rounds."""
        chance, waiting = random.Random(11), list[Decision]()
        self.change_after(0)
        for number in range(1, rounds + 1):
            self.weights.append(weights_now(self.thread, self.problem))
            if self.twin is not None:
                self.compare(self.twin)
            waiting.append(self.thread.ask(self.problem))
            if self.twin is not None:
                ticket, *_, arm, probability = waiting[-1][:5]
                self.twin.decided(ticket, str(arm), float(probability or 0.0))
            for decision in [each for each in waiting if chance.random() < 0.25]:
                waiting.remove(decision)
                self.end(decision, cancelled=chance.random() < 0.1)
                self.change_after(number)
            self.change_after(number)
        return self

    def compare(self, twin: NamedLearner) -> None:
        """The same arms in the same order, with the same weights."""
        known = {name: share for (name, _), share in twin.weights().items()}
        assert list(self.weights[-1]) == list(known)
        found = list(self.weights[-1].values())
        np.testing.assert_allclose(found, list(known.values()), rtol=0, atol=1e-9)

    def end(self, decision: Decision, cancelled: bool) -> None:
        """Tell what came, or cancel: both count, whatever became of the arm."""
        arms = [decision.arm] if decision.arm else list(decision.weights or ())
        if cancelled:
            assert self.thread.do(Cancel(decision.ticket)).counted
        else:
            reports = [TicketReport(decision.ticket, LOSSES.get(arm, 0.5), arm=arm) for arm in arms]
            assert all(each.counted for each in self.thread.do(Tell(reports)))
        if self.twin is not None:
            loss = None if cancelled else LOSSES.get(str(decision.arm), 0.5)
            self.twin.ended(decision.ticket, loss)

    def change_after(self, rounds: int) -> None:
        """Change the arms if it is time."""
        if rounds in self.changes:
            wanted = self.changes.pop(rounds)
            self.thread.change_arms(self.problem, *wanted)
            if self.twin is not None:
                self.twin.changed(*wanted)


@pytest.mark.parametrize("learner", TWINS)
def test_a_literal_twin_over_names_agrees(learner: str) -> None:
    """Every weight of every round, while arms come, go and come back."""
    options, twin = TWINS[learner]
    with open_store("memory:") as store, thread_client(store) as thread:
        thread.create("game", arms=ARMS, learner=learner, options=options)
        Game(thread, "game", twin()).play(45)
        assert verified_at_rest(store)[0].is_clean


@pytest.mark.parametrize("learner", ABLE)
def test_the_live_state_is_the_fold(learner: str) -> None:
    """Bit for bit, from the beginning and from a snapshot at any cut, for all that can change."""
    with open_store("memory:") as store:
        with thread_client(store) as thread:
            thread.create("game", arms=ARMS, learner=learner, options=ABLE[learner])
            Game(thread, "game").play(30)
            live = thread.states()
        (found,) = verified_at_rest(store)
        assert (found.complaints, found.gap) == ([], 0.0)
        events = whole_journal(store)
        chance = random.Random(1)
        for cut in [chance.randrange(len(events)) for _ in range(4)]:
            store.snapshots.prune("game", 0)
            first = Replicas(store)
            for event in events[: cut + 1]:
                first.take(event)
            take_snapshots(store, first, events[cut].position)
            assert fingerprints_in(Replicas.loaded(store)) == live


@pytest.mark.parametrize(
    ("learner", "ending"),
    [("practical-bandit", ".csv"), ("practical-experts", ".parquet"), ("exp3", ".csv")],
)
def test_a_replay_of_the_export_follows(tmp_path: Path, learner: str, ending: str) -> None:
    """q of every round, of all arms there ever were, to 1e-10."""
    db, log = tmp_path / "belated.db", tmp_path / f"log{ending}"
    with open_store(db) as store, thread_client(store) as thread:
        thread.create("game", arms=ARMS, learner=learner)
        weights = Game(thread, "game").play(36).weights
    done("export", "game", log, "--db", db)
    replayed = read("replay", log, "--learner", learner, "--arms", ",".join(ARMS))
    assert replayed["arms"] == [*ARMS, "white", "grey"]
    expected = [[q.get(arm, 0.0) for arm in replayed["arms"]] for q in weights]
    np.testing.assert_allclose(replayed["q"], expected, rtol=0, atol=1e-10)
    other = {"practical-experts": "adahedge"}.get(learner, "tsallis-inf")
    assert "cannot change its arms" in complaint("replay", log, "--learner", other)


def test_every_store_keeps_the_changes(store: Store) -> None:
    """Also where other workers write: a second reader of the journal holds the same state."""
    with thread_client(store) as thread:
        thread.create("game", arms=ARMS, learner="exp3")
        thread.create("experts", arms=ARMS, learner="practical-experts")
        for name in ("game", "experts"):
            Game(thread, name).play(26)
        live = caught_up(thread, store).states()
    again = Replicas(store)
    catch_up(again)
    assert fingerprints_in(again) == live == fingerprints_in(Replicas.loaded(store))
    found = {each.problem: each.complaints for each in verified_at_rest(store)}
    assert (found["game"], found["experts"]) == ([], [])


def test_plays_of_a_removed_arm_end_once_and_move_nothing() -> None:
    """They are told, told again, told otherwise, cancelled and expire; no weight knows of it."""
    now = [100.0]
    with open_store("memory:") as store, thread_client(store, clock=lambda: now[0]) as thread:
        thread.create("ads", arms=["red"], learner="exp3", expire_seconds=50, default_loss=1.0)
        first, second, third = (thread.ask("ads").ticket for _ in range(3))
        assert thread.change_arms("ads", add=["green", "blue"]) == ("red", "green", "blue")
        assert thread.change_arms("ads", remove=["red"]) == ("green", "blue")
        before = weights_now(thread, "ads")
        assert list(before) == ["green", "blue"]
        assert thread.tell(first, 0.9).counted
        assert not thread.tell(first, 0.9).counted
        with pytest.raises(StateConflictError, match="for 'red' and now"):
            thread.tell(first, 0.1)
        assert thread.do(Cancel(second)).state == "cancelled"
        thread.change_arms("ads", add=["red"])  # another one of the same name
        thread.change_arms("ads", remove=["red"])
        now[0] += 60.0
        assert thread.ask("ads").arm in ("green", "blue")
        with pytest.raises(RequestError, match="has expired"):
            thread.tell(third, 0.5)
        assert weights_now(thread, "ads") == before
        counts = store.counts("ads").by_arm["red"]
        assert counts == {"decided": 3, "told": 1, "cancelled": 1, "expired": 1}
        assert verified_at_rest(store)[0].is_clean


def test_experts_are_told_of_whom_their_ticket_weighed() -> None:
    """Of one who left, yes; of one who came later, no; and the ticket closes with the last."""
    with open_store("memory:") as store, thread_client(store) as thread:
        thread.create("weather", arms=ARMS, learner="practical-experts")
        ticket = thread.ask("weather").ticket
        thread.tell(ticket, 0.5, arm="green")
        thread.change_arms("weather", add=["grey"], remove=["red", "green"])
        before = weights_now(thread, "weather")
        with pytest.raises(InvalidRequestError, match="has no such arm"):
            thread.tell(ticket, 0.5, arm="grey")
        with pytest.raises(InvalidRequestError, match="has no such arm"):
            thread.tell(ticket, 0.5, arm="never")
        assert not thread.tell(ticket, 0.5, arm="green").counted
        assert thread.tell(ticket, 0.1, arm="red").state == "pending"
        assert weights_now(thread, "weather") == before
        thread.change_arms("weather", add=["red"])
        assert not thread.tell(ticket, 0.1, arm="red").counted
        assert thread.tell(ticket, 0.1, arm="blue").state == "told"
        assert verified_at_rest(store)[0].is_clean


def test_a_worker_that_does_not_know_yet_harms_nothing(store: Store) -> None:
    """A decision for an arm that is removed already is played, ends, and teaches nothing."""
    with thread_client(store) as thread:
        thread.create("game", arms=ARMS, learner="exp3")
        thread.create("experts", arms=ARMS, learner="practical-experts")
        for name in ("game", "experts"):
            thread.change_arms(name, ["grey"], ["red"])
    late = Decision("a" * 26, "game", 1, "red", 0.5, None, "", 2.0)
    third = 1 / 3
    wide = Decision("b" * 26, "experts", 1, None, None, dict.fromkeys(ARMS, third), "", 2.0)
    store.append([late, wide], [])
    with thread_client(store) as thread:
        before = weights_now(thread, "game")
        assert thread.tell("a" * 26, 1.0).state == "told"
        assert (
            weights_now(thread, "game") == before == dict.fromkeys(["green", "blue", "grey"], third)
        )
        told = thread.do(Tell([TicketReport("b" * 26, 0.5, arm=arm) for arm in (*ARMS, "grey")]))
        assert [getattr(each, "state", None) for each in told[:3]] == ["told"] * 3
        assert isinstance(told[3], InvalidRequestError)
        live = caught_up(thread, store).states()
    again = Replicas(store)
    catch_up(again)
    assert fingerprints_in(again) == live


@pytest.mark.parametrize(
    ("add", "remove", "refusal", "sentence"),
    [
        ([], [], InvalidRequestError, "neither add nor remove"),
        (["a", "a"], [], InvalidRequestError, "add names an arm twice"),
        (["a"], ["a"], InvalidRequestError, "both added and removed"),
        ([""], [], InvalidRequestError, "it must be text of 1 to 200"),
        ([], ["orange"], InvalidRequestError, "'ads' has no such arm"),
        (["a"], ARMS, StateConflictError, "at least one must stay"),
        ([f"arm {n}" for n in range(9_998)], [], StateConflictError, "would have had 10001 arms"),
    ],
)
def test_bad_changes_are_refused(
    add: list[str], remove: list[str], refusal: type[RequestError], sentence: str
) -> None:
    """In one sentence, and nothing changes."""
    with open_store("memory:") as store, thread_client(store) as thread:
        thread.create("ads", arms=ARMS)
        before = thread.states()
        with pytest.raises(refusal, match=sentence):
            thread.change_arms("ads", add, remove)
        assert thread.states() == before
        assert thread.change_arms("ads", add=["red"]) == tuple(ARMS)  # it is there already
        assert thread.states() == before
        assert len(whole_journal(store)) == 1


def test_who_cannot_change_says_what_to_do() -> None:
    """A learner that is made for its arms, and a problem that is over."""
    with open_store("memory:") as store, thread_client(store) as thread:
        thread.create("fixed", arms=ARMS, learner="tsallis-inf")
        with pytest.raises(
            StateConflictError, match="archive 'fixed' and create another problem with the"
        ):
            thread.change_arms("fixed", add=["grey"])
        thread.create("over", arms=ARMS)
        thread.do(SetStatus("over", "archived"))
        with pytest.raises(StateConflictError, match="for good"):
            thread.change_arms("over", add=["grey"])


def test_changes_come_one_after_the_other(address: str) -> None:
    """Who does not know of another change writes nothing, and is told to look."""
    with open_store(address) as store:
        with thread_client(store) as thread:
            thread.create("ads", arms=ARMS)
            thread.change_arms("ads", remove=["red"])
            blind = thread.do(
                RunOnThread(lambda store, replicas: replicas.by_name["ads"].arm_history)
            )
        assert not store.record_in_turn(Note("ads", "arms", {"add": [], "remove": []}, 1.0), 0)
        assert blind.changes == 1
        replicas = Replicas.loaded(store)
        assert store.record_in_turn(Note("ads", "arms", {"add": ["a"], "remove": []}, 1.0), 1)
        if store.one_owner:
            with pytest.raises(UnavailableError, match="by somebody else"):
                change_arms(store, replicas, "ads", ["b"], [], 2.0)
        else:
            assert change_arms(store, replicas, "ads", ["b"], [], 2.0) == (
                "green",
                "blue",
                "a",
                "b",
            )
