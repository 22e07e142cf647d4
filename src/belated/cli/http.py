"""A service that is running, spoken to over HTTP."""

import json
import urllib.error
import urllib.request
from typing import Any

import click

from belated.cli.console import OneLineError

server_option = click.option(
    "--server",
    envvar="BELATED_SERVER",
    help="A service that is running, as http://127.0.0.1:8080, instead of --db.",
)
key_option = click.option(
    "--key", envvar="BELATED_KEY", help="The key for --server; better in the variable BELATED_KEY."
)


def call(
    server: str, key: str | None, method: str, path: str, body: Any = None, seconds: float = 60.0
) -> Any:
    """What the service answers; what it refuses becomes one line."""
    if not server.startswith(("http://", "https://")):
        raise OneLineError(f"--server is {server!r}; it must begin with http:// or https://")
    headers = {"Content-Type": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server.rstrip("/") + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise OneLineError(sentence(error)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise OneLineError(f"{server} cannot be reached: {reason}") from None


def sentence(error: urllib.error.HTTPError) -> str:
    """Why the service refused."""
    try:
        return str(json.load(error)["detail"])
    except (ValueError, KeyError, TypeError):
        return f"the service answered {error.code} {error.reason}"
