"""Bandit learners for adversarial losses: exponential weights and related algorithms.

- `exp3`: "exp3", exponential weights on importance-weighted losses, used as they arrive.
- `exp3_ix`: "exp3-ix", Exp3 with implicit exploration.
- `exp3p`: "exp3p", Exp3 with a bonus for arms that are rarely played.
- `dew`: "dew", Exp3 with a constant learning rate tuned to the total delay.
- `dew_skipping`: "dew-skipping", DEW that ignores the losses with the longest delays.
- `bistritz`: "bistritz", Exp3 tuned to the horizon and the total delay.
- `coop_exp3`: "coop-exp3", Exp3 that holds every loss back until the maximum delay has passed.
- `gyorgy_joulani`: "gyorgy-joulani", Exp3 whose rate adapts to the number of outstanding plays.
- `gyorgy_joulani_ix`: "gyorgy-joulani-ix", delay-adaptive Exp3 with implicit exploration.
- `composite_loss`: "composite-loss", Exp3 for anonymous feedback.
- `log_barrier`: "log-barrier", FTRL with the log barrier, for games in which one arm is very good.
- `fpl_trix`: "fpl-trix", follow the perturbed leader with truncated perturbations.
- `perturbed_leader`: the probability with which a perturbed leader plays each arm.
"""
