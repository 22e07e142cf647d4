"""Optimistic learners for full information, which guess the losses that are still missing.

The algorithms are from Flaspohler et al. 2021.

- `hints`: the guesses, called hints, and the data from which they are computed.
- `optimistic_hedge`: the parts that "adahedged" and "dub" share.
- `adahedged`: "adahedged", AdaHedge for delayed losses.
- `dub`: "dub", Hedge with a larger temperature, from the sizes of losses and hint errors alone.
- `regret_matching`: the parts that "dorm" and "dorm-plus" share.
- `dorm`: "dorm", weights in proportion to the positive parts of the regrets.
- `dorm_plus`: "dorm-plus", regret matching that sets negative regrets to zero.
"""
