"""Wrappers: learners made of several copies of a base learner, so that no copy sees a delay.

The names "bold-BASE" and "copies-BASE" wrap the learner named BASE.

- `copies`: what both wrappers share: stacked states, and how a wrapper class is made for a base.
- `bold`: "bold-...", in which the first copy that waits for no loss plays.
- `rotating`: "copies-...", in which d + 1 copies take turns.
- `heap`: a heap of whole numbers, which finds the lowest free copy.
"""
