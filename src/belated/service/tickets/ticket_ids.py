"""Ticket ids: they rise with time, which keeps indexes small, and cannot be guessed."""

import functools
import hashlib
import os
import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # 5 bits per letter
TIME_BITS, TIME_LETTERS, RANDOM_LETTERS = 48, 10, 16
RANDOM_BITS, SPARE_BITS = 5 * RANDOM_LETTERS, 5 * TIME_LETTERS - TIME_BITS
SPARE = (1 << SPARE_BITS) - 1  # of the letters with the time, whose last bits are always 0
LETTERS = str.maketrans("", "", ALPHABET)  # deletes them
LETTER_OF_BYTE = bytes(ALPHABET[byte % 32].encode()[0] for byte in range(256))
DIGITS = str.maketrans(ALPHABET, "0123456789abcdefghijklmnopqrstuv")  # as `int` reads base 32
WORD = (1 << 64) - 1
AT_ONCE = 512  # ids per call of os.urandom, which would cost more than everything else
REMEMBERED = 128  # tickets whose ids are not worked out again; most are needed several times


TicketId = tuple[
    int, int
]  # 128 bits: the time and the first random bits, and the other random bits


class TicketIds:
    """Makes ticket ids from random bits of the operating system, fetched for many ids at once."""

    def __init__(self) -> None:
        self._letters, self._place = "", 0
        self._moment, self._prefix = -1, ""
        self._lock = threading.Lock()

    def new(self, at: float) -> str:
        """A new id of 26 letters: 48 bits of time in milliseconds, then 80 random bits."""
        moment = int(at * 1000.0) % 2**TIME_BITS
        with self._lock:
            if self._place >= len(self._letters):
                bits = os.urandom(RANDOM_LETTERS * AT_ONCE)  # 5 of the 8 bits of a byte are used
                self._letters, self._place = bits.translate(LETTER_OF_BYTE).decode(), 0
            if moment != self._moment:
                self._moment, self._prefix = moment, letters_of(moment)
            start = self._place
            self._place += RANDOM_LETTERS
            return self._prefix + self._letters[start : self._place]


@functools.lru_cache(REMEMBERED)
def id_of(ticket: str) -> tuple[TicketId, bool]:
    """A ticket as two words of 64 bits, and whether its id was made here.

    Other tickets, as tests and importers may have, are hashed.
    """
    if len(ticket) == TIME_LETTERS + RANDOM_LETTERS and not ticket.translate(LETTERS):
        number = int(ticket.translate(DIGITS), 32)
        time, random = number >> RANDOM_BITS, number & ((1 << RANDOM_BITS) - 1)
        if not time & SPARE:
            number = time >> SPARE_BITS << RANDOM_BITS | random
            return (number >> 64, number & WORD), True
    digest = int.from_bytes(
        hashlib.blake2b(ticket.encode(errors="surrogatepass"), digest_size=16).digest()
    )
    return (digest >> 64, digest & WORD), False


def texts_of(ids: NDArray[np.uint64]) -> Sequence[str]:
    """The tickets with these ids, a row of two words each, that were made here."""
    texts: list[str] = letters_of_ids(ids).astype(np.str_).tolist()
    return texts


def letters_of_ids(ids: NDArray[np.uint64]) -> NDArray[np.bytes_]:
    """The tickets with these ids, as bytes."""
    high, low = ids[:, 0], ids[:, 1]
    letters = np.empty((len(ids), TIME_LETTERS + RANDOM_LETTERS), dtype=np.uint8)
    for place in range(RANDOM_LETTERS + TIME_LETTERS):
        shift = 5 * place if place < RANDOM_LETTERS else 5 * place - SPARE_BITS
        if place == RANDOM_LETTERS:  # the spare bits are the last of this letter
            digit = part_of(high, low, RANDOM_BITS, 5 - SPARE_BITS) << np.uint64(SPARE_BITS)
        else:
            digit = part_of(high, low, shift, 5)
        letters[:, -1 - place] = digit
    codes = np.frombuffer(ALPHABET.encode(), dtype=np.uint8)[letters]
    found: NDArray[np.bytes_] = codes.view(f"S{codes.shape[1]}").ravel()
    return found


def part_of(
    high: NDArray[np.uint64], low: NDArray[np.uint64], shift: int, bits: int
) -> NDArray[np.uint64]:
    """So many bits of numbers of 128 bits, from a place on."""
    mask = np.uint64((1 << bits) - 1)
    if shift >= 64:
        return (high >> np.uint64(shift - 64)) & mask
    part = low >> np.uint64(shift)
    if shift + bits > 64:
        part = part | (high << np.uint64(64 - shift))
    return part & mask


def time_of(ticket: str) -> float | None:
    """The time at which a ticket with this id was decided; None if it is no such id."""
    if len(ticket) != TIME_LETTERS + RANDOM_LETTERS or not set(ticket) <= set(ALPHABET):
        return None
    shifted = 0
    for letter in ticket[:TIME_LETTERS]:
        shifted = (shifted << 5) | ALPHABET.index(letter)
    return (shifted >> (5 * TIME_LETTERS - TIME_BITS)) / 1000.0


def letters_of(moment: int) -> str:
    """A time as ten letters that sort as the times do; its 48 bits are the first of the 50."""
    shifted = moment << (5 * TIME_LETTERS - TIME_BITS)
    places = range(5 * (TIME_LETTERS - 1), -1, -5)
    return "".join(ALPHABET[(shifted >> place) & 31] for place in places)


new_ticket_id = TicketIds().new
