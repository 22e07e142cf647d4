"""docs/service.md: all that it shows is typed into a shell, and answers as the page says."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from belated.service.core.errors import RequestError
from belated.service.run.app import Settings, create_app
from tests.service.server import PLAIN

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "service.md").read_text()
FENCE = re.compile(r"^```(sh|py|json|text)\n(.*?)^```", re.DOTALL | re.MULTILINE)
EXACT = ("status", "type", "state", "counted", "kind", "learner", "eventId")
MARK = "---- block "
SECONDS = 600


class Block(NamedTuple):
    """What a reader types, and what the page says comes of it."""

    code: str
    expected: str | None
    kind: str | None


def blocks() -> list[Block]:
    """The blocks of the page in order."""
    found: list[Block] = []
    for language, text in FENCE.findall(PAGE):
        if language in ("sh", "py"):
            code = (
                text if language == "sh" else f"python3 - <<'END_OF_PYTHON'\n{text}END_OF_PYTHON\n"
            )
            found.append(Block(code, None, None))
        else:
            found[-1] = found[-1]._replace(expected=text, kind=language)
    return found


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What each block prints, in one shell, with another port than the page's."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "bin").mkdir()
    for name, command in (("belated", "-m belated "), ("python3", "")):
        script = folder / "bin" / name
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {command}"$@"\n')
        script.chmod(0o755)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    lines = ["set -eu"]
    for number, block in enumerate(blocks()):
        lines += [f"echo; echo '{MARK}{number}'", block.code]
    script = "\n".join(lines).replace("127.0.0.1:8080", f"127.0.0.1:{port}")
    script = script.replace("belated serve &", f"belated serve --port {port} 2> log &")
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    shell = subprocess.Popen(
        ["bash", "-c", script],
        cwd=folder,
        env={**os.environ, **PLAIN, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = shell.communicate(timeout=SECONDS)
    finally:
        end(shell)
    assert shell.returncode == 0, (out[-2000:], err, (folder / "log").read_text())
    return [part.partition("\n")[2].strip() for part in out.split(MARK)[1:]]


def end(shell: subprocess.Popen[str]) -> None:
    """Make sure that nothing of it goes on, whatever happened."""
    if shell.returncode != 0:
        os.killpg(shell.pid, signal.SIGKILL)
        shell.wait()


@pytest.mark.parametrize("number", range(len(blocks())))
def test_the_page_shows_what_happens(outputs: list[str], number: int) -> None:
    """JSON has the form that is shown, and text is the same."""
    block, output = blocks()[number], outputs[number]
    if block.kind == "json":
        assert block.expected is not None
        assert form(json.loads(output)) == form(json.loads(block.expected)), output
    elif block.kind == "text":
        assert block.expected is not None
        assert output == block.expected.strip()


def form(value: Any) -> Any:
    """Names and kinds, and some values; a list is taken to be like its first entry."""
    if isinstance(value, dict):
        return {name: each if name in EXACT else form(each) for name, each in value.items()}
    if isinstance(value, list):
        return [form(value[0])] if value else []
    return "number" if type(value) in (int, float) else type(value).__name__


def test_every_route_is_on_the_page() -> None:
    """And every address that is called on the page is a route."""
    document = create_app(Settings("memory:")).openapi()
    routes = {
        (method.upper(), path) for path, verbs in document["paths"].items() for method in verbs
    }
    called = {
        next(
            ((verb, route) for verb, route in routes if verb == method and fits(route, path)), path
        )
        for method, path in calls()
    }
    assert called - {"/openapi.json"} == routes


def calls() -> set[tuple[str, str]]:
    """The method and path of each curl on the page."""
    found = set()
    for language, text in FENCE.findall(PAGE):
        for line in re.findall(r"curl .*", text) if language == "sh" else ():
            address = re.search(r"\$(url|base)(/[^\s\"|)?]*)", line)
            assert address is not None, line
            path = ("/v1/problems/ads" if address[1] == "base" else "") + address[2]
            given = re.search(r"-X ([A-Z]+)", line)
            found.add((given[1] if given else "POST" if "--json" in line else "GET", path))
    return found


def fits(route: str, path: str) -> bool:
    """Whether a path is one of a route."""
    return re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", route), path) is not None


def test_every_refusal_is_in_the_table() -> None:
    """With its status and its type."""
    for kind in RequestError.__subclasses__():
        assert f"| {kind.status} | `{kind.kind}` |" in PAGE
