"""The client for JavaScript and TypeScript: compiled, and run by Node against a real service."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CLIENT = Path(__file__).parents[2] / "clients" / "typescript"
NPM = shutil.which("npm")


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
