"""Measure 7: how many passes over the arms a solution takes, and how exact it is."""

from collections.abc import Iterator

from belated.solvers.multiplier import MOST_STEPS
from benchmarks.measure import ERROR, PASSES, Effort, Result, at_most, exactly
from benchmarks.reference import relative_error
from benchmarks.workload import engine_run, game_of, learner_of, long_stretches, part_of

LEARNERS = ("concealed", "partially-concealed", "full-information")
ROUNDS = {2: 5_000, 10: 5_000, 100: 3_000, 1000: 1_500, 10_000: 300}
QUICK_ROUNDS = {2: 200, 10: 200, 100: 100}
CHECKED = 20  # rounds of a run


def passes(effort: Effort) -> Iterator[Result]:
    """Every round of a run from its start is counted; some are solved again by plain means."""
    for arms, rounds in effort.choose(ROUNDS, QUICK_ROUNDS).items():
        for name in LEARNERS:
            counts, worst = counted(name, arms, rounds)
            mean = sum(counts) / len(counts)
            yield Result(f"{name}: mean", exactly(mean), PASSES, arms, at_most(2.0))
            yield Result(
                f"{name}: most", exactly(max(counts)), PASSES, arms, at_most(MOST_STEPS - 1)
            )
            yield Result(f"{name}: error of q", exactly(worst), ERROR, arms, at_most(1e-12))


def counted(name: str, arms: int, rounds: int) -> tuple[list[int], float]:
    """The passes of each round, and the largest relative error of a weight where checked."""
    game, learner = game_of(arms), learner_of(name, arms)
    run = engine_run(learner, game)
    counts: list[int] = []
    worst = 0.0
    for stretch in long_stretches(game, min(rounds, 100)):
        for row in range(len(stretch.losses)):
            if len(counts) % max(1, rounds // CHECKED) == 0:
                prediction = learner.predict(run.run.state)
                worst = max(worst, relative_error(learner, run.run.state, prediction))
            run.play(part_of(stretch, row, row + 1))
            counts.append(int(run.run.prediction.info.passes[0]))
        if len(counts) >= rounds:
            break
    return counts, worst
