"""Experts that guess the losses that have not come yet (Flaspohler et al. 2021).

- `hints`: the guesses, and what they are made from.
- `optimistic_hedge`: the parts that "adahedged" and "dub" share.
- `adahedged`: "adahedged", AdaHedge for delayed losses.
- `dub`: "dub", a more cautious temperature, from the sizes of losses and errors alone.
- `regret_matching`: the parts that "dorm" and "dorm-plus" share.
- `dorm`: "dorm", weights in proportion to the positive regrets.
- `dorm_plus`: "dorm-plus", the same with negative regret forgotten.
"""
