"""The command line as a user runs it, and the one line that bad input gets."""

import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner, Result

from belated.cli import main

ROOT = Path(__file__).parents[2]


def belated(
    *arguments: object, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return run_module("belated", *arguments, cwd=cwd, **environment)


def run_module(
    module: str, *arguments: object, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `python -m module` in a process of its own; modules of the clone are found, too."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment}
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=env, timeout=300)


def complaint(*arguments: object) -> str:
    """The one line that the command answers bad input with."""
    return complaint_in(CliRunner().invoke(main, [str(argument) for argument in arguments]))


def complaint_in(run: Result) -> str:
    """The one line on standard error of a command that was refused with exit code 2."""
    assert run.exit_code == 2, run.output
    assert run.stdout == ""
    lines = run.stderr.strip().splitlines()
    assert len(lines) == 1, run.stderr
    assert lines[0].startswith("Error: ")
    return lines[0]
