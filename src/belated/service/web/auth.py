"""Authentication: who sends a request, what the key allows, and how often it may be used."""

import hmac
import time
from collections.abc import Sequence
from typing import NamedTuple

from belated.service.admin.keys import ID_LETTERS, VERBS, hash_of
from belated.service.core.errors import ForbiddenError, RateLimitError, UnauthorizedError
from belated.service.store import ApiKey

MOST_BUCKETS = 10_000  # keys and hosts whose rates are remembered


class Principal(NamedTuple):
    """The caller: the id of the key, and the pairs (verb, problem) that it allows."""

    name: str
    scopes: frozenset[tuple[str, str]]

    def may(self, verb: str, problem: str) -> bool:
        """Whether the key allows this for a problem; who may admin it may ask and tell as well."""
        scopes = self.scopes
        return (
            (verb, problem) in scopes
            or (verb, "*") in scopes
            or ("admin", problem) in scopes
            or ("admin", "*") in scopes
        )

    def may_see(self, problem: str) -> bool:
        """Whether the key allows anything at all for a problem."""
        return any(self.may(verb, problem) for verb in VERBS)

    def listed(self) -> list[str]:
        """What the key allows, as scopes are written: ask:ads, admin:*."""
        return sorted(f"{verb}:{problem}" for verb, problem in self.scopes)

    def needs(self, verb: str, problem: str) -> None:
        """Raise ForbiddenError if the key does not allow this for a problem."""
        if not self.may(verb, problem):
            raise ForbiddenError(f"the key does not allow {verb} of {problem!r}")

    def needs_sight(self, problem: str) -> None:
        """Raise ForbiddenError if the key allows nothing for a problem."""
        if not self.may_see(problem):
            self.needs("admin", problem)

    def needs_all(self) -> None:
        """Raise ForbiddenError if the key does not allow admin of all problems."""
        if not self.may("admin", "*"):
            raise ForbiddenError("the key does not allow admin of everything")


EVERYBODY = Principal("-", frozenset((verb, "*") for verb in VERBS))


class Authenticator:
    """Knows the valid keys and limits their rates; without keys everybody may do everything."""

    def __init__(self, keys: Sequence[ApiKey] | None, rate: float) -> None:
        self._known: dict[str, list[tuple[str, Principal]]] | None = None
        self._buckets: dict[str, TokenBucket] = {}
        self._rate = rate
        if keys is not None:
            self.renew(keys)

    def renew(self, keys: Sequence[ApiKey]) -> None:
        """Replace the keys; revoked ones are not valid."""
        known: dict[str, list[tuple[str, Principal]]] = {}
        for key in keys:
            if key.revoked_at is None:
                pairs = (scope.partition(":") for scope in key.scopes)
                scopes = frozenset((verb, problem) for verb, _, problem in pairs)
                entry = (key.hash, Principal(key.hash[:ID_LETTERS], scopes))
                known.setdefault(key.hash[:ID_LETTERS], []).append(entry)
        self._known = known

    def admit(self, authorization: str, host: str) -> Principal:
        """The caller with this header, or an error: no valid key, or too many requests."""
        try:
            found = self._found(authorization)
        except UnauthorizedError:
            self._count(f"host {host}")
            raise
        self._count(f"host {host}" if found is EVERYBODY else found.name)
        return found

    def _found(self, authorization: str) -> Principal:
        if self._known is None:
            return EVERYBODY
        scheme, _, key = authorization.partition(" ")
        if scheme.lower() != "bearer" or not key:
            raise UnauthorizedError("a key is needed: send Authorization: Bearer KEY")
        hashed = hash_of(key.strip())
        for known, principal in self._known.get(hashed[:ID_LETTERS], ()):
            if hmac.compare_digest(known, hashed):
                return principal
        raise UnauthorizedError("the key is not valid, or was revoked")

    def _count(self, name: str) -> None:
        if self._rate <= 0:
            return
        bucket = self._buckets.get(name)
        if bucket is None:
            if len(self._buckets) >= MOST_BUCKETS:
                del self._buckets[next(iter(self._buckets))]
            bucket = self._buckets[name] = TokenBucket(self._rate)
        if not bucket.take():
            raise RateLimitError(f"more than {self._rate:g} requests a second; wait a little")


class TokenBucket:
    """Admits `rate` requests a second, and up to as many at once after a pause."""

    def __init__(self, rate: float) -> None:
        self._rate, self._left, self._at = rate, max(rate, 1.0), time.monotonic()

    def take(self) -> bool:
        """Whether one more request is admitted."""
        now = time.monotonic()
        self._left = min(max(self._rate, 1.0), self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True
