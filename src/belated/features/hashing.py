"""Signed hashing: which coordinate a name has, and with which sign it counts there.

The hash is BLAKE2b, which is the same in every process, on every machine and in every release.
"""

import functools
import hashlib

MOST_KEPT = 100  # letters of a name that is kept, lest long texts fill the memory


def place_of(name: str, bits: int) -> tuple[int, float]:
    """The coordinate below 2^bits of a name, from the lowest bits, and its sign, from the highest.

    The eight bytes of the digest are read as a whole number, the lowest byte first.
    """
    return kept_place(name, bits) if len(name) <= MOST_KEPT else hashed_place(name, bits)


def hashed_place(name: str, bits: int) -> tuple[int, float]:
    """The coordinate and the sign of a name, computed as `place_of` says."""
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    number = int.from_bytes(digest, "little")
    return number & ((1 << bits) - 1), -1.0 if number >> 63 else 1.0


kept_place = functools.lru_cache(maxsize=65_536)(hashed_place)
