"""The files of docs/deploy: they name what exists, and their steps work as far as a machine allows.

There need be no Docker: `test_the_steps_of_the_image` carries out the steps of the Dockerfile in
two fresh environments, with stand-ins for what only a container may do.
"""

import fnmatch
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from belated.cli import main

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "docs" / "deploy"
DOCKERFILE = DEPLOY / "Dockerfile"
OK = 5.0  # systemd calls an exposure below this OK
LEARNERS = "exp3"
ABSOLUTE = re.compile(r"(?<![\w/.:])/(dist|data|source)\b")
STAND_INS = ("apt-get", "useradd", "chown")  # what a test does not do to the machine
LISTS = "rm -rf /var/lib/apt/lists/*"
SECONDS = 120


class Step(NamedTuple):
    """An instruction of a Dockerfile and what follows it."""

    name: str
    rest: str


def stages() -> list[list[Step]]:
    """The steps of each stage of the Dockerfile, which begins with FROM."""
    text = re.sub(r"(?m)^\s*#.*\n", "", DOCKERFILE.read_text())
    found: list[list[Step]] = []
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        if line.strip():
            step = Step(*line.split(maxsplit=1))
            if step.name == "FROM":
                found.append([])
            found[-1].append(step)
    return found


def is_sent(path: str) -> bool:
    """Whether a file or folder of the clone gets into the build, by the file of what is ignored."""
    sent = True
    for line in (DEPLOY / "Dockerfile.dockerignore").read_text().split():
        pattern = line.lstrip("!")
        if fnmatch.fnmatch(path, pattern):
            sent = line.startswith("!")
    return sent


def check_options(arguments: list[str]) -> None:
    """Have the command line read a command without carrying it out; it fails on a wrong option."""
    name, *rest = arguments
    command = main.get_command(main.make_context("belated", [name], resilient_parsing=True), name)
    assert command is not None, name
    command.make_context(name, rest)


def test_the_image_is_made_of_what_there_is() -> None:
    """Files that exist and are sent, options that exist, and a check of readiness."""
    steps = [step for stage in stages() for step in stage]
    for step in steps:
        if step.name == "COPY" and not step.rest.startswith("--from="):
            for source in step.rest.split()[:-1]:
                assert (ROOT / source).exists(), source
                assert is_sent(source), source
    assert not is_sent("dist")
    assert not is_sent(".venv")
    (check,) = [step.rest for step in steps if step.name == "HEALTHCHECK"]
    assert "--start-period=" in check
    assert "/readyz" in check
    (command,) = [step.rest for step in steps if step.name == "CMD"]
    check_options(json.loads(command))


def test_the_composition_is_made_of_what_there_is() -> None:
    """It is built by the Dockerfile beside it, and keeps its data in a volume that it declares."""
    found = yaml.safe_load((DEPLOY / "compose.yml").read_text())
    service, database = found["services"]["belated"], found["services"]["postgres"]
    assert (DEPLOY / service["build"]["context"]).resolve() == ROOT
    assert (ROOT / service["build"]["dockerfile"]).resolve() == DOCKERFILE
    check_options(service["command"])
    assert service["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    volume = database["volumes"][0].partition(":")[0]
    assert volume in found["volumes"]


def test_the_unit_is_made_of_what_there_is() -> None:
    """Its command has options that exist."""
    unit = (DEPLOY / "belated.service").read_text()
    (command,) = re.findall(r"(?m)^ExecStart=/opt/belated/bin/belated (.*)$", unit)
    check_options(command.split())


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
def test_the_unit_is_exposed_to_little() -> None:
    """By the measure of systemd, which calls it OK."""
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", str(DEPLOY / "belated.service")],
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
    assert found is not None, done.stderr
    assert float(found[1]) < OK


class Stage:
    """A stage of the image as a folder with an environment of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.work = folder, folder
        self.variables: dict[str, str] = {}
        venv.create(folder / "env", with_pip=True)
        for name in STAND_INS:
            script = folder / "env" / "bin" / name
            script.write_text("#!/bin/sh\n")
            script.chmod(0o755)

    def here(self, text: str) -> str:
        """A text whose absolute paths lead into the folder."""
        return ABSOLUTE.sub(lambda found: f"{self.folder}{found[0]}", text)

    def carry_out(self, step: Step, build: Path | None) -> None:
        """Do what a step says; COPY --from copies from the folder `build`."""
        if step.name == "WORKDIR":
            self.work = Path(self.here(step.rest))
            self.work.mkdir()
        elif step.name == "COPY":
            self._copy(step.rest, build)
        elif step.name in ("ENV", "ARG"):
            name, _, value = step.rest.partition("=")
            self.variables[name] = self.here(value.strip('"'))
        elif step.name == "RUN":
            self.run(["bash", "-ec", self.here(step.rest.replace(LISTS, "true"))])

    def _copy(self, rest: str, build: Path | None) -> None:
        *sources, target = rest.removeprefix("--from=build ").split()
        for source in sources:
            found = Path(f"{build}{source}") if rest.startswith("--from") else ROOT / source
            place = Path(self.here(target))
            if found.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "*.so")
                shutil.copytree(found, self.work / place, ignore=ignored)
            else:
                shutil.copy(found, self.work / place)

    def run(self, command: list[str]) -> str:
        """Run a command in the stage; returns what it prints."""
        done = subprocess.run(
            command, cwd=self.work, env=self.environment, capture_output=True, text=True
        )
        assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
        return done.stdout

    @property
    def environment(self) -> dict[str, str]:
        """The variables of the stage."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("BELATED_", "PYTHON", "VIRTUAL_ENV"))
        }
        return {**kept, "PATH": f"{self.folder}/env/bin:{os.environ['PATH']}", **self.variables}


@pytest.mark.check
@pytest.mark.skipif(sys.platform != "linux", reason="the image is for Linux")
def test_the_steps_of_the_image(tmp_path: Path) -> None:
    """Built from the clone, with native learners and no compiler; it serves and is healthy."""
    build, image = Stage(tmp_path / "build"), Stage(tmp_path / "image")
    first, second = stages()
    for step in first:
        build.carry_out(step, None)
        if step.name == "ARG":
            build.variables["LEARNERS"] = LEARNERS
    for step in second:
        image.carry_out(step, build.folder)
    assert "numba" not in image.run(["python", "-m", "pip", "list"])
    key = image.run(["belated", "keys", "create", "first", "-s", "admin:*", "-s", "ask:*"]).strip()
    with serving(image, {step.name: step.rest for step in second}) as port:
        script = f"""
from belated.client import Client
client = Client("http://127.0.0.1:{port}", {key!r})
client.create_problem("ads", ["red", "green"], learner="exp3")
print(client.ask("ads").arm)
"""
        assert image.run(["python", "-c", script]).strip() in ("red", "green")


@contextmanager
def serving(image: Stage, steps: dict[str, Any]) -> Iterator[int]:
    """Run the image's command until its own check says that it is healthy; yields the port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [*json.loads(steps["ENTRYPOINT"]), *json.loads(steps["CMD"]), "--port", str(port)]
    check = json.loads(steps["HEALTHCHECK"].partition("CMD ")[2].replace("8080", str(port)))
    environment = image.environment
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        until = time.monotonic() + SECONDS
        while subprocess.run(check, env=environment, capture_output=True, check=False).returncode:
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.2)
        yield port
    finally:
        process.terminate()
        _, log = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, log
