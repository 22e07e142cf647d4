"""The two clients: the same verbs, at once or to be awaited."""

import asyncio
import functools
import time
from collections.abc import Callable, Coroutine
from typing import Any, Generic, ParamSpec, Self, TypeVar, overload

import httpx

from belated import __version__
from belated.client import calls
from belated.client.calls import Call
from belated.client.retrying import Attempts, Patience

P = ParamSpec("P")
T = TypeVar("T")


class Verb(Generic[P, T]):
    """A method of both clients, made of the function that makes its call."""

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


class Verbs:
    """What can be asked of the service.

    `url` is where it listens; `key` one made by `belated keys create`. Every request may take
    `timeout` seconds, and is sent again as `patience` says if the service cannot be reached or
    cannot commit: decisions are asked for under the same Idempotency-Key, and a ticket is told
    once, so nothing is decided or counted twice.
    """

    create_problem = Verb(calls.create_problem)
    problems = Verb(calls.problems)
    problem = Verb(calls.problem)
    change_arms = Verb(calls.change_arms)
    ask = Verb(calls.ask)
    ask_batch = Verb(calls.ask_batch)
    tell = Verb(calls.tell)
    tell_batch = Verb(calls.tell_batch)
    cancel = Verb(calls.cancel)


class Client(Verbs):
    __doc__ = f"A client that waits for each answer. {Verbs.__doc__}"

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = 10.0,
        patience: Patience | None = None,
    ) -> None:
        self._patience = patience or Patience()
        self._http = httpx.Client(base_url=checked(url), headers=headers(key), timeout=timeout)

    def run(self, call: Call[T]) -> T:
        """What the service answers to a call."""
        attempts = Attempts(call, self._patience)
        while attempts.goes_on:
            time.sleep(attempts.wait)
            with attempts.listening():
                attempts.hear(self._http.send(attempts.request(self._http)))
        return attempts.result()

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class AsyncClient(Verbs):
    __doc__ = f"A client for asyncio: every verb is awaited. {Verbs.__doc__}"

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = 10.0,
        patience: Patience | None = None,
    ) -> None:
        self._patience = patience or Patience()
        self._http = httpx.AsyncClient(base_url=checked(url), headers=headers(key), timeout=timeout)

    async def run(self, call: Call[T]) -> T:
        """What the service answers to a call."""
        attempts = Attempts(call, self._patience)
        while attempts.goes_on:
            await asyncio.sleep(attempts.wait)
            with attempts.listening():
                attempts.hear(await self._http.send(attempts.request(self._http)))
        return attempts.result()

    async def close(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()


def checked(url: str) -> str:
    """Where the service listens, if it can be there."""
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"url is {url!r}; it must begin with http:// or https://")
    return url


def headers(key: str | None) -> dict[str, str]:
    """What is sent with every request."""
    agent = {"User-Agent": f"belated/{__version__}"}
    return agent if key is None else {**agent, "Authorization": f"Bearer {key}"}
