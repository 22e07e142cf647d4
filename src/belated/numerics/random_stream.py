"""Random numbers for drawing arms: xoshiro256++ (Blackman and Vigna), seeded by SeedSequence.

The generator is implemented here so that no release of another library can change a seeded run.
"""

import numpy as np
from numpy.typing import NDArray

from belated.compiled.kernels import compiled

UNIT = 2.0**-53


def seeded(seed: int | np.random.SeedSequence | None) -> NDArray[np.uint64]:
    """A new stream, as four 64-bit words; `None` takes entropy from the operating system."""
    if not isinstance(seed, np.random.SeedSequence):
        seed = np.random.SeedSequence(seed)
    return seed.generate_state(4, np.uint64).astype(np.uint64)


@compiled
def next_word(stream: NDArray[np.uint64]) -> np.uint64:
    """The next 64 random bits of the stream, which advances."""
    total = stream[0] + stream[3]
    word: np.uint64 = ((total << np.uint64(23)) | (total >> np.uint64(41))) + stream[0]
    shifted = stream[1] << np.uint64(17)
    stream[2] ^= stream[0]
    stream[3] ^= stream[1]
    stream[1] ^= stream[2]
    stream[0] ^= stream[3]
    stream[2] ^= shifted
    stream[3] = (stream[3] << np.uint64(45)) | (stream[3] >> np.uint64(19))
    return word


@compiled
def uniform(stream: NDArray[np.uint64]) -> float:
    """A uniform double in [0, 1), from the upper 53 bits of the next word."""
    return float(next_word(stream) >> np.uint64(11)) * UNIT


@compiled
def draw(stream: NDArray[np.uint64], q: NDArray[np.float64]) -> int:
    """An arm drawn with the probabilities q, by inversion; never one with probability zero."""
    target = uniform(stream)
    last = 0
    for arm in range(q.shape[0]):
        if q[arm] > 0.0:
            last = arm
            target -= q[arm]
            if target < 0.0:
                return arm
    return last
