"""Several outcomes for one ticket: what they amount to, and those of tickets that are still open.

- `rules`: `OutcomeRule`, which makes one reward of named outcomes
- `named_tickets`: the named outcomes of the open tickets of a replica
"""
