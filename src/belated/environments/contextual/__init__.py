"""Environments in which something is known of each round before its arm is chosen: a context.

- `drawn_contexts`: contexts drawn at random, from a table or as given.
- `mean_losses`: mean losses that depend on contexts, and coins with these means.
- `segment_delays`: delays that depend on contexts.
- `visitors`: scenarios with invented contexts and losses.
- `data_tables`, `classes`: scenarios with the contexts and classes of known data sets.
"""
