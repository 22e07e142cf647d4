"""Stress: searching for the games in which a learner does worst.

- `stress`: the search as a whole, and its result.
- `objectives`: the value that the search maximises, such as regret over bound.
- `mutations`: the random games that the search begins with, and small changes of a game.
- `annealing`: one restart, which improves a game step by step.
- `restart_runner`: the restarts, one after the other or in several processes.
- `hard_games`: a game that a restart has found, and the file from which it can be replayed.
"""
