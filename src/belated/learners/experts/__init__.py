"""Learners from the literature for full information, where the loss of every arm is observed.

- `anytime_hedge`: "anytime-hedge", exponential weights for any number of rounds, without delays.
- `adahedge`: "adahedge", exponential weights whose rate adapts to the losses observed.
- `delayed_hedge`: "hedge", exponential weights at a constant rate tuned to the delays.
- `adaptive_hedge`: "adaptive-hedge", exponential weights whose rate follows the missing counts.
- `centred_hedge`: "centred-hedge", the same with what is missing counted as 1/2.
- `delayed_ogd`: "delayed-ogd", gradient descent on the simplex, with one step per round.
- `zinkevich_ogd`: "zinkevich-ogd", gradient descent for a constant delay.
- `ada_delay`: "ada-delay", gradient descent whose steps shrink with the delay of the gradient.
- `adaptive_revision`: "adaptive-revision", a step for each arm, revised when losses come late.
- `delayed_dual_averaging`: "delayed-dual-averaging", steps from the gradients that overlapped.
- `delay_tolerant_hedge`: "delay-tolerant-hedge", Hedge with such a rate.
- `overlaps`: the account of gradients that were on their way together, for the last two.
- `prod`: "prod", weights that are multiplied by 1 - eta l.
- `multi_scale`: "multi-scale", exponential weights for arms of different ranges.
- `fpl`: "fpl", follow the perturbed leader, with the exact probabilities as weights.
- `dropout`: "dropout", follow the leader of losses that are dropped at random, likewise exact.
- `msmwc`: "msmwc", multiplicative weights with a rate of its own for every arm.
- `leading_expert`: "leading-expert", all weight on the arm of the smallest mean loss so far.
- `simplex`: the projection of a vector on the probability simplex, for gradient descent.
"""
