"""Power failures played through: what a disk may hold that was never told to keep the rest.

A process runs under the recorder of power_loss.c. At any moment of its record, the disk surely
holds what was flushed; of what was written since then it may hold anything.
"""

import os
import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pytest

HEADER = struct.Struct("<cIQQ")
SECTOR = 512
SOURCE = Path(__file__).with_suffix(".c")
ACKNOWLEDGED = "acknowledged"
NOT_KEPT = ("-shm", ".lock")  # never flushed, and made anew


class Step(NamedTuple):
    """A write (w), truncation (t), flush (s) or removal (u)."""

    kind: str
    path: str
    offset: int
    data: bytes


@dataclass
class File:
    """What is surely on the disk, and what was done since; a new file may not even be there."""

    sure: bytearray = field(default_factory=bytearray)
    linked: bool = False
    since: list[Step] = field(default_factory=list)


def built_recorder(folder: Path) -> Path:
    """The recorder as a library; where there is no compiler, the test is skipped."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    library = folder / "power_loss.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-lpthread"]
    subprocess.run(command, check=True, capture_output=True)
    return library


def recording(library: Path, folder: Path, log: Path, **more: str) -> dict[str, str]:
    """The environment of a process that is to be recorded."""
    return {
        **os.environ,
        "LD_PRELOAD": str(library),
        "BELATED_FOLDER": str(folder),
        "BELATED_LOG": str(log),
        **more,
    }


def run_writer(store: Path, durability: str, batches: int, environment: dict[str, str]) -> None:
    """Write batches in a process of its own."""
    acknowledged = store.with_name(ACKNOWLEDGED)
    arguments = [str(store), durability, str(acknowledged), "0", str(batches)]
    command = [sys.executable, "-m", "tests.service.store.writer", *arguments]
    subprocess.run(command, check=True, env=environment, capture_output=True, timeout=300)


def steps_of(log: Path) -> Iterator[Step]:
    """What a process did, in its order."""
    content = log.read_bytes()
    place = 0
    while place < len(content):
        kind, name, offset, length = HEADER.unpack_from(content, place)
        place += HEADER.size
        path = content[place : place + name].decode()
        place += name
        size = length if kind == b"w" else 0
        yield Step(kind.decode(), path, offset, content[place : place + size])
        place += size


class Disk:
    """The files of a folder after some steps."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = {
            str(path): File(bytearray(path.read_bytes()), linked=True)
            for path in folder.iterdir()
            if not path.name.endswith(NOT_KEPT)
        }

    def take(self, step: Step) -> None:
        """Go on by one step."""
        if step.path == str(self.folder):
            for file in self.files.values():
                file.linked = True
        elif not step.path.endswith(NOT_KEPT):
            file = self.files.setdefault(step.path, File())
            if step.kind == "s":
                for earlier in file.since:
                    apply(file.sure, earlier)
                file.since.clear()
            else:
                file.since.append(step)

    def after_power_loss(self, chance: random.Random, into: Path) -> None:
        """Write the files as they may be found when the power is back."""
        kept = chance.choice([0.0, 0.5, 0.9])
        for name, file in self.files.items():
            content = bytearray(file.sure)
            for step in file.since:
                if chance.random() < kept:
                    apply(content, torn(step, chance))
            if file.linked or chance.random() < 0.5:
                (into / Path(name).name).write_bytes(content)


def torn(step: Step, chance: random.Random) -> Step:
    """A write of which only the first sectors arrived; most arrive whole."""
    if step.kind == "w" and chance.random() < 0.1:
        return step._replace(
            data=step.data[: SECTOR * chance.randrange(len(step.data) // SECTOR + 1)]
        )
    return step


def apply(content: bytearray, step: Step) -> None:
    """Do to a file's content what was done to the file."""
    if step.kind == "w":
        end = step.offset + len(step.data)
        content.extend(bytes(max(0, end - len(content))))
        content[step.offset : end] = step.data
    elif step.kind == "t":
        del content[step.offset :]
        content.extend(bytes(step.offset - len(content)))
    else:
        content.clear()
