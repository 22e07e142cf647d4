"""Every installed peer does what we compare ourselves to; those that are not are named."""

import sys
import types
from collections.abc import Callable

import numpy as np
import pytest

from benchmarks.measures.generic_solvers import LEARNER, argmin_of, solved_rounds
from benchmarks.peers import BANDITS, EXPERTS, PEERS, SOLVERS
from benchmarks.peers.peer import BanditPeer, Peer, Policy, SolverPeer
from benchmarks.peers.poold import DELAY
from benchmarks.peers.smpybandits import SMPyPolicy, policies
from benchmarks.workload import Players

INSTALLED = [peer for peer in PEERS if peer.install == "pip install 'belated[bench]'"]
POLICIES = [
    pytest.param(peer, name, id=name)
    for peer in BANDITS
    if peer.presence.usable
    for name in peer.policies()
]


@pytest.mark.parametrize("peer", INSTALLED, ids=lambda peer: peer.name)
def test_the_extra_installs_peers_that_work(peer: Peer) -> None:
    """What the extra `bench` promises is there and can be imported."""
    assert peer.presence.reason is None
    assert peer.presence.version


@pytest.mark.parametrize(("peer", "name"), POLICIES)
def test_a_bandit_peer_decides_and_learns(peer: BanditPeer, name: str) -> None:
    """Told that one of three arms pays, it comes to play it more often than chance would."""
    policy: Policy = peer.policies()[name](3)
    played = []
    for _ in range(600):
        arm = policy.decide()
        assert arm in range(3)
        policy.learn(arm, 1.0 if arm == 1 else 0.0)
        played.append(arm)
    assert played[300:].count(1) > 110


@pytest.mark.parametrize("name", EXPERTS[0].learners())
def test_poold_learns_after_its_delay(name: str) -> None:
    """Nothing changes until the first losses arrive; then most weight is on the best expert."""
    step = EXPERTS[0].learners()[name](3)
    weights = [step(np.array([1.0, 0.0, 1.0])) for _ in range(100)]
    for early in weights[: DELAY + 1]:
        assert early == pytest.approx(weights[0])
    assert np.ptp(weights[0]) == 0.0
    assert weights[-1][1] > 0.5


@pytest.mark.parametrize("arms", [10, 100])
@pytest.mark.parametrize(
    ("peer", "precision"), [(SOLVERS[0], 1e-4), (SOLVERS[1], 1e-7)], ids=["cvxpy", "cvxopt"]
)
def test_generic_solvers_solve_the_argmin_of_our_learner(
    peer: SolverPeer, precision: float, arms: int
) -> None:
    """They agree with its weights along a run, to their own precision."""
    players = Players([LEARNER], arms, 200)
    assert peer.solver is not None
    found = solved_rounds(players, 3)
    solve = peer.solver(argmin_of(players))
    for moment in found:
        p = solve(moment.losses, moment.eta)
        assert p.shape == moment.losses.shape
        assert np.abs(p.sum(axis=1) - moment.q).max() < precision
    assert np.ptp(moment.q) > 1e-3  # there was something to solve


def test_a_peer_that_is_not_installed_is_named_with_the_way_to_install_it() -> None:
    """Its presence says so instead of raising."""
    peer = Peer("Nobody", "belated-nobody", ("belated_nobody",), "pip install nobody")
    assert not peer.presence.usable
    assert peer.presence.reason == "not installed (pip install nobody)"


def test_a_peer_that_is_broken_is_named_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Installed, but something that it needs has gone: that is the reason given."""
    monkeypatch.setitem(sys.modules, "river.bandit", None)
    peer = Peer("river", "river", ("river.bandit",))
    assert peer.presence.version
    assert peer.presence.reason is not None
    assert "cannot be imported: import of river.bandit halted" in peer.presence.reason


class Counting:
    """A policy with the interface of SMPyBandits, which today's SciPy breaks."""

    def __init__(self, arms: int) -> None:
        self.rewards = [-1.0] * arms

    def startGame(self) -> None:
        """Forget."""
        self.rewards = [0.0] * len(self.rewards)

    def choice(self) -> int:
        """The best arm."""
        return self.rewards.index(max(self.rewards))

    def getReward(self, arm: int, reward: float) -> None:
        """Add up."""
        self.rewards[arm] += reward


def test_smpybandits_is_called_by_its_own_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """The game is started, then choices and rewards take turns."""
    names = ("UCB", "Thompson", "Exp3", "TsallisInf")
    package, module = types.ModuleType("SMPyBandits"), types.ModuleType("SMPyBandits.Policies")
    for name in names:
        setattr(module, name, Counting)
    package.Policies = module  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "SMPyBandits", package)
    monkeypatch.setitem(sys.modules, "SMPyBandits.Policies", module)
    made: dict[str, Callable[[int], Policy]] = dict(policies())
    assert list(made) == [f"SMPyBandits {name}" for name in names]
    policy = made["SMPyBandits UCB"](3)
    assert isinstance(policy, SMPyPolicy)
    policy.learn(2, 1.0)
    assert policy.decide() == 2
