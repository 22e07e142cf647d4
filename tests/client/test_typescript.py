"""The client for JavaScript and TypeScript: compiled, and run by Node against a real service."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import belated
from belated.client.clients import ClientMethod, ServiceMethods

CLIENT = Path(__file__).parents[2] / "clients" / "typescript"
NPM = shutil.which("npm")


# Tests of the Python client that are about what only it has.
PYTHON_ONLY = {"asyncio does the same", "the client is light"}
# Tests that have another name there.
NAMED_THERE = {
    "refusals are the errors of the library": "refusals are errors of one kind each",
    "nothing is decided twice while the server is killed":
        "nothing is decided twice while the service is killed",
}  # fmt: skip


def test_both_clients_have_the_same_methods() -> None:
    """In the manner of each language: create_problem is createProblem."""
    text = (CLIENT / "src" / "client.ts").read_text()
    theirs = set(re.findall(r"^  (?:async )?([a-z]\w*)\(", text, re.M)) - {"constructor"}
    own = {name for name, each in vars(ServiceMethods).items() if isinstance(each, ClientMethod)}
    camel = {re.sub(r"_(\w)", lambda match: match[1].upper(), name) for name in own}
    assert theirs == camel


def test_both_clients_pass_the_same_list_of_tests() -> None:
    """Each test of the one has its counterpart in the other, by its name."""
    python = (Path(__file__).parent / "test_client.py").read_text()
    ours = {name.replace("_", " ") for name in re.findall(r"^def test_(\w+)", python, re.M)}
    texts = "".join(each.read_text() for each in (CLIENT / "test").glob("*.test.ts"))
    theirs = set(re.findall(r'^test\("(.+?)"', texts, re.M))
    assert {NAMED_THERE.get(name, name) for name in ours - PYTHON_ONLY} <= theirs


def test_the_typescript_client_has_the_version_of_the_package() -> None:
    """Both are released together."""
    assert json.loads((CLIENT / "package.json").read_text())["version"] == belated.__version__


@pytest.mark.check
@pytest.mark.skipif(NPM is None, reason="there is no npm")
def test_the_typescript_client_passes_its_tests(tmp_path: Path) -> None:
    """In a copy, so that nothing is left in the clone; its tests start the service themselves."""
    folder = tmp_path / "client"
    left_out = shutil.ignore_patterns("node_modules", "build", "dist")
    shutil.copytree(CLIENT, folder, ignore=left_out)
    environment = {**os.environ, "BELATED_PYTHON": sys.executable}
    for arguments in (["install", "--no-audit", "--no-fund"], ["test"], ["pack", "--dry-run"]):
        run = subprocess.run(
            [NPM or "npm", *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=900,
        )
        assert run.returncode == 0, f"npm {arguments[0]}: {run.stdout}\n{run.stderr}"
        if arguments == ["test"]:
            assert "fail 0" in run.stdout, run.stdout
