"""Adding up games and runs, and what theory says about them.

- `game_sums`: losses, missing losses and delays of every arm of a game, whatever is played.
- `waiting`: how many losses are missing, and for how long, by the way in which they are delivered.
- `regret`: regret, comparators, and the paper's balanced comparator.
- `theorems`: the right-hand sides of the paper's theorems and of their repairs.
- `bounds`: which theorem is about a learner in a game, and whether it holds there.
- `lower_bounds`: what no learner can do better, by order.
- `certificates`, `practical_certificate`, `run_certificates`: bounds that a finished run proves
  about its own regret.
- `statistics`: means with confidence intervals.
"""
