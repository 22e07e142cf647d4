"""A learner and a scenario for belated, named in the entry points of this package.

- `boltzmann`: the learner, Boltzmann exploration with losses that arrive late
- `scenario`: the scenario, two coffee machines
"""
