"""`Client` and `AsyncClient`: the same methods, blocking or awaited."""

import asyncio
import contextlib
import functools
import time
from collections.abc import Callable, Coroutine
from typing import Any, Generic, ParamSpec, Self, TypeVar, overload

import httpx

from belated import __version__
from belated.checks import as_number
from belated.client import calls
from belated.client.calls import Call
from belated.client.retrying import Attempts, Patience

P = ParamSpec("P")
T = TypeVar("T")


class ClientMethod(Generic[P, T]):
    """A method of both clients, from the function that makes its `Call`."""

    def __init__(self, make: Callable[P, Call[T]]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, client: None, owner: type) -> Callable[P, Call[T]]: ...
    @overload
    def __get__(self, client: "Client", owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(
        self, client: "AsyncClient", owner: type
    ) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        if client is None:
            return self._make

        @functools.wraps(self._make)
        def bound(*args: P.args, **kwargs: P.kwargs) -> Any:
            return client.run(self._make(*args, **kwargs))

        return bound


class ServiceMethods:
    """It has a method for each route of the service.

    `url` is the address of the service, and `key` a key from `belated keys create`. A request is
    sent again if the service cannot be reached, cannot commit, or does not answer within `timeout`
    seconds, until the deadline of `patience` (60 seconds by default). Repeated requests have the
    same Idempotency-Key, and a ticket is told once, so nothing is decided or counted twice.
    """

    create_problem = ClientMethod(calls.create_problem)
    problems = ClientMethod(calls.problems)
    problem = ClientMethod(calls.problem)
    change_arms = ClientMethod(calls.change_arms)
    change_terms = ClientMethod(calls.change_terms)
    ask = ClientMethod(calls.ask)
    ask_batch = ClientMethod(calls.ask_batch)
    tell = ClientMethod(calls.tell)
    tell_batch = ClientMethod(calls.tell_batch)
    cancel = ClientMethod(calls.cancel)
    ticket = ClientMethod(calls.ticket)
    pause = ClientMethod(calls.pause)
    resume = ClientMethod(calls.resume)
    archive = ClientMethod(calls.archive)
    delete_problem = ClientMethod(calls.delete_problem)
    forget = ClientMethod(calls.forget)
    stats = ClientMethod(calls.stats)
    moves = ClientMethod(calls.moves)
    beliefs = ClientMethod(calls.beliefs)
    log = ClientMethod(calls.log)
    uplift = ClientMethod(calls.uplift)
    verify = ClientMethod(calls.verify)
    health = ClientMethod(calls.health)
    readiness = ClientMethod(calls.readiness)
    metrics = ClientMethod(calls.metrics)
    create_key = ClientMethod(calls.create_key)
    keys = ClientMethod(calls.keys)
    revoke_key = ClientMethod(calls.revoke_key)


class Client(ServiceMethods):
    __doc__ = f"""A client of the decision service. {ServiceMethods.__doc__}
    Example:
        >>> with Client("http://127.0.0.1:8080") as client:
        ...     problem = client.create_problem("prices", ["9", "12"], loss_range=(0, 12))
        ...     ticket = client.ask("prices")
        ...     counted = client.tell(ticket, reward=9).counted
        >>> problem.weights, ticket.probability, counted
        ({{'9': 0.5, '12': 0.5}}, 0.5, True)
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = 10.0,
        patience: Patience | None = None,
    ) -> None:
        self._patience, self._timeout = patience or Patience(), as_number(timeout, "timeout")
        self._http = httpx.Client(base_url=checked(url), headers=headers(key))

    def run(self, call: Call[T]) -> T:
        """Send a call, until the deadline of `patience`; returns its result or raises its error."""
        attempts = Attempts(call, self._patience, self._timeout)
        while attempts.goes_on:
            time.sleep(attempts.wait)
            with attempts.sending():
                answer = self._http.send(attempts.request(self._http), stream=True)
                with contextlib.closing(answer):
                    for part in answer.iter_bytes():
                        attempts.take(part)
                attempts.receive(answer)
        return attempts.result()

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class AsyncClient(ServiceMethods):
    __doc__ = f"A client for asyncio: each method is awaited. {ServiceMethods.__doc__}"

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = 10.0,
        patience: Patience | None = None,
    ) -> None:
        self._patience, self._timeout = patience or Patience(), as_number(timeout, "timeout")
        self._http = httpx.AsyncClient(base_url=checked(url), headers=headers(key))

    async def run(self, call: Call[T]) -> T:
        """Send a call, until the deadline of `patience`; returns its result or raises its error."""
        attempts = Attempts(call, self._patience, self._timeout)
        while attempts.goes_on:
            await asyncio.sleep(attempts.wait)
            with attempts.sending():
                request = attempts.request(self._http)
                async with asyncio.timeout(attempts.left):
                    answer = await self._http.send(request)
                attempts.take(answer.content)
                attempts.receive(answer)
        return attempts.result()

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()


def checked(url: str) -> str:
    """The address of a service; ValueError if it is not an HTTP URL."""
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"url is {url!r}; it must begin with http:// or https://")
    return url


def headers(key: str | None) -> dict[str, str]:
    """The headers of every request."""
    agent = {"User-Agent": f"belated/{__version__}"}
    return agent if key is None else {**agent, "Authorization": f"Bearer {key}"}
