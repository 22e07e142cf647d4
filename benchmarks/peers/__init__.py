"""The peers: other software that is measured beside ours, one file each."""

from benchmarks.peers.cvxopt import CVXOPT
from benchmarks.peers.cvxpy import CVXPY
from benchmarks.peers.mabwiser import MABWISER
from benchmarks.peers.peer import BanditPeer, ExpertsPeer, Peer, SolverPeer
from benchmarks.peers.poold import POOLD
from benchmarks.peers.river import RIVER
from benchmarks.peers.smpybandits import SMPYBANDITS
from benchmarks.peers.vowpalwabbit import VOWPALWABBIT

BANDITS: tuple[BanditPeer, ...] = (RIVER, SMPYBANDITS, MABWISER, VOWPALWABBIT)
EXPERTS: tuple[ExpertsPeer, ...] = (POOLD,)
SOLVERS: tuple[SolverPeer, ...] = (CVXPY, CVXOPT)
PEERS: tuple[Peer, ...] = (*BANDITS, *EXPERTS, *SOLVERS)
