"""A crowd of clients that never give up: each request is sent again until it is answered.

They remember all that was acknowledged to them, which must then be in the store for ever.
"""

import random
import threading
import time
from collections.abc import Sequence
from typing import Any

import httpx

PROBLEM = "ads"
PAUSE = 0.02
SECONDS = 120  # by then whatever hangs is ended


class Crowd:
    """So many clients, each in a thread of its own, of services whose addresses may change."""

    def __init__(self, clients: int) -> None:
        self.addresses: Sequence[str] = ()
        self.decided: dict[str, str] = {}  # ticket -> arm
        self.told: dict[str, float] = {}
        self.counted: dict[str, int] = {}
        self.again = 0
        self.wrong: list[str] = []
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._under_way = 0
        self._threads = [
            threading.Thread(target=self._client, args=(number,), daemon=True)
            for number in range(clients)
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let each client finish what it has begun."""
        self._stop.set()
        for thread in self._threads:
            thread.join(SECONDS)
            assert not thread.is_alive()

    def rest(self) -> None:
        """Send nothing more for now, and wait until all that was sent is answered."""
        self.addresses = ()
        until = time.monotonic() + SECONDS
        while self._busy():
            assert time.monotonic() < until
            time.sleep(PAUSE)

    def _busy(self) -> bool:
        with self._lock:
            return self._under_way > 0

    def _client(self, number: int) -> None:
        chance, count = random.Random(number), 0
        with httpx.Client(timeout=600) as http:
            while not self._stop.is_set():
                key = f"{number}-{count}-{self.addresses}"
                count += 1
                decision = self._until_answered(http, f"/v1/problems/{PROBLEM}/ask", key=key)
                if decision is None:
                    return
                with self._lock:
                    self.decided[decision["ticket"]] = decision["arm"]
                if chance.random() < 0.9:
                    self._tell(http, decision["ticket"], chance)

    def _tell(self, http: httpx.Client, ticket: str, chance: random.Random) -> None:
        loss = round(chance.random(), 3)
        for _ in range(chance.choice((1, 1, 2, 3))):
            verdict = self._until_answered(http, f"/v1/tickets/{ticket}/tell", {"loss": loss})
            if verdict is None:
                return
            with self._lock:
                self.told[ticket] = loss
                self.counted[ticket] = self.counted.get(ticket, 0) + verdict["counted"]

    def _until_answered(
        self, http: httpx.Client, path: str, body: Any = None, key: str | None = None
    ) -> Any:
        """The answer to a request, however often it has to be sent; None if it is time to stop."""
        headers = {} if key is None else {"Idempotency-Key": key.replace(" ", "")[:200]}
        chance = random.Random(path)
        for attempt in range(100_000):
            if not self.addresses or attempt:
                time.sleep(PAUSE)
                if self._stop.is_set():
                    return None
            with self._lock:
                addresses = list(self.addresses)
                self._under_way += bool(addresses)
            if not addresses:
                continue
            try:
                answer = http.post(chance.choice(addresses) + path, json=body, headers=headers)
            except httpx.TransportError:
                answer = httpx.Response(503)
            finally:
                with self._lock:
                    self._under_way -= 1
            if answer.status_code == 200:
                return answer.json()
            with self._lock:
                if answer.status_code != 503:
                    self.wrong.append(answer.text)
                    return None
                self.again += 1
        return None
