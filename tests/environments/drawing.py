"""Draw whole games of a loss or delay process, in spans of any sizes."""

import inspect
from collections.abc import Iterator
from dataclasses import is_dataclass
from types import ModuleType

import numpy as np

from belated.arrays import Counts, Floats
from belated.environments.environment import DelayProcess, LossProcess, Span
from belated.environments.losses import Spread


def spans(rounds: int, sizes: tuple[int, ...]) -> Iterator[Span]:
    """All rounds, cut into spans of these sizes, which are repeated as needed."""
    first = turn = 0
    while first < rounds:
        count = min(sizes[turn % len(sizes)], rounds - first)
        yield Span(first, count, rounds)
        first, turn = first + count, turn + 1


def draw_losses(
    process: LossProcess, rounds: int, seed: int = 0, sizes: tuple[int, ...] = (10**9,)
) -> Floats:
    """All losses of a game; asserts that every span has the shape and type of the protocol."""
    sampler = process.sampler(np.random.default_rng(seed))
    blocks = []
    for span in spans(rounds, sizes):
        block = sampler(span)
        assert block.shape == (span.count, process.arms)
        assert block.dtype == np.float64
        assert block.flags.c_contiguous
        blocks.append(block.copy())
    losses = np.concatenate(blocks)
    low, high = (process.low, process.high) if isinstance(process, Spread) else (0.0, 1.0)
    assert ((losses >= low) & (losses <= high)).all()
    return losses


def draw_delays(
    process: DelayProcess, losses: Floats, seed: int = 0, sizes: tuple[int, ...] = (10**9,)
) -> Counts:
    """All delays of a game with these losses; asserts that the losses are not changed."""
    sampler = process.sampler(np.random.default_rng(seed))
    kept = losses.copy()
    blocks = []
    for span in spans(len(losses), sizes):
        block = sampler(span, losses[span.first : span.first + span.count])
        assert block.shape == (span.count, losses.shape[1])
        assert block.dtype == np.int64
        assert block.flags.c_contiguous
        blocks.append(block.copy())
    delays = np.concatenate(blocks)
    assert (delays >= -1).all()
    assert np.array_equal(losses, kept)
    return delays


def processes_of(*modules: ModuleType) -> set[type]:
    """The classes of loss and delay processes that these modules define."""
    return {
        kind
        for module in modules
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if is_dataclass(kind) and kind.__module__ == module.__name__ and hasattr(kind, "sampler")
    }
