"""SMPyBandits: bandit policies in Python, for SciPy before 1.12."""

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.peers.peer import BanditPeer, Policy, quietly


class SMPyPolicy:
    """A policy of SMPyBandits, after its game has started."""

    def __init__(self, policy: Any) -> None:
        policy.startGame()
        self.decide = policy.choice
        self.learn = policy.getReward


def policies() -> Mapping[str, Callable[[int], Policy]]:
    """Return the policies that are measured: UCB, Thompson sampling, Exp3 and Tsallis-INF."""
    with quietly():
        from SMPyBandits import Policies

    return {
        "SMPyBandits UCB": lambda arms: SMPyPolicy(Policies.UCB(arms)),
        "SMPyBandits Thompson": lambda arms: SMPyPolicy(Policies.Thompson(arms)),
        "SMPyBandits Exp3": lambda arms: SMPyPolicy(Policies.Exp3(arms)),
        "SMPyBandits TsallisInf": lambda arms: SMPyPolicy(Policies.TsallisInf(arms)),
    }


SMPYBANDITS = BanditPeer(
    "SMPyBandits",
    "SMPyBandits",
    ("SMPyBandits.Policies",),
    "pip install SMPyBandits 'scipy<1.12' 'numpy<2'",
    policies=policies,
)
