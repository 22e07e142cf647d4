"""Plays several games for one command, with progress bars; an interrupt keeps finished games."""

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

import click

from belated.cli.console import one_line_errors, progress_of

if TYPE_CHECKING:
    from belated.comparison.contenders import Contender
    from belated.comparison.result import Comparison
    from belated.environments.environment import Environment

Progress = Callable[[int, int], None]


class Named(Protocol):
    """An object with a name that can be shown."""

    @property
    def name(self) -> str: ...


Game = TypeVar("Game", bound=Named)
Result = TypeVar("Result")


def play_all(
    games: Sequence[Game], play: Callable[[Game, Progress], Result], plural: str
) -> list[Result]:
    """Play all games in order and return their results; an interrupt keeps the finished ones."""
    results: list[Result] = []
    for number, game in enumerate(games, 1):
        title = f"{game.name} ({number} of {len(games)})" if len(games) > 1 else game.name
        try:
            with one_line_errors(), progress_of(title) as progress:
                results.append(play(game, progress))
        except KeyboardInterrupt:
            done = f"{len(results)} of {len(games)} {plural} are complete"
            click.echo(f"Interrupted; {done}, and what is complete is kept.", err=True)
            break
    return results


def compare_all(
    games: "Sequence[Environment]",
    contenders: "Sequence[Contender]",
    repetitions: int,
    seed: int,
    workers: int | None,
    keep_partial: bool = False,
) -> "list[Comparison]":
    """Compare the contenders on all games; after an interrupt, return the complete comparisons.

    With `keep_partial` the comparison that was interrupted is kept too, with the repetitions that
    it has completed.
    """
    from belated.comparison.compare import compare

    partial: list[Comparison] = []

    def play(game: "Environment", progress: Progress) -> "Comparison":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # faults are printed below, and play_all says the rest
            result = compare(contenders, game, repetitions, seed, workers, progress)
        if not result.complete:
            partial.append(result)
            raise KeyboardInterrupt
        return result

    complete = play_all(games, play, "scenarios")
    kept = [*complete, *partial] if keep_partial else complete
    for comparison in kept:
        for fault in comparison.faults():
            click.echo(f"Warning: {fault}.", err=True)
    return kept
