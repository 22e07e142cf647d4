"""The names of tickets: they rise with time, which keeps indexes small, and cannot be guessed."""

import base64
import os
import re
import threading

ALPHABET = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", b"0123456789abcdefghjkmnpqrstvwxyz")
TIME_BYTES, RANDOM_BYTES, PADDING = 6, 10, bytes(4)  # 160 bits: 32 letters of 5 bits each
LETTERS = 26  # the last six stand for the padding
TICKET = re.compile(r"[0-9a-z]{26}")
AT_ONCE = 512  # to ask the system for random bits each time would cost more than all the rest


class Tickets:
    """Makes tickets out of random bits of the operating system's, fetched for many at once."""

    def __init__(self) -> None:
        self._bits, self._place = b"", 0
        self._lock = threading.Lock()

    def new(self, at: float) -> str:
        """48 bits of time in milliseconds and 80 random ones, as 26 letters that sort alike."""
        with self._lock:
            if self._place >= len(self._bits):
                self._bits, self._place = os.urandom(RANDOM_BYTES * AT_ONCE), 0
            bits = self._bits[self._place : self._place + RANDOM_BYTES]
            self._place += RANDOM_BYTES
        moment = (int(at * 1000.0) % 2 ** (8 * TIME_BYTES)).to_bytes(TIME_BYTES)
        letters = base64.b32encode(moment + bits + PADDING).translate(ALPHABET)
        return letters[:LETTERS].decode()


new_ticket = Tickets().new
