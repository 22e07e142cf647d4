"""Requests that a web page of somebody else made a browser send, and how they are refused.

A browser sends requests of any page to any address, this machine's own included, and a page can
give its own name the address of this machine. Where keys are needed such a request fails, since the
page does not know one. Without keys the headers that a page cannot change must tell: the name it
used for this machine (Host), and where it comes from (Origin, Sec-Fetch-Site).
"""

import functools
import ipaddress
import re
from collections.abc import Mapping

from belated.service.core.errors import ForbiddenError, MediaTypeError
from belated.service.core.texts import shown

OWN_PAGE = (b"same-origin", b"none")  # values of Sec-Fetch-Site; none: a person typed the address
HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]+)(:[0-9]{1,5})?")
JSON = re.compile(rb"application/(json|[a-z0-9.+-]+\+json)\s*(;.*)?", re.IGNORECASE)


def check_host(headers: Mapping[bytes, bytes]) -> None:
    """Refuse a request to a name that is not this machine's for itself."""
    host = headers.get(b"host", b"").decode("latin-1")
    if not is_own_host(host):
        raise ForbiddenError(
            f"Host is {shown(host)}; without keys the service answers only to localhost, "
            "127.0.0.1 and [::1]"
        )


def check_own_page(headers: Mapping[bytes, bytes]) -> None:
    """Refuse a request of a page that is not the service's own; other programs send no Origin."""
    origin = headers.get(b"origin")
    host = headers.get(b"host", b"")
    if origin is not None and origin not in (b"http://" + host, b"https://" + host):
        raise ForbiddenError(
            f"Origin is {shown(origin.decode('latin-1'))}; without keys the service answers no "
            "pages but its own"
        )
    if headers.get(b"sec-fetch-site", b"none") not in OWN_PAGE:
        raise ForbiddenError(
            "a page of another origin has sent this; without keys the service answers no pages "
            "but its own"
        )


def check_media_type(headers: Mapping[bytes, bytes]) -> None:
    """Refuse a body that is not declared as JSON: a page may send any other kind to anybody."""
    if has_no_body(headers):
        return
    kind = headers.get(b"content-type", b"")
    if not JSON.fullmatch(kind):
        said = f"is {shown(kind.decode('latin-1'))}" if kind else "is not given"
        raise MediaTypeError(f"Content-Type {said}; a body must be sent as application/json")


def has_no_body(headers: Mapping[bytes, bytes]) -> bool:
    """Whether the headers of a request say that it has no body."""
    return headers.get(b"content-length", b"0") == b"0" and b"transfer-encoding" not in headers


@functools.lru_cache(maxsize=64)
def is_own_host(host: str) -> bool:
    """Whether a Host header, with or without a port, is a name of this machine for itself."""
    found = HOST.fullmatch(host.lower())
    return found is not None and is_loopback(found[1].strip("[]"))


def is_loopback(host: str) -> bool:
    """Whether a host is this machine itself, which no other machine can reach."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
