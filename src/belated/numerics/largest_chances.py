"""The probability that each of several independent numbers is the largest, by integration.

P(z_i is the largest) is the integral of f_i prod_{j != i} F_j. It is computed from the top down,
over nodes that are evenly spaced in some variable. The densities of all arms at the last six nodes
give what lies between two of them, and so the survival 1 - F of each arm. Anyone who integrates
chooses the nodes, and stores the densities there.
"""

from belated.arrays import Floats
from belated.compiled.kernels import compiled, inlined
from belated.numerics.lanes import LANES, Lanes, larger, load, store, whole

LEAST = 1e-30
NEAR, FAR, OUTER = 802.0 / 1440.0, 93.0 / 1440.0, 11.0 / 1440.0

# Rows of the working space. Its columns are the arms that may be the largest; the first three rows
# describe the law of each arm, and those from DENSITY to WORK hold its densities at the last six
# nodes, times the distance between nodes.
SURVIVAL, BELOW, CHANCE, DENSITY, WORK = 3, 4, 5, 6, 12


@compiled
def integrate(work: Floats, count: int, node: int) -> None:
    """Advance the integration to the node two before this one.

    This updates the survival of every arm there and adds the node's part to every arm's chance.
    """
    end, product = whole(work.shape[1]), 1.0
    for k in range(0, min(count, end), LANES):
        advance_some(work, k, node, False)
    if end < count:
        advance_some(work, end, node, True)
    for k in range(count):
        product *= work[BELOW, k]
    row = DENSITY + (node + 4) % 6
    for k in range(count):
        work[CHANCE, k] += work[row, k] * (product / work[BELOW, k])


@compiled
def advance_some(work: Floats, k: int, node: int, part: bool) -> None:
    """Update, for one group of arms from arm k on, the probabilities to lie above and below.

    The integral between two nodes is computed from six nodes, with an error of seventh order.
    """
    outer = density(work, k, node, 1, part) + density(work, k, node, 0, part)
    far = density(work, k, node, 2, part) + density(work, k, node, 5, part)
    near = density(work, k, node, 3, part) + density(work, k, node, 4, part)
    between = near * NEAR - far * FAR + outer * OUTER
    survival = load(work[SURVIVAL], k, 0.0, part) + between
    store(work[SURVIVAL], k, survival, part)
    store(work[BELOW], k, larger(1.0 - survival, LEAST), part)


@inlined
def density(work: Floats, k: int, node: int, place: int, part: bool) -> Lanes:
    """Return the densities of a group of arms from arm k on, at one of the last six nodes.

    `place` selects the node: 1 is the oldest, and 0 is the newest.
    """
    return load(work[DENSITY + (node + place) % 6], k, 0.0, part)
