"""What silence says: by how much losses that take long are worse than others, or better.

Delay and loss may be related: a sale is known when it happens, and that there was none only when
nobody waits for it any more. So what has arrived flatters, and a play says something by not being
told. Of every loss that is told, what it was above what was then expected of its arm is noted by
how long it took, in powers of four, for its arm and for all. With A(k) their sum and n(k) their
number over all losses that took 4^k rounds or more, A_i(k) and n_i(k) over those of arm i, a wait
says

    S(k)   = A(k)/(n(k) + 10) - A(0)/(n(0) + 10)                        of all arms,
    S_i(k) = (A_i(k) + 10 S(k))/(n_i(k) + 10) - A_i(0)/(n_i(0) + 10)    of arm i,

which is added to what is imputed for a play of arm i: the mean of those that took as long less the
mean of all, where ten losses are always supposed, among all as expected, among those of arm i that
took as long as S says.

A loss that was to be expected from its delay is also no sign that the world has changed: what its
delay explains is taken off before it speaks for the common level of `kernels.estimates`.
"""

import math

import numpy as np

from belated.arrays import Floats
from belated.compiled.jit import compiled

POWERS = 16  # of four, of which the last has all waits of 4^15 rounds or more
UNRELATED = 10.0  # losses that are supposed
ABOVE, TOLD = range(2)  # sums and counts of all losses that took so long or longer
SAYS, EXPLAINS = range(2, 4)  # of all arms: what a wait says, and what a delay explains


def nothing_heard() -> Floats:
    """Of all arms, by power of four, before the first loss."""
    return np.zeros((4, POWERS))


def nothing_heard_of(arms: int) -> Floats:
    """Of every arm for itself: sums and counts by power of four."""
    return np.zeros((2, POWERS, arms))


@compiled
def power_of(rounds: float) -> int:
    """The largest k for which 4^k is at most so many rounds, from 1 on, or the last there is."""
    return min((math.frexp(rounds)[1] - 1) // 2, POWERS - 1)


@compiled
def note(silence: Floats, heard: Floats, arm: int, power: int, above: float) -> None:
    """A loss of an arm was told after a wait of this power, counting both rounds."""
    for shorter in range(power + 1):
        silence[ABOVE, shorter] += above
        silence[TOLD, shorter] += 1.0
        heard[ABOVE, shorter, arm] += above
        heard[TOLD, shorter, arm] += 1.0


@compiled
def listen(silence: Floats) -> None:
    """Renew what a wait of every length says, and what a delay of every length explains."""
    of_any = silence[ABOVE, 0] / (silence[TOLD, 0] + UNRELATED)
    above_longer, told_longer = 0.0, 0.0
    for power in range(POWERS - 1, -1, -1):
        above, told = silence[ABOVE, power], silence[TOLD, power]
        silence[SAYS, power] = above / (told + UNRELATED) - of_any
        own, own_told = above - above_longer, told - told_longer
        silence[EXPLAINS, power] = (own - of_any * own_told) / (own_told + UNRELATED)
        above_longer, told_longer = above, told


@compiled
def says_of(silence: Floats, heard: Floats, arm: int, power: int) -> float:
    """S_i: by how much a play of an arm that has waited for so long is worse than others of it."""
    longer = heard[ABOVE, power, arm] + UNRELATED * silence[SAYS, power]
    of_any = heard[ABOVE, 0, arm] / (heard[TOLD, 0, arm] + UNRELATED)
    return float(longer / (heard[TOLD, power, arm] + UNRELATED) - of_any)
