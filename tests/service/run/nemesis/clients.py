"""Clients that send each request again until it is answered, and keep the answers in the model."""

import random
import threading
import time
from collections.abc import Callable
from typing import Any

import httpx

from tests.service.run.nemesis.model import (
    CANCELLED,
    EXPIRED,
    EXPIRES,
    ORDERS,
    SEEN,
    SPECS,
    TOLD,
    Acknowledged,
    Model,
    Weather,
)

PAUSE = 0.02
SECONDS = 120.0  # by then whatever hangs is ended
GIVEN_UP = "cannot be served"  # what is said of a problem that was damaged
CLOSING = "was closed at this moment"  # what is said of a ticket whose time is over just now


class Clients:
    """So many clients, each in a thread of its own, of the service at one address."""

    def __init__(self, key: str, model: Model, weather: Weather, seed: int) -> None:
        self.victim: str | None = None  # a problem that may be given up at any moment
        self._key, self._model, self._weather, self._seed = key, model, weather, seed
        self._leaving = threading.Event()
        self._threads: list[threading.Thread] = []

    def begin(self, number: int, address: str) -> None:
        """Let so many of them come."""
        for place in range(number):
            made = (address, self._key, self._model, self._weather, f"{self._seed}-{place}")
            self._threads.append(threading.Thread(target=self._run, args=made, daemon=True))
            self._threads[-1].start()

    def leave(self) -> None:
        """Begin nothing more."""
        self._leaving.set()

    def stop(self) -> None:
        """Let each client finish what it has begun."""
        self.leave()
        for thread in self._threads:
            thread.join(SECONDS)
            assert not thread.is_alive()

    def _run(self, *made: Any) -> None:
        client = Client(*made)
        try:
            while not self._leaving.is_set():
                client.step(self.victim)
        except Exception as error:  # which would else be lost with the thread
            self._model.complain(f"a client ended: {error!r}")
        finally:
            client.http.close()


