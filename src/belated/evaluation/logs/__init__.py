"""Logs of decisions of every kind, each read into one record, the `Journal`.

Modules further down import only those above them.

- `journal_columns`: the columns of a log, each value checked
- `journal_arms`: the arms of a log, their probabilities, and when they could be chosen
- `decision_service_lines`, `vowpal_text`, `open_bandit`: the formats of other programs
- `log_formats`: the columns of a log in a file or in memory, whatever its format is
- `journal`: decisions and what has been told of them
- `log_sources`: `read_log`, which reads a journal from anywhere, a running service included
"""
