"""Comparing several learners on the same games.

- `compare`: plays all learners on all repetitions, in threads.
- `threads`: jobs in threads, which an interrupt ends early.
- `contenders`: the learners of a comparison, each named with its options and built for a game.
- `result`: the `Comparison`, with regrets, bounds and tables.
- `seeds`: the seeds of repetitions, games and draws.
- `observed_runs`: a run of a learner round by round, played once more.
- `segments`: regret by segment of the contexts.
- `model_checks`: what models foretold against what came, and what silence says in them.
- `table`: rows of plain values, shown, saved, and read by other programs.
- `drawing`: loads the functions of `belated.report` that draw a comparison.
"""
