"""Comparing several learners on the same games.

- `compare`: plays all learners on all repetitions, in threads.
- `threads`: jobs in threads, which an interrupt ends early.
- `contenders`: the learners of a comparison, each named with its options and built for a game.
- `result`: the `Comparison`, with regrets, bounds and tables.
- `observed_runs`: a run of a learner round by round, played once more.
- `segments`: regret by segment of the contexts.
- `model_checks`: what models foretold against what came, and what silence says in them.
- `table`: rows of plain values, shown, saved, and read by other programs.
- `summary`: the rows that terminals, reports and papers show, ranked by `feedback`.
- `digits`: one number of decimals for all numbers of a column.
- `run_environment`: when and where a comparison was made.
- `drawing`: loads the functions of `belated.report` that draw a comparison.
"""
