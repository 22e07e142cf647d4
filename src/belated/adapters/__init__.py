"""Belated in other libraries, and their learners in belated; each module needs its library only.

- `gymnasium`: our games as environments, and our bandits as agents (extra `gymnasium`)
- `river`: our bandits as policies of River, and River's policies as learners (extra `river`)
- `optuna`: a sampler of categorical parameters (extra `optuna`)
- `mabwiser`: a class with the methods of MABWiser's `MAB`; it does not need MABWiser
- `obp`: policies for simulations of the Open Bandit Pipeline, and logs for its estimators
- `poold`: our experts with the methods of a learner of PoolD, and its learners in our games
- `hosted`: bandits for programs that draw arms, or report losses, in their own way
"""
