"""Build the shared object: all learners in parallel processes, then one link with the C module."""

import multiprocessing
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from wheels.objects import BASELINE

HERE = Path(__file__).parent
SOURCES = ("native.c", "helpers.c")
VISIBLE = "{ global: PyInit__native; local: *; };"
COMPILE = ("-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror")
COMPILE += ("-Wno-unused-parameter", "-Wno-cast-function-type", "-Wno-missing-field-initializers")
LINK = ("-shared", "-Wl,--gc-sections", "-Wl,--strip-all", "-Wl,-z,now", "-Wl,-z,noexecstack")


class Built(NamedTuple):
    """One compiled step: its place in the list of steps, and its object file."""

    name: str
    shape: str
    layout: str
    sources: str
    width: int
    symbol: str
    code: bytes


def build(learners: Iterable[str], target: Path, jobs: int | None = None) -> list[Built]:
    """Build the shared object with the steps of these learners; returns what is in it."""
    steps: dict[tuple[str, str, int], Built] = {}
    for each in built(list(learners), jobs or os.cpu_count() or 1):
        steps.setdefault((each.name, each.layout, each.width), each)
    ordered = [steps[key] for key in sorted(steps)]
    with tempfile.TemporaryDirectory() as folder:
        link(ordered, Path(folder), target)
    return ordered


def built(learners: list[str], jobs: int) -> Iterator[Built]:
    """Compile each learner in a process of its own, several at once, and say how far it is."""
    os.environ.update(BASELINE)  # the processes that are started read it
    context = multiprocessing.get_context("spawn")
    started = time.monotonic()
    with ProcessPoolExecutor(jobs, mp_context=context, max_tasks_per_child=1) as pool:
        waiting = {pool.submit(compiled_learner, name, k): name for k, name in enumerate(learners)}
        for done, future in enumerate(as_completed(waiting), 1):
            yield from future.result()
            seconds = time.monotonic() - started
            line = f"{done}/{len(waiting)} {waiting[future]}, {seconds:.0f} s"
            print(f"belated: compiled {line}", file=sys.stderr, flush=True)


def compiled_learner(name: str, number: int) -> list[Built]:
    """Compile all steps of a learner, in a process that was started with the baseline set."""
    from wheels import entries
    from wheels.objects import object_of
    from wheels.shapes import BY_NAME

    found = []
    for k, entry in enumerate(entries.entries_of(name)):
        symbol = f"belated_step_{number}_{k}"
        code = object_of(entries.compiled_result(entry), BY_NAME[entry.shape], symbol)
        layout, sources = entries.layout_key(entry.record), entries.sources_of(entry)
        found.append(Built(entry.name, entry.shape, layout, sources, entry.width, symbol, code))
    return found


def link(steps: list[Built], folder: Path, target: Path) -> None:
    """Link the objects of all steps with the C module to a shared object."""
    objects = []
    for step in steps:
        path = folder / f"{step.symbol}.o"
        path.write_bytes(step.code)
        objects.append(path)
    table = folder / "steps.c"
    table.write_text(table_of(steps))
    include = (f"-I{HERE}", f"-I{sysconfig.get_path('include')}")
    for source in (table, *(HERE / name for name in SOURCES)):
        path = folder / f"{source.stem}.c.o"
        run("cc", *COMPILE, *include, "-c", source, "-o", path)
        objects.append(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    visible = folder / "visible"
    visible.write_text(VISIBLE)
    run("cc", *LINK, f"-Wl,--version-script={visible}", *objects, "-lm", "-o", target)


def table_of(steps: Iterable[Built]) -> str:
    """The generated C file with the list of all steps."""
    lines = ['#include "native.h"']
    lines += [f"int64_t {step.symbol}();" for step in steps]
    lines.append("__attribute__((visibility(\"hidden\"))) const Step STEPS[] = {")
    for step in steps:
        texts = ", ".join(f'"{text}"' for text in (step.name, step.shape, step.layout, step.sources))
        lines.append(f"    {{{texts}, {step.width}, (void *){step.symbol}}},")
    return "\n".join([*lines, "    {0},", "};", ""])


def run(*command: str | Path) -> None:
    """Run a command of the C compiler; if it fails, its messages are on standard error."""
    subprocess.run(command, check=True)
