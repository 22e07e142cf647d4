"""Learners that are told the loss of every arm, from the literature.

- `anytime_hedge`: "anytime-hedge", exponential weights for any number of rounds, without delays.
- `adahedge`: "adahedge", exponential weights that find their rate from their own plays.
- `delayed_hedge`: "hedge", exponential weights at one rate tuned to the delays.
- `adaptive_hedge`: "adaptive-hedge", exponential weights whose rate follows the missing counts.
- `delayed_ogd`: "delayed-ogd", gradient descent on the simplex, one step for all that has arrived.
- `zinkevich_ogd`: "zinkevich-ogd", gradient descent for a constant delay.
- `msmwc`: "msmwc", multiplicative weights with a rate of its own for every arm.
- `leading_expert`: "leading-expert", all weight on the smallest mean loss so far.
- `simplex`: the nearest distribution to a vector, for gradient descent.
"""
