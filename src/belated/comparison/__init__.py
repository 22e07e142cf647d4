"""Comparing several learners on the same games.

- `compare`: plays all learners on all repetitions, in threads.
- `contenders`: learners named with their options, and built for a game.
- `result`: the `Comparison`, with regrets, bounds and tables.
- `table`: rows of plain values, shown, saved, and read by other programs.
- `drawing`: the seam to `belated.report`, which draws a comparison.
"""
