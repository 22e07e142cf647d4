"""Replaying a learner along losses, delays and plays that are given.

- `case_values`: the values of a case's JSON object, each checked.
- `trust_case`: certified trust along the given weights and plays of a game.
- `case`: the JSON format of one game with its plays, and the learner that it names.
- `replay`: plays a learner through a case and keeps all its predictions.
- `game_replay`: any learner along a game, with the arms that are given or drawn.
- `decomposition`: the decomposition of the regret of a case as in eq:decomp.
- `logs`: logs of decisions that another program made, read from CSV and Parquet files.
- `log_replay`: the predictions that a learner would have made along a log.
"""
