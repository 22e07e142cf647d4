"""A learner that threads share, and one that a forked process inherits."""

import copy
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import belated

THREADS, EACH = 4, 1500
CLASSES = {
    "bandit": lambda: belated.Bandit(3, learner="practical-bandit", seed=1, remember=10**6),
    "paper": lambda: belated.ConcealedBandit(3, seed=1, remember=10**6),
    "experts": lambda: belated.Experts(3, learner="practical-experts", seed=1),
}  # fmt: skip
PAGE = (Path(__file__).parents[2] / "docs" / "asktell.md").read_text()


@pytest.fixture
def hurried() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.filterwarnings("ignore::belated.BelatedWarning")
@pytest.mark.parametrize("name", CLASSES)
def test_threads_may_share_a_learner(name: str, hurried: None) -> None:
    """Each ask is a round of its own, and each report counts once."""
    learner: Any = CLASSES[name]()
    told: Any = [0.5] * 3 if name == "experts" else 0.5
    tickets: list[list[str]] = [[] for _ in range(THREADS)]
    counted, errors = [0] * THREADS, []

    def play(thread: int) -> None:
        try:
            for _ in range(EACH):
                ticket = learner.ask()
                tickets[thread].append(ticket.id)
                counted[thread] += learner.tell(ticket, told).counted
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=play, args=(thread,)) for thread in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    assert not errors
    assert len({each for some in tickets for each in some}) == THREADS * EACH == learner.round
    assert sum(counted) == THREADS * EACH
    assert learner.pending() == []


FORK = """
import os, sys, threading, belated
learner = belated.{make}
first = learner.ask()
learner._lock.acquire()  # a thread that the child will not have is in the middle of a call
child = os.fork()
if child == 0:
    for act in (learner.ask, lambda: learner.tell(first, {loss}), lambda: learner.cancel(first)):
        try:
            act()
            os._exit(1)
        except belated.BelatedError as error:
            said = str(error)
    assert "made before the process was forked" in said and "belated.from_json" in said
    assert len(learner.weights()) == 2 and learner.pending() == [first]
    own = belated.Bandit(2, learner="uniform")
    own.tell(own.ask(), 0.5)
    copied = belated.from_json(learner.to_json())
    copied.tell(copied.ask(), {loss})
    os._exit(7)
learner._lock.release()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert learner.tell(first, {loss}).counted
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
@pytest.mark.parametrize(
    ("make", "loss"),
    [
        ("Bandit(2, learner='practical-bandit', seed=1)", "0.5"),
        ("from_json(belated.ConcealedBandit(2, max_missing=5).to_json())", "0.5"),
        ("DelayedExperts(2)", "[0.5, 0.5]"),
    ],
)
def test_a_forked_process_refuses_what_it_has_inherited(make: str, loss: str) -> None:
    """It says why, and may still look; the parent goes on, and new learners work."""
    code = FORK.format(make=make, loss=loss)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr


def test_a_copy_has_a_lock_of_its_own() -> None:
    """A learner is copied as before, and both go on."""
    learner = CLASSES["bandit"]()
    other = copy.deepcopy(learner)
    with learner._lock:
        assert other.ask().round == 1


def blocks() -> tuple[str, str]:
    """The FastAPI and the Flask example of the page."""
    found = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    (fast,) = [block for block in found if "from fastapi" in block]
    (flask,) = [block for block in found if "from flask" in block]
    return fast, flask


def test_the_fastapi_example_works() -> None:
    """Asked and told over HTTP."""
    testing = pytest.importorskip("fastapi.testclient")
    names: dict[str, Any] = {"belated": belated, "__name__": "shop"}
    exec(blocks()[0], names)
    with testing.TestClient(names["app"]) as client:
        asked = client.post("/ask").json()
        assert asked["arm"] in ("red", "green")
        assert client.post(f"/tell/{asked['ticket']}?reward=1").json() is True
        assert client.post(f"/tell/{asked['ticket']}?reward=1").json() is False


def test_the_flask_example_works() -> None:
    """Asked and told over HTTP."""
    pytest.importorskip("flask")
    names: dict[str, Any] = {"belated": belated, "__name__": "shop"}
    exec(blocks()[1], names)
    client = names["shop"].test_client()
    asked = client.post("/ask").get_json()
    assert asked["arm"] in ("9", "12")
    assert client.post(f"/tell/{asked['ticket']}?reward=9").get_json() == {"counted": True}
