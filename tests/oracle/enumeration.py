"""All draws of a small game, each with its probability: expectations without sampling."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TypeVar

from .argmin import Number
from .script import Drawn

Learner = TypeVar("Learner", bound=Drawn)


def all_draws(
    learner: Learner, probability: Number = Fraction(1)
) -> Iterator[tuple[Number, Learner]]:
    """Every path through all rounds of the game, and the learner at its end."""
    if learner.round > learner.script.T:
        yield probability, learner
        return
    learner.start()
    for arm, chance in enumerate(learner.q[-1]):
        if chance > 0:
            twin = learner.fork()
            twin.play(arm)
            share = chance if probability == 1 else probability * chance
            yield from all_draws(twin, share)


def mean(paths: list[tuple[Number, Learner]], value: Callable[[Learner], Number]) -> Number:
    """The expectation of a value of the path."""
    return sum(probability * value(learner) for probability, learner in paths)
