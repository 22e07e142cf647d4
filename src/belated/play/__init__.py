"""Playing a learner through a game, round by round.

A game is played in stretches of rounds, by a compiled loop or by a readable one; both follow the
order of Algorithm 1 and give the same result. Importing most of these modules imports numba.

- `game`: a game of an environment for one seed, with the missing counts of every round.
- `calendar`: a queue of entries by the round in which they are due, in constant time per entry.
- `delivery`: when a learner is told what has arrived (on arrival, padded, in order, windowed).
- `engine`: the compiled loop, one for every kind of learner.
- `played_weights`: the refusal of weights that are no distribution.
- `readable`: the readable loop, which also plays learners written in plain Python.
- `trace`: the record of a run, with sums at the checkpoints.
"""
