"""Pages that talk to the service: their code runs against one that is started for them."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.server import Server, serving

pytestmark = pytest.mark.check
DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```py\n(.*?)^```", re.DOTALL | re.MULTILINE)
# What a visitor does with the app of the page on FastAPI.
VISITS = """
import asyncio


async def visits():
    for start in range(2):
        async with lifespan(app):
            first, again = await show("17"), await show("17")
            assert first == again
            assert await sold(first["ticket"]) == {"counted": start == 0}


asyncio.run(visits())
"""


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """A service with keys, and a key for its problem ads, as the page on Personalizer has it."""
    database = str(tmp_path_factory.mktemp("service") / "belated.db")
    command = [sys.executable, "-m", "belated", "keys", "create", "x", "-s", "admin:ads"]
    made = subprocess.run([*command, "--db", database], capture_output=True, text=True, check=True)
    with serving(database, "--log-level", "error") as server:
        yield server, made.stdout.strip()


@pytest.fixture(scope="module")
def open_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service that needs no key."""
    with serving(str(tmp_path_factory.mktemp("service") / "belated.db")) as server:
        yield server


def run(page: str, address: str, key: str = "unused", more: str = "") -> None:
    """Run the code of a page in a process of its own."""
    code = "\n".join(BLOCK.findall((DOCS / page).read_text()))
    assert code
    code = code.replace("http://127.0.0.1:8080", address) + more
    known = {"KEY": key, "BELATED_URL": address}
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, env={**os.environ, **known}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_tutorial_for_engineers(open_server: Server) -> None:
    """Its last step, with a service on this machine."""
    run("tutorials/engineers.md", open_server.address)


def test_the_app_that_uses_the_service(open_server: Server) -> None:
    """A repeated visit gets the same button, also after a restart, and a sale counts once."""
    run("guides/fastapi.md", open_server.address, more=VISITS)


def test_moving_from_personalizer(key: tuple[Server, str]) -> None:
    """The problem is created, and Microsoft's own client ranks and rewards."""
    pytest.importorskip("azure.ai.personalizer")
    server, word = key
    run("guides/from-personalizer.md", server.address, word)
