"""What a game and a run amount to: sums over a game, regret, theorems, bounds, certificates."""
