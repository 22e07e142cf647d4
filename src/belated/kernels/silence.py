"""What silence says: by how much losses that take long are worse than others, or better.

Delay and loss may be related: a sale is known when it happens, and that there was none only when
nobody waits for it any more. So what has arrived flatters, and a play says something by not being
told. Of every loss that is told, what it was above what was expected of its arm is noted by how
long it took, in powers of two. For a play that has waited for so long, the mean of all that took as
long or longer, less the mean of all, is imputed; ten losses that were just as expected are always
among these. If all take equally long, silence says nothing.
"""

import math

import numpy as np
from numpy.typing import NDArray

from belated.kernels.compile import compiled
from belated.kernels.estimates import LONGEST

Floats = NDArray[np.float64]

POWERS = 40  # of two: no game has so many rounds
UNTOLD = POWERS - 1  # where the losses are that are always among these
UNRELATED = 10.0  # losses that tell nothing of the delay
ABOVE, TOLD, SAYS = range(3)


def nothing_heard(listens: bool) -> Floats:
    """By power of two: sums, counts and what they say, before the first loss.

    If silence is not listened to, it never says anything.
    """
    silence = np.zeros((3, POWERS))
    silence[TOLD, UNTOLD] = UNRELATED if listens else np.inf
    return silence


@compiled
def power_of(rounds: float) -> int:
    """The largest k for which 2^k is at most so many rounds, from 1 on."""
    return min(math.frexp(rounds)[1], UNTOLD) - 1


@compiled
def note(silence: Floats, rounds: int, above: float) -> None:
    """A loss was told so many rounds after its play, counting both."""
    power = power_of(float(rounds))
    silence[ABOVE, power] += above
    silence[TOLD, power] += 1.0


@compiled
def listen(silence: Floats, round_: int) -> None:
    """Renew what a wait of every length that there can be says, at the commit of a round."""
    above, told = 0.0, silence[TOLD, UNTOLD]
    longest = power_of(round_ + 1.0 + LONGEST)
    for power in range(longest, -1, -1):
        above += silence[ABOVE, power]
        told += silence[TOLD, power]
        silence[SAYS, power] = above / told
    of_any = silence[SAYS, 0]
    for power in range(longest + 1):
        silence[SAYS, power] -= of_any
