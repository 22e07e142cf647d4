"""How well policies are evaluated where the truth is known: `python -m studies evaluation`.

`late_logs` simulates logs, `coverage` has the table of corrections and the coverage of intervals,
`service_journals` lets the decision service write its own journals, and `command` is the command.
"""