class Client:
    """One client: it asks, and tells, repeats, contradicts, cancels or keeps what it was given."""

    def __init__(self, address: str, key: str, model: Model, weather: Weather, name: str) -> None:
        self._chance, self._name, self._count = random.Random(name), name, 0
        self._model, self._weather = model, weather
        self._kept: list[tuple[str, str, str]] = []  # problem, ticket, arm
        self.http = httpx.Client(
            base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=SECONDS
        )

    def step(self, victim: str | None) -> None:
        """Ask for something, and report on some of what was asked for."""
        problem = self._chance.choice(list(SPECS))
        if victim is not None and self._chance.random() < 0.1:
            problem = victim
        for decision in self._asked(problem):
            ticket, arm = decision["ticket"], decision.get("arm")
            with self._model.lock:
                self._model.decided[ticket] = problem, arm
            self._kept += [
                (problem, ticket, each) for each in (arm and [arm]) or SPECS[problem]["arms"]
            ]
        self._chance.shuffle(self._kept)
        while len(self._kept) > 6:
            self._close(*self._kept.pop())
        time.sleep(PAUSE)

    def _asked(self, problem: str) -> list[dict[str, Any]]:
        self._count += 1
        key, many = f"{self._name}-{self._count}", self._chance.random() < 0.2
        path = f"/v1/problems/{problem}/" + ("ask:batch" if many else "ask")
        answer = self._answered(path, self._question(problem, many), key, problem)
        if answer is None or not self._expect(answer, 200):
            return []
        made = answer.json()
        return list(made["decisions"]) if many else [made]

    def _question(self, problem: str, many: bool) -> dict[str, Any] | None:
        """The body of an ask, with what is known of the round where that counts."""
        number = self._chance.randint(1, 4)
        if problem != SEEN:
            return {"count": number} if many else None
        devices = ("phone", "desktop")
        contexts = [
            {"age": self._chance.randint(18, 80), "device": self._chance.choice(devices)}
            for _ in range(number)
        ]
        return {"contexts": contexts} if many else {"context": contexts[0]}

    def _close(self, problem: str, ticket: str, arm: str) -> None:
        """End a play in one of many ways."""
        loss, way = round(self._chance.random(), 3), self._chance.random()
        if way < 0.1:
            return  # and never say anything about it
        if way > 0.2 and problem == ORDERS:
            self._tell_named(ticket)
            return
        if way < 0.2 and problem != "weighed":
            self._cancel(problem, ticket, arm)
        elif way < 0.3:
            self._tell(problem, ticket, arm, loss, many=True)
        else:
            for _ in range(self._chance.choice((1, 1, 1, 2, 3))):
                self._tell(problem, ticket, arm, loss)
            if way < 0.4:
                self._contradict(problem, ticket, arm, loss)

    def _tell(self, problem: str, ticket: str, arm: str, loss: float, many: bool = False) -> None:
        report: dict[str, Any] = {"loss": loss, "arm": arm}
        path = "/v1/tell:batch" if many else f"/v1/tickets/{ticket}/tell"
        body = {"reports": [{**report, "ticket": ticket}]} if many else report
        answer = self._answered(path, body, None, problem)
        if answer is None:
            return
        result = answer.json()
        if many and answer.status_code == 200:
            (result,) = result["results"]
        status = result.get("status", answer.status_code)
        if status == 200:
            self._acknowledge(ticket, arm, Acknowledged(TOLD, loss), result["counted"])
        elif status == 410 and problem == EXPIRES:
            self._acknowledge(ticket, arm, Acknowledged(EXPIRED, None), False)
        elif status == 503 and problem not in SPECS:
            return
        else:
            self._model.complain(f"tell {problem} {ticket}: {answer.text}")

    def _tell_named(self, ticket: str) -> None:
        """Tell some of several outcomes in any order, some of them again."""
        rewards = {
            (name, revision): round(self._chance.uniform(-1.0, 2.0), 3)
            for name in ("sale", "refund")
            for revision in range(self._chance.randint(1, 3))
        }
        sent = self._chance.choices(list(rewards), k=self._chance.randint(1, 6))
        for name, revision in sent:
            report = {"outcome": name, "revision": revision, "reward": rewards[name, revision]}
            answer = self._answered(f"/v1/tickets/{ticket}/tell", report, None, ORDERS)
            if answer is None or not self._expect(answer, 200, 410):
                return
            told = ticket, name, revision
            with self._model.lock:
                if answer.status_code == 410:
                    self._model.named_late.add(told)
                    continue
                self._model.named[told] = rewards[name, revision]
                counted = self._model.counted.get(told, 0) + answer.json()["counted"]
                self._model.counted[told] = counted

    def _contradict(self, problem: str, ticket: str, arm: str, loss: float) -> None:
        """Tell another loss, which must be refused and change nothing."""
        body = {"loss": (loss + 0.5) % 1.0, "arm": arm}
        answer = self._answered(f"/v1/tickets/{ticket}/tell", body, None, problem)
        if answer is not None:
            self._expect(answer, 409, *([410] if problem == EXPIRES else []))

    def _cancel(self, problem: str, ticket: str, arm: str) -> None:
        answer = self._answered(f"/v1/tickets/{ticket}/cancel", None, None, problem)
        if answer is not None and answer.status_code == 200:
            known = Acknowledged(CANCELLED, None)
            self._acknowledge(ticket, arm, known, answer.json()["counted"])
        elif answer is not None:
            self._expect(answer, *([410] if problem == EXPIRES else []))

    def _acknowledge(self, ticket: str, arm: str, known: Acknowledged, counted: bool) -> None:
        pair = ticket, arm
        with self._model.lock:
            self._model.outcomes[pair] = known
            self._model.counted[pair] = self._model.counted.get(pair, 0) + counted

    def _expect(self, answer: httpx.Response, *statuses: int) -> bool:
        """Whether an answer has one of these statuses; a complaint if not."""
        if answer.status_code in statuses:
            return True
        self._model.complain(f"{answer.request.url}: {answer.status_code} {answer.text}")
        return False

    def _answered(
        self, path: str, body: Any, key: str | None, problem: str
    ) -> httpx.Response | None:
        """The answer to a request, however often it is sent; None if its problem is given up."""
        headers = {} if key is None else {"Idempotency-Key": key}

        def send() -> httpx.Response:
            return self.http.post(path, json=body, headers=headers)

        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            before = self._weather.calm()
            answer, refusal = sent(send)
            if answer is not None and GIVEN_UP in refusal:
                if problem in SPECS:
                    self._model.complain(f"{path}: {refusal}")
                return None
            if answer is not None and not refusal:
                return answer
            is_calm = before is not None and before == self._weather.calm()
            if is_calm and CLOSING not in refusal:
                self._model.complain(f"{path} in a calm: {refusal}")
            with self._model.lock:
                self._model.sent_again += 1
            time.sleep(PAUSE)
        raise TimeoutError(f"{path} was not answered for {SECONDS:g} s")


def sent(send: Callable[[], httpx.Response]) -> tuple[httpx.Response | None, str]:
    """An answer, and why it is none that counts; empty if it is."""
    try:
        answer = send()
    except httpx.TransportError as error:
        return None, f"no answer: {error!r}"
    results = answer.json().get("results", ()) if answer.status_code == 200 else ()
    away = answer.status_code == 503 or any(each.get("status") == 503 for each in results)
    return answer, answer.text if away else ""
