"""The practical learners and the paper's three learners play a game in which feedback comes late.

A shop shows one of four ads to each visitor. A coffee is bought at once or never, a car after many
other visitors have come and gone; the loss of a visit is 1 unless the ad led to a sale. Every
learner plays the same visitors, and each is told only what its setting allows.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import belated
from belated.environments.missing import missing_counts

ADS = ["coffee", "shoes", "phone", "car"]
SALES = np.array([0.2, 0.3, 0.4, 0.6])  # how often each ad leads to a sale
DELAYS = np.array([0, 2, 8, 20])  # after about how many visitors the outcome is known
ROUNDS = 20_000
SEED = 7


@dataclass
class Game:
    """Losses and delays of every ad for every visitor, drawn before the first one comes."""

    losses: NDArray[np.float64]
    delays: NDArray[np.int64]
    missing: NDArray[np.int64]

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> "Game":
        losses = (rng.random((ROUNDS, len(ADS))) >= SALES).astype(float)
        delays = rng.binomial(2 * DELAYS, 0.5, size=(ROUNDS, len(ADS)))
        return cls(losses, delays, missing_counts(delays))

    def arrivals(self) -> list[list[tuple[int, int]]]:
        """List, for each visitor, the (visitor, ad) pairs whose outcome is known after them."""
        known: list[list[tuple[int, int]]] = [[] for _ in range(ROUNDS)]
        for (t, arm), delay in np.ndenumerate(self.delays):
            if t + delay < ROUNDS:
                known[t + delay].append((t, arm))
        return known


def experts(
    game: Game, make: Callable[[], belated.Experts | belated.DelayedExperts]
) -> Iterator[float]:
    """Play with full information: the outcome of every ad is told when it is known."""
    learner, tickets = make(), []
    for t, known in enumerate(game.arrivals()):
        ticket = learner.ask()
        tickets.append(ticket)
        assert ticket.weights is not None
        yield sum(ticket.weights[ad] * game.losses[t, i] for i, ad in enumerate(ADS))
        for s, arm in known:
            learner.tell(tickets[s], {ADS[arm]: game.losses[s, arm]})


def partially_concealed(game: Game) -> Iterator[float]:
    """Play a bandit that is told the outcome of the ad shown, and how many of it were missing."""
    most = int(game.missing.max())
    learner = belated.PartiallyConcealedBandit(ADS, horizon=ROUNDS, max_missing=most, seed=SEED)
    tickets = []
    for t, known in enumerate(game.arrivals()):
        ticket = learner.ask()
        tickets.append(ticket)
        yield float(game.losses[t, ADS.index(ticket.arm)])
        for s, arm in known:
            if tickets[s].arm == ADS[arm]:
                missing = int(game.missing[s, arm])
                learner.tell(tickets[s], loss=game.losses[s, arm], missing=missing)


def concealed(
    game: Game, make: Callable[[int], belated.Bandit | belated.ConcealedBandit]
) -> Iterator[float]:
    """Play a bandit that is told the outcome of the ad shown, and nothing else."""
    learner, tickets = make(int(game.missing.max())), []
    for t, known in enumerate(game.arrivals()):
        ticket = learner.ask()
        tickets.append(ticket)
        yield float(game.losses[t, ADS.index(ticket.arm)])
        for s, arm in known:
            if tickets[s].arm == ADS[arm]:
                learner.tell(tickets[s], loss=game.losses[s, arm])


PLAYERS: dict[str, tuple[str, Callable[[Game], Iterator[float]]]] = {
    "practical experts": (
        "every ad's outcome",
        partial(experts, make=lambda: belated.Experts(ADS, seed=SEED)),
    ),
    "practical bandit": (
        "the shown ad's, nothing else",
        partial(concealed, make=lambda most: belated.Bandit(ADS, seed=SEED)),
    ),
    "experts": (
        "every ad's outcome",
        partial(experts, make=lambda: belated.DelayedExperts(ADS, horizon=ROUNDS, seed=SEED)),
    ),
    "partially concealed": ("the shown ad's, what is missing", partially_concealed),
    "concealed": (
        "the shown ad's, nothing else",
        partial(
            concealed,
            make=lambda most: belated.ConcealedBandit(ADS, max_missing=most, seed=SEED),
        ),
    ),
}


def played(game: Game, console: Console) -> dict[str, NDArray[np.float64]]:
    """Play every learner, with a progress bar, and return its losses in every round."""
    losses = {name: np.empty(ROUNDS) for name in PLAYERS}
    with Progress(console=console, transient=True) as progress:
        for name, (_, play) in PLAYERS.items():
            task = progress.add_task(f"{name} (first compiled, if new)", total=ROUNDS)
            for t, loss in enumerate(play(game)):
                losses[name][t] = loss
                progress.advance(task)
    return losses


def main() -> None:
    """Play the game and print how much each learner sold."""
    console = Console()
    game = Game.drawn(np.random.default_rng(SEED))
    table = Table(title=f"Sales for 100 visitors, {ROUNDS:,} visitors in all", title_justify="left")
    table.add_column("learner")
    table.add_column("is told, late")
    for column in ("first 1000", "last 1000", "all"):
        table.add_column(column, justify="right")
    for name, losses in played(game, console).items():
        table.add_row(name, PLAYERS[name][0], *(sales(losses[part]) for part in PARTS))
    table.add_section()
    table.add_row("chance", "nothing (a random ad)", *(sales(game.losses[part]) for part in PARTS))
    best = int(game.losses.sum(axis=0).argmin())
    row = (sales(game.losses[part, best]) for part in PARTS)
    table.add_row(f"always {ADS[best]!r}", "the answer, beforehand", *row)
    console.print(table)
    console.print(
        f"The best ad, {ADS[best]!r}, is the slowest: its outcome is known about "
        f"{DELAYS[best]} visitors later.\n"
        "The practical learners must know nothing beforehand; the paper's are cautious, since\n"
        "their proofs hold for any delays, and the partially concealed one is the most so."
    )


PARTS = (slice(0, 1000), slice(ROUNDS - 1000, ROUNDS), slice(0, ROUNDS))


def sales(losses: NDArray[np.float64]) -> str:
    """Return the sales per 100 visitors as text."""
    return f"{100.0 * (1.0 - losses.mean()):.1f}"


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
