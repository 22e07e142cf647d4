"""Measure 7: how many passes over the arms a solution takes."""

from collections.abc import Iterator

from belated.solvers.multiplier import MOST_STEPS
from benchmarks.measure import PASSES, Effort, Result, at_most, exactly
from benchmarks.workload import engine_run, game_of, learner_of, long_stretches, part_of

LEARNERS = ("concealed", "partially-concealed", "full-information")
ROUNDS = {2: 5_000, 10: 5_000, 100: 3_000, 1000: 1_500, 10_000: 300}
QUICK_ROUNDS = {2: 200, 10: 200, 100: 100}


def passes(effort: Effort) -> Iterator[Result]:
    """Measure 7: the mean and the largest number of passes over all rounds of a run."""
    for arms, rounds in effort.choose(ROUNDS, QUICK_ROUNDS).items():
        for name in LEARNERS:
            counts = counted(name, arms, rounds)
            mean = sum(counts) / len(counts)
            yield Result(f"{name}: mean", exactly(mean), PASSES, arms, at_most(2.0))
            yield Result(
                f"{name}: most", exactly(max(counts)), PASSES, arms, at_most(MOST_STEPS - 1)
            )


def counted(name: str, arms: int, rounds: int) -> list[int]:
    """Return the number of the solver's passes in each round."""
    game = game_of(arms)
    run = engine_run(learner_of(name, arms), game)
    counts: list[int] = []
    for stretch in long_stretches(game, min(rounds, 100)):
        for row in range(len(stretch.losses)):
            run.play(part_of(stretch, row, row + 1))
            counts.append(int(run.run.prediction.info.passes[0]))
        if len(counts) >= rounds:
            break
    return counts
