"""The environment: an oblivious adversary, which fixes every loss and delay before the game.

An environment combines a loss process and a delay process over the same rounds and arms. It draws
them in blocks of consecutive rounds, each when it is needed, so that no array of all rounds and
arms need fit in memory. A seed always gives the same game, to all learners that play it.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from belated.arrays import Counts, Floats
from belated.checks import (
    MOST_ROUNDS,
    SUMS_TO_ONE,
    LossRange,
    as_count,
    as_range,
    checked_prior,
)
from belated.environments.missing import NEVER

Random = np.random.Generator
GAME, DRAWS = 0, 1  # children of the seed of a repetition

BLOCK_ENTRIES = (
    2**17
)  # a megabyte of losses: it fits a processor's cache, and few blocks are needed
BLOCK_ROUNDS = 2**14


@dataclass(frozen=True)
class Span:
    """Consecutive rounds: `count` of them from the 0-based round `first`, in a game of `rounds`."""

    first: int
    count: int
    rounds: int

    @property
    def index(self) -> Counts:
        """The 0-based numbers of the rounds in the span."""
        return np.arange(self.first, self.first + self.count)


class LossProcess(Protocol):
    """A source of losses; `random` is False if the losses do not depend on the seed.

    Losses are in the range that the environment declares, [0, 1] if it declares none.

    `sampler` starts a new game. The function it returns is called with the spans of the game in
    order, from the first round on, and returns their losses as arrays of shape (count, arms).
    """

    @property
    def arms(self) -> int: ...

    @property
    def random(self) -> bool: ...

    def sampler(self, random: Random) -> Callable[[Span], Floats]: ...


class DelayProcess(Protocol):
    """A source of delays, each at least 0 or NEVER.

    The function that `sampler` returns is called with each span of a game and the losses of the
    span, in order, as the loss process gave them. It returns an array of shape (count, arms).
    """

    @property
    def random(self) -> bool: ...

    def sampler(self, random: Random) -> Callable[[Span, Floats], Counts]: ...


class AdviceProcess(Protocol):
    """A source of advice: what each of some policies advises in each round.

    The function that `sampler` returns is called with each span of a game, in order, and returns an
    array of shape (count, policies, arms): a distribution over the arms for each round and policy.
    """

    @property
    def policies(self) -> Sequence[str]: ...

    @property
    def random(self) -> bool: ...

    def sampler(self, random: Random) -> Callable[[Span], Floats]: ...


class ContextProcess(Protocol):
    """A source of contexts: what is known of each round before its arm is chosen.

    The function that `sampler` returns is called with each span of a game, in order, and returns an
    array with a row for each round. Its first columns are the `features` that learners see. Columns
    after these are hidden from learners; losses and delays may depend on them, as on the class of
    a picture.
    """

    @property
    def features(self) -> Sequence[str]: ...

    @property
    def random(self) -> bool: ...

    def sampler(self, random: Random) -> Callable[[Span], Floats]: ...


class DrawnLosses(NamedTuple):
    """Losses of shape (count, arms), and their means given the contexts."""

    losses: Floats
    means: Floats


class ContextualLosses(Protocol):
    """A source of losses that depend on contexts; `reads_contexts` is True.

    The function that `sampler` returns is called with each span of a game and its rows of contexts.
    """

    reads_contexts: bool

    @property
    def arms(self) -> int: ...

    @property
    def random(self) -> bool: ...

    def sampler(self, random: Random) -> Callable[[Span, Floats], DrawnLosses]: ...


class ContextualDelays(Protocol):
    """A source of delays that depend on contexts; `reads_contexts` is True.

    The function that `sampler` returns is called with each span of a game, its losses and its rows
    of contexts.
    """

    reads_contexts: bool

    @property
    def random(self) -> bool: ...

    def sampler(self, random: Random) -> Callable[[Span, Floats, Floats], Counts]: ...


class Block(NamedTuple):
    """A span with its losses and delays, which are arrays of shape (count, arms).

    `advice` has the shape (count, policies, arms); it is None if there are no policies. `contexts`
    has the shape (count, features), and `means` are the mean losses of all arms in these contexts;
    both are None if there are no contexts, and `means` also if no one knows them.
    """

    span: Span
    losses: Floats
    delays: Counts
    advice: Floats | None = None
    contexts: Floats | None = None
    means: Floats | None = None


@dataclass(frozen=True)
class Environment:
    """A source of games: processes that draw the losses and the delays of all arms in all rounds.

    Args:
        name: the name in tables and reports.
        losses: the process that draws the losses.
        delays: the process that draws the delays.
        rounds: the number of rounds of a game.
        labels: the names of the arms.
        shows: what the games demonstrate, in one sentence.
        prior: the prior of learners that use one; uniform if None.
        advice: the process that draws the advice of policies, if there are any.
        loss_range: the range (low, high) of the losses. Learners see losses in [0, 1]; regrets,
            bounds and tables are in the units of this range.
        default_loss: the loss, in [0, 1], of a play that is never reported, if that is known.
            Learners with an option of this name receive it.
        contexts: the process that draws the contexts, if there are any.
    """

    name: str
    losses: LossProcess | ContextualLosses
    delays: DelayProcess | ContextualDelays
    rounds: int
    labels: Sequence[str] = ()
    shows: str = ""
    prior: Sequence[float] | None = None
    advice: AdviceProcess | None = None
    loss_range: Sequence[float] = (0.0, 1.0)
    default_loss: float | None = None
    contexts: ContextProcess | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", as_count(self.rounds, "rounds", 1, MOST_ROUNDS))
        labels = tuple(map(str, self.labels)) or tuple(str(i + 1) for i in range(self.arms))
        if len(labels) != self.arms:
            raise ValueError(
                f"there are {len(labels)} labels; there must be one for each of {self.arms} arms"
            )
        twice = [label for label in labels if labels.count(label) > 1]
        if twice:
            raise ValueError(f"two arms are called {twice[0]!r}; each must have a label of its own")
        object.__setattr__(self, "labels", labels)
        units = as_range(self.loss_range)
        object.__setattr__(self, "loss_range", (units.low, units.high))
        if self.prior is not None:
            object.__setattr__(self, "prior", checked_prior(self.prior, self.arms))

    @property
    def arms(self) -> int:
        """K, the number of arms."""
        return self.losses.arms

    @functools.cached_property
    def units(self) -> LossRange:
        """The range of the losses, which converts them to [0, 1] and sums back."""
        return as_range(self.loss_range)

    @property
    def random(self) -> bool:
        """Whether the game depends on the seed."""
        processes = (self.losses, self.delays, self.advice, self.contexts)
        return any(each is not None and each.random for each in processes)

    @property
    def policies(self) -> tuple[str, ...]:
        """The names of the policies that give advice; empty if there are none."""
        return () if self.advice is None else tuple(self.advice.policies)

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the numbers of a context; empty if there are no contexts."""
        return () if self.contexts is None else tuple(self.contexts.features)

    @property
    def entries(self) -> int:
        """How many losses, probabilities and features a round has."""
        return self.arms * (1 + len(self.policies)) + len(self.features)

    def spans(self) -> Iterator[Span]:
        """All rounds, cut into spans whose losses fit a processor's cache."""
        size = max(1, min(BLOCK_ROUNDS, BLOCK_ENTRIES // self.entries))
        for first in range(0, self.rounds, size):
            yield Span(first, min(size, self.rounds - first), self.rounds)

    def blocks(self, seed: np.random.SeedSequence) -> Iterator[Block]:
        """The game of this seed, block by block."""
        for drawn in self.drawn(seed):
            means = None if drawn.means is None else self.units.unit_losses(drawn.means)
            yield drawn._replace(losses=self.units.unit_losses(drawn.losses), means=means)

    def drawn(self, seed: np.random.SeedSequence) -> Iterator[Block]:
        """The game of this seed, block by block, with losses in the environment's own range."""
        processes: Sequence[Any] = (self.losses, self.delays, self.advice, self.contexts)
        draw_losses, draw_delays, advise, draw_contexts = (
            None if process is None else process.sampler(np.random.default_rng(branch(seed, n)))
            for n, process in enumerate(processes)
        )
        for span in self.spans():
            rows = None if draw_contexts is None else draw_contexts(span)
            drawn = called(self.losses, draw_losses, rows, span)
            losses, means = drawn if isinstance(drawn, DrawnLosses) else (drawn, None)
            delays = called(self.delays, draw_delays, rows, span, losses)
            advice = None if advise is None else advise(span)
            seen = None if rows is None else np.ascontiguousarray(rows[:, : len(self.features)])
            block = Block(span, losses, delays, advice, seen, means)
            self._check(block)
            yield block

    def _check(self, block: Block) -> None:
        """Check what compiled code relies on, since a user may have written the processes."""
        span, shape = block.span, (block.span.count, self.arms)
        for name, table in (("losses", block.losses), ("delays", block.delays)):
            if table.shape != shape:
                raise ValueError(
                    f"{name} of rounds {span.first + 1} to {span.first + span.count} have the "
                    f"shape {table.shape}; there must be one for each round and arm, {shape}"
                )
        if block.delays.min() < NEVER:
            raise ValueError(
                f"a delay is {block.delays.min()}; it must be at least 0, or {NEVER} for never"
            )
        if block.advice is not None:
            self._check_advice(span, block.advice)
        if block.contexts is not None:
            self._check_contexts(span, block.contexts)

    def _check_advice(self, span: Span, advice: Floats) -> None:
        """Check that there is a distribution over the arms for each round and policy."""
        shape = (span.count, len(self.policies), self.arms)
        if advice.shape != shape:
            raise ValueError(
                f"advice has the shape {advice.shape}; it must be {shape}, with a probability for "
                "each round, policy and arm"
            )
        if not ((advice >= 0.0).all() and (abs(advice.sum(axis=2) - 1.0) <= SUMS_TO_ONE).all()):
            raise ValueError("advice is no distribution over the arms in some round")

    def _check_contexts(self, span: Span, contexts: Floats) -> None:
        """Check that there is a finite number for each round and feature."""
        shape = (span.count, len(self.features))
        if contexts.shape != shape:
            raise ValueError(
                f"contexts have the shape {contexts.shape}; they must have a number for each round "
                f"and feature, {shape}"
            )
        if not np.isfinite(contexts).all():
            t, i = np.argwhere(~np.isfinite(contexts))[0]
            raise ValueError(
                f"feature {self.features[i]!r} is {contexts[t, i]} in round {span.first + t + 1}; "
                "it must be finite"
            )


def called(process: Any, draw: Any, rows: Floats | None, *given: Any) -> Any:
    """What a process draws, which is given the rows of contexts if it reads them."""
    return draw(*given, rows) if getattr(process, "reads_contexts", False) else draw(*given)


def repetition_seed(seed: int, repetition: int) -> np.random.SeedSequence:
    """Return the seed of one repetition; it does not depend on the number of repetitions."""
    return np.random.SeedSequence(seed, spawn_key=(repetition,))


def game_seed(seed: int, repetition: int = 0) -> np.random.SeedSequence:
    """Return the seed of a comparison's game: the child 0 of its repetition's seed.

    From it losses are drawn with child 0, delays with child 1, advice with 2, contexts with 3.
    """
    return branch(repetition_seed(seed, repetition), GAME)


def draws_seed(seed: int, repetition: int = 0) -> np.random.SeedSequence:
    """Return the seed of the arms that learners draw in a repetition: child 1 of its seed."""
    return branch(repetition_seed(seed, repetition), DRAWS)


def branch(seed: np.random.SeedSequence, number: int) -> np.random.SeedSequence:
    """The child seed with this number; unlike `spawn`, repeated calls return the same child."""
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, number))
