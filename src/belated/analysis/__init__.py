"""Sums over games and runs, and the bounds that theory states about their regret.

- `game_sums`: losses, missing losses and delays of every arm of a game, whatever is played.
- `contextual_goals`: what policies that see the contexts of a game would have lost in it.
- `waiting`: how many losses are missing, and for how long, for each way of delivery.
- `regret`: regret, comparators, and the paper's balanced comparator.
- `theorems`: the right-hand sides of the paper's theorems and of their repairs.
- `bounds`: the theorem that applies to a learner in a game, and whether its conditions are met.
- `policy_bounds`: what the theorems about policies say of the regret against arms.
- `lower_bounds`: the order of the regret that no learner can avoid.
- `certificates`, `run_certificates`: bounds that a finished run proves about its own regret.
- `statistics`: means with confidence intervals.
"""
