"""Ticket ids: they rise with time, which keeps indexes small, and cannot be guessed."""

import os
import threading

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # 5 bits per letter
TIME_BITS, TIME_LETTERS, RANDOM_LETTERS = 48, 10, 16
LETTER_OF_BYTE = bytes(ALPHABET[byte % 32].encode()[0] for byte in range(256))
AT_ONCE = 512  # ids per call of os.urandom, which would cost more than everything else


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
