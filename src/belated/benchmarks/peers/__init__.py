"""The peers that we are measured beside, one file each."""

from belated.benchmarks.peers.cvxopt import CVXOPT
from belated.benchmarks.peers.cvxpy import CVXPY
from belated.benchmarks.peers.mabwiser import MABWISER
from belated.benchmarks.peers.peer import BanditPeer, ExpertsPeer, Peer, SolverPeer
from belated.benchmarks.peers.poold import POOLD
from belated.benchmarks.peers.river import RIVER
from belated.benchmarks.peers.smpybandits import SMPYBANDITS
from belated.benchmarks.peers.vowpalwabbit import VOWPALWABBIT

BANDITS: tuple[BanditPeer, ...] = (RIVER, SMPYBANDITS, MABWISER, VOWPALWABBIT)
EXPERTS: tuple[ExpertsPeer, ...] = (POOLD,)
SOLVERS: tuple[SolverPeer, ...] = (CVXPY, CVXOPT)
PEERS: tuple[Peer, ...] = (*BANDITS, *EXPERTS, *SOLVERS)
