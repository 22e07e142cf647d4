"""Families of worlds: each a named function that draws a world from a stream of random numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from belated.environments.environment import DelayProcess, LossProcess, Random
from belated.worlds.laws import DelayLaw


class Sketch(NamedTuple):
    """What a family draws: a world without its name.

    `says_losses`, `says_delays` and `says_silence` describe the world. `default_loss` is what a
    play without news counts as, if the world declares it to learners.
    """

    losses: LossProcess
    delays: DelayProcess
    rounds: int
    says_losses: str
    says_delays: str
    says_silence: str = "all losses come"
    default_loss: float | None = None


@dataclass(frozen=True)
class Family:
    """A family of worlds: its name, what its worlds have in common, and how one is drawn.

    The worlds of a family with `judge_only` belong to the judge set, whatever their number.
    """

    name: str
    shows: str
    draw: Callable[[Random], Sketch]
    judge_only: bool = False


def family(
    name: str, shows: str, judge_only: bool = False
) -> Callable[[Callable[[Random], Sketch]], Family]:
    """A decorator that makes a family of a function that draws a sketch."""
    return lambda draw: Family(name, shows, draw, judge_only)


def sketch(losses: LossProcess, says: str, delays: DelayLaw, rounds: int) -> Sketch:
    """Return the sketch of a world in which all losses come."""
    return Sketch(losses, delays.process, rounds, says, delays.says)
