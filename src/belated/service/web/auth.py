"""Who may do what: API keys, known by their hashes, and how often each may ask."""

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Sequence
from typing import NamedTuple

from belated.service.core.errors import Forbidden, TooMany, Unauthorized
from belated.service.core.problems import NAME
from belated.service.store import Key

VERBS = ("ask", "tell", "admin")
PREFIX = "belated_"
SHOWN = 12  # letters of its hash by which a key is named
SCOPE = re.compile(rf"({'|'.join(VERBS)}):(\*|{NAME.pattern})")
MOST_BUCKETS = 10_000


class Principal(NamedTuple):
    """Whoever asks: the name of the key, and what it may do."""

    name: str
    scopes: frozenset[tuple[str, str]]

    def may(self, verb: str, problem: str) -> bool:
        """Whether this may be done to a problem."""
        return (verb, problem) in self.scopes or (verb, "*") in self.scopes

    def may_see(self, problem: str) -> bool:
        """Whoever may do anything to a problem may look at it."""
        return any(self.may(verb, problem) for verb in VERBS)

    def needs(self, verb: str, problem: str) -> None:
        """Refuse what the key does not allow."""
        if not self.may(verb, problem):
            raise Forbidden(f"the key does not allow {verb} of {problem!r}")

    def needs_all(self) -> None:
        """Refuse whoever does not administer everything."""
        if not self.may("admin", "*"):
            raise Forbidden("the key does not allow admin of everything")


EVERYBODY = Principal("-", frozenset((verb, "*") for verb in VERBS))


def new_key() -> str:
    """A key with 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def hash_of(key: str) -> str:
    """What is stored of a key; as it has so many random bits, a plain hash is enough."""
    return hashlib.sha256(key.encode()).hexdigest()


def checked_scopes(scopes: Sequence[str]) -> list[str]:
    """Scopes such as ask:ads, tell:* and admin:*."""
    for scope in scopes:
        if not SCOPE.fullmatch(scope):
            raise ValueError(
                f"scope is {scope!r}; it must read ask:PROBLEM, tell:PROBLEM or admin:PROBLEM, "
                "with * for all problems"
            )
    if not scopes:
        raise ValueError("there are no scopes; a key must allow something")
    return sorted(set(scopes))


class Guard:
    """Knows the valid keys; None: everybody may do everything."""

    def __init__(self, keys: Sequence[Key] | None, rate: float) -> None:
        self._known: dict[str, list[tuple[str, Principal]]] | None = None
        self._buckets: dict[str, Bucket] = {}
        self._rate = rate
        if keys is not None:
            self.renew(keys)

    def renew(self, keys: Sequence[Key]) -> None:
        """These are the keys now."""
        known: dict[str, list[tuple[str, Principal]]] = {}
        for key in keys:
            if key.revoked_at is None:
                pairs = (scope.partition(":") for scope in key.scopes)
                scopes = frozenset((verb, problem) for verb, _, problem in pairs)
                entry = (key.hash, Principal(key.hash[:SHOWN], scopes))
                known.setdefault(key.hash[:SHOWN], []).append(entry)
        self._known = known

    def admit(self, authorization: str, host: str) -> Principal:
        """Whoever sent this, if the key is valid and it is not too often."""
        try:
            found = self._found(authorization)
        except Unauthorized:
            self._count(f"host {host}")
            raise
        self._count(f"host {host}" if found is EVERYBODY else found.name)
        return found

    def _found(self, authorization: str) -> Principal:
        if self._known is None:
            return EVERYBODY
        scheme, _, key = authorization.partition(" ")
        if scheme.lower() != "bearer" or not key:
            raise Unauthorized("a key is needed: send Authorization: Bearer KEY")
        hashed = hash_of(key.strip())
        for known, principal in self._known.get(hashed[:SHOWN], ()):
            if hmac.compare_digest(known, hashed):
                return principal
        raise Unauthorized("the key is not valid, or was revoked")

    def _count(self, name: str) -> None:
        if self._rate <= 0:
            return
        bucket = self._buckets.get(name)
        if bucket is None:
            if len(self._buckets) >= MOST_BUCKETS:
                del self._buckets[next(iter(self._buckets))]
            bucket = self._buckets[name] = Bucket(self._rate)
        if not bucket.take():
            raise TooMany(f"more than {self._rate:g} requests a second; wait a little")


class Bucket:
    """Lets through so many a second, and as many at once after a quiet second."""

    def __init__(self, rate: float) -> None:
        self._rate, self._left, self._at = rate, max(rate, 1.0), time.monotonic()

    def take(self) -> bool:
        """Whether one more may pass."""
        now = time.monotonic()
        self._left = min(max(self._rate, 1.0), self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True
