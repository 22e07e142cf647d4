"""Stress: searching for the games in which a learner does worst.

- `stress`: the search as a whole, and its result.
- `objectives`: what is maximised, such as regret over bound.
- `mutations`: random games to begin with, and small changes of a game.
- `annealing`: one restart, which improves a game step by step.
- `restart_runner`: the restarts, one after the other or in several processes.
- `hard_games`: what a restart has found, and the file from which it can be replayed.
"""
