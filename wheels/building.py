"""Building the shared object: entries compiled in parallel processes, then linked with C code."""

import importlib.machinery
import importlib.util
import multiprocessing
import os
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

from belated.cli.learners import entries_of
from belated.compiled.entries import Entry
from belated.compiled.native import key_of
from belated.compiled.sources import hash_of
from belated.compiled.steps import shape_of
from belated.learners.registry import learner_named

# What numba must find in the environment when it is imported. It takes no features from the name.
BASELINE = {
    "NUMBA_CPU_NAME": "x86-64-v3",
    "NUMBA_CPU_FEATURES": "+avx,+avx2,+bmi,+bmi2,+cmov,+cx16,+cx8,+f16c,+fma,+fxsr,+lzcnt,+mmx,"
    "+movbe,+popcnt,+sahf,+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3,+x87,+xsave",
    "NUMBA_DISABLE_INTEL_SVML": "1",  # it computes other digits, and would be needed at run time
    "NUMBA_DISABLE_JIT": "0",
}
HERE = Path(__file__).parent
SOURCES = (HERE / "native.c", HERE / "helpers.c")
VISIBLE = "{ global: PyInit__native; local: *; };"
COMPILE = (
    *("cc", "-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra"),
    *("-Wno-unused-parameter", "-Wno-missing-field-initializers"),
)
LINK = ("cc", "-shared", "-Wl,--gc-sections", "-Wl,--strip-all", "-Wl,-z,now,-z,noexecstack")


class NativeStep(NamedTuple):
    """An entry as the C module lists it, the name of its C function, and its object file."""

    name: str
    layout: str
    width: int
    shape: str
    sources: str
    symbol: str
    code: bytes


class Progress(NamedTuple):
    """How many learners of how many are compiled, and which one was the last."""

    done: int
    total: int
    learner: str


def build(learners: list[str], target: Path, jobs: int | None = None) -> Iterator[Progress]:
    """Build the shared object with all steps of these learners, and yield what is done of it."""
    work = entries_by_learner(learners)
    steps: list[NativeStep] = []
    for done, (learner, compiled) in enumerate(compiled_in_parallel(work, jobs), 1):
        steps += compiled
        yield Progress(done, len(work), learner)
    with tempfile.TemporaryDirectory() as folder:
        link(sorted(steps), Path(folder), target)
    check(target, len(steps))


def entries_by_learner(learners: Iterable[str]) -> dict[str, list[Entry]]:
    """Return what is to be compiled for each learner, without what an earlier one has already."""
    seen: set[Any] = set()
    found: dict[str, list[Entry]] = {}
    for learner in learners:
        entries = {key_of(entry): entry for entry in entries_of(learner_named(learner))}
        found[learner] = [entry for key, entry in entries.items() if key not in seen]
        seen |= entries.keys()
    return found


def compiled_in_parallel(
    work: dict[str, list[Entry]], jobs: int | None
) -> Iterator[tuple[str, list[NativeStep]]]:
    """Yield the compiled steps of each learner as soon as they are there."""
    os.environ.update(BASELINE)  # for the processes that are started from now on
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs or os.cpu_count(), mp_context=context) as pool:
        waiting = {
            pool.submit(native_steps, entries, number): learner
            for number, (learner, entries) in enumerate(work.items())
        }
        for future in as_completed(waiting):
            if future.exception() is not None:
                pool.shutdown(cancel_futures=True)
                raise RuntimeError(f"{waiting[future]} cannot be compiled") from future.exception()
            yield waiting[future], future.result()


def native_steps(entries: list[Entry], number: int) -> list[NativeStep]:
    """Compile entries, in a process that was started with the baseline in its environment."""
    from wheels.objects import object_of

    steps = []
    for place, entry in enumerate(entries):
        symbol = f"step_{number}_{place}"
        code, sources = object_of(entry, symbol), hash_of(frozenset(entry.modules))
        steps.append(NativeStep(*key_of(entry), shape_of(entry.step), sources, symbol, code))
    return steps


def link(steps: list[NativeStep], folder: Path, target: Path) -> None:
    """Link the object files of all steps with the C module to a shared object."""
    (folder / "visible").write_text(VISIBLE)
    (folder / "steps.c").write_text(list_of(steps))
    objects = []
    for step in steps:
        objects.append(folder / f"{step.symbol}.o")
        objects[-1].write_bytes(step.code)
    include = (f"-I{HERE}", f"-I{sysconfig.get_path('include')}")
    for source in (folder / "steps.c", *SOURCES):
        objects.append(folder / f"{source.stem}.c.o")
        run(*COMPILE, *include, "-c", source, "-o", objects[-1])
    target.parent.mkdir(parents=True, exist_ok=True)
    run(*LINK, f"-Wl,--version-script={folder / 'visible'}", *objects, "-lm", "-o", target)


def list_of(steps: Iterable[NativeStep]) -> str:
    """Return the C source of the list of all steps."""
    declared, listed = [], []
    for step in steps:
        texts = ", ".join(f'"{text}"' for text in step[:2] + step[3:5])
        declared.append(f"void {step.symbol}(void);")
        listed.append(f"    {{{texts}, {step.width}, {step.symbol}}},")
    return "\n".join(
        ['#include "native.h"', *declared, "const Step STEPS[] = {", *listed, "    {0},", "};", ""]
    )


def run(*command: str | Path) -> None:
    """Run the C compiler; what it has to say is on standard error."""
    subprocess.run(command, check=True)


def check(target: Path, steps: int) -> None:
    """Load the shared object: an ImportError names what numba's code needs and nobody has."""
    loader = importlib.machinery.ExtensionFileLoader("belated._native", str(target.absolute()))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    assert len(module.steps()) == steps
