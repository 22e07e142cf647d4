"""Learners made of several copies of another learner, its base, so that no copy sees a delay.

Copies of any learner can be named: "bold-BASE" and "copies-BASE".

- `copies`: what both wrappers share: stacked states, and the class of copies over a base.
- `bold`: "bold-...", in which the first copy that waits for nothing plays.
- `rotating`: "copies-...", in which d + 1 copies take turns.
- `heap`: the smallest of many numbers, for the copies that are free.
"""
