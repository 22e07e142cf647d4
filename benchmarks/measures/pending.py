"""Measure 9: the cost of a round by the number of pending losses."""

from collections import deque
from collections.abc import Iterator

from belated import ConcealedBandit
from benchmarks.measure import Effort, Result, at_most
from benchmarks.timing import Contestant, Race, race, sized
from benchmarks.workload import SEED, engine_run, game_of, learner_of, long_stretches

ARMS = 10
MOST = 1_000_000  # max_missing, the same for all contestants


class Waiting:
    """A bandit with a fixed number of open tickets: a round opens one and reports the oldest."""

    def __init__(self, tickets: int) -> None:
        self.bandit = ConcealedBandit(ARMS, max_missing=MOST, seed=SEED)
        self.open = deque(self.bandit.ask() for _ in range(tickets))

    def __call__(self, count: int) -> None:
        ask, tell, tickets = self.bandit.ask, self.bandit.tell, self.open
        for _ in range(count):
            tickets.append(ask())
            tell(tickets.popleft(), 0.5)


class Delayed:
    """The concealed learner in the engine, in a game in which every loss has the given delay."""

    def __init__(self, delay: int, batch: int, rounds: int) -> None:
        game = game_of(ARMS, rounds, delay)
        self.run = engine_run(learner_of("concealed", ARMS, MOST), game)
        self.stretches = long_stretches(game, batch)

    def draw(self) -> None:
        """Draw the next batch."""
        self.stretch = next(self.stretches)

    def __call__(self, count: int) -> None:
        self.run.play(self.stretch)


def pending(effort: Effort) -> Iterator[Result]:
    """Measure 9: time all in turns, and compare each with the one of the fewest pending losses."""
    counts = effort.choose((10, 1_000, 100_000), (10, 1_000))
    yield from compared("ask + tell", tickets_pending(counts, effort), counts)
    yield from compared("engine round", losses_pending(counts, effort), counts)


def tickets_pending(counts: tuple[int, ...], effort: Effort) -> Race:
    """Time rounds of ask and tell with these numbers of open tickets."""
    seconds = effort.choose(0.03, 0.002)
    contestants = [sized(str(count), Waiting(count), seconds) for count in counts]
    return race(contestants, effort.turns)


def losses_pending(counts: tuple[int, ...], effort: Effort) -> Race:
    """Time rounds of the engine with these delays, after as many rounds as the delay."""
    batch = effort.choose(5_000, 200)
    skipped = -(-2 * max(counts) // batch)
    rounds = (skipped + effort.turns + 1) * batch + max(counts)
    games = {str(delay): Delayed(delay, batch, rounds) for delay in counts}

    def draw() -> None:
        for game in games.values():
            game.draw()

    for _ in range(skipped):
        draw()
        for game in games.values():
            game(batch)
    return race([Contestant(name, game, batch) for name, game in games.items()], effort.turns, draw)


def compared(what: str, result: Race, counts: tuple[int, ...]) -> Iterator[Result]:
    """Yield the ratios to the time with the fewest pending losses."""
    least = str(counts[0])
    for count in map(str, counts[1:]):
        yield Result(
            f"{what}, {int(count):,} pending",
            result.ratio(count, to=least),
            arms=ARMS,
            goal=at_most(1.3),
            ours=result.time(count),
            rival=result.time(least),
        )
