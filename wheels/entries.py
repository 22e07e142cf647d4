"""Which steps a learner needs, and for which kinds of records they are compiled.

The kind of a record is what its arrays look like apart from their lengths, so that a learner of
three arms stands for those with any number of arms.
"""

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

ARMS = 3
ROUNDS = 100  # for what a learner must be told beforehand, such as the horizon


@dataclass(frozen=True)
class Entry:
    """A step, the shape of its arguments, and a record of the kind that it is compiled for."""

    shape: str
    step: Any
    record: Any
    width: int

    @property
    def name(self) -> str:
        """The module and the function of the step."""
        function = getattr(self.step, "py_func", self.step)
        return f"{function.__module__}.{function.__qualname__}"


def entries_of(name: str) -> Iterator[Entry]:
    """Yield all steps of the learner of this name: those of ask and tell, and the engine's."""
    kind = importlib.import_module("belated.learners.registry").learner_named(name)
    needs = importlib.import_module("belated.learners.needs")
    options = needs.needed_options(kind, lambda need: ROUNDS)
    yield from asked_and_told(kind(ARMS, **options))
    if name == "concealed":
        many = importlib.import_module("belated.learners.paper.many_arms").FEWEST_ARMS
        yield from asked_and_told(kind(many, **options))


def asked_and_told(learner: Any) -> Iterator[Entry]:
    """Yield the steps of ask and tell."""
    from belated.asktell.runners import runner_for
    from belated.compiled import records
    from belated.numerics.random_stream import seeded

    records.Handle.entry = lambda self, step, *others, keep=True: step
    state = learner.reserved(learner.start(), ROUNDS)
    runner = runner_for(learner, state, seeded(np.random.SeedSequence(1)))
    steps, record = runner.steps, runner.workspace
    width = record.plays.shape[1]
    suffix = "" if steps.is_bandit else " experts"
    yield Entry(f"ask{suffix}", steps.ask, record, width)
    yield Entry(f"tell{suffix}", steps.tell, record, width)


def layout_key(record: Any) -> str:
    """Describe a kind of record."""
    if record is None:
        return "none:0"
    if isinstance(record, np.ndarray):
        return f"{record.dtype.name}:{record.ndim}"
    kind = type(record)
    parts = ", ".join(layout_key(part) for part in record)
    return f"{kind.__module__}.{kind.__qualname__}({parts})"


def compiled_result(entry: Entry) -> Any:
    """Let numba compile a step; returns its compile result."""
    from belated.compiled.records import HandleType, typeof
    from wheels.shapes import BY_NAME

    shape = BY_NAME[entry.shape]
    kinds = (HandleType(typeof(entry.record), entry.width), *shape.kinds(entry.width))
    entry.step.compile(kinds)
    return entry.step.overloads[kinds]


def sources_of(entry: Entry) -> str:
    """The hash of the sources that a step is compiled from."""
    from belated.compiled.jit import source_hash

    return source_hash()
