"""Bandits against losses that an adversary may choose, by exponential weights and their relatives.

- `exp3`: "exp3", exponential weights of importance-weighted losses, in the order of arrival.
- `exp3_ix`: "exp3-ix", Exp3 with implicit exploration.
- `exp3p`: "exp3p", Exp3 with a bonus for arms that are seldom played.
- `dew`: "dew", Exp3 at one rate tuned to the total delay.
- `dew_skipping`: "dew-skipping", the same without the losses that take too long.
- `bistritz`: "bistritz", Exp3 tuned to the horizon and the total delay.
- `coop_exp3`: "coop-exp3", Exp3 that holds every loss until one common delay is over.
- `gyorgy_joulani`: "gyorgy-joulani", Exp3 whose rate follows the plays under way.
- `gyorgy_joulani_ix`: "gyorgy-joulani-ix", the same with implicit exploration.
- `composite_loss`: "composite-loss", Exp3 for anonymous feedback.
- `log_barrier`: "log-barrier", regularized by the log barrier, for games with a very good arm.
- `fpl_trix`: "fpl-trix", the perturbed leader with truncated perturbations.
- `perturbed_leader`: the probabilities that a perturbed leader plays.
"""
