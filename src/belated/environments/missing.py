"""Missing counts. Row t-1, column i of a delay array is d_t(i); NEVER stands for infinity."""

import numpy as np

from belated.arrays import Counts

NEVER = -1


def missing_counts(delays: Counts) -> Counts:
    """rho_t(i) = |{s < t : s + d_s(i) >= t}| for every round and arm, in O(TK) time.

    The loss of (s, i) is missing in the rounds s+1 .. s+d_s(i). So each loss adds 1 to the changes
    of rho at s+1 and -1 after s+d_s(i), and rho is their cumulative sum.
    """
    rounds, arms = delays.shape
    changes = np.zeros((rounds + 1, arms), dtype=np.int64)
    index = np.arange(rounds)[:, None]
    first = np.broadcast_to(index + 1, delays.shape)
    after = np.where(delays == NEVER, rounds, np.minimum(index + 1 + delays, rounds))
    columns = np.broadcast_to(np.arange(arms), delays.shape)
    np.add.at(changes, (first, columns), 1)
    np.add.at(changes, (after, columns), -1)
    return np.cumsum(changes[:rounds], axis=0)
