"""Replaying a learner along losses, delays and plays that are given.

- `case`: the JSON format of one game with its plays, every value checked.
- `replay`: a learner along a case, with all its predictions.
- `decomposition`: the regret of a case taken apart as in eq:decomp.
- `logs`: logs of decisions that another program made, read from CSV and Parquet files.
- `log_replay`: what a learner would have predicted along a log.
"""
