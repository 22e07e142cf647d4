"""The domain of the decision service, without HTTP.

One thread owns the store and the replicas. It gathers requests, turns a batch of them into records,
commits the records, and then answers:

- `requests`: what the commit thread is asked to do, its queue, and the result of a report
- `commit_thread`: `CommitThread` gathers requests into batches and delivers the answers
- `batch`: `CommitBatch` turns a batch into journal records: here an ask becomes a decision
- `ticket_lookup`: what is known of the tickets in a batch before it is committed
- `reports`: reports as records of the journal, by the rules of `belated.asktell.ticket_rules`
- `told_values`: what was reported, in the user's units
- `late_reports`: reports of expired tickets, noted once each
- `expiry`, `clock`: when a ticket expires, by which clock, and with which outcome
- `replica`: `Replica`, a problem's learner as the fold of its journal
- `replicas`: all replicas: loaded from snapshots or checkpoints, kept up with the journal
- `snapshots`: a replica as bytes, for snapshots and checkpoints, and its fingerprint
- `snapshot_rounds`: when snapshots are taken, and the thread that writes them
- `problems`: the specification of a problem, checked, and `ServedProblem`
- `retained`: notes about tickets that are folded into a checkpoint
- `status`: active, paused, archived, and which changes are allowed
- `terms`: when tickets expire and with what, and which changes are allowed
- `arms`: `ArmHistory`, the present and former arms of a problem; draws from some of them
- `holdout`: a share of decisions that a control draws, for comparison with the learner
- `stats`: `ProblemStats`, the numbers that the dashboard shows
- `texts`: the rules for names, ids, keys and labels that come from outside
- `errors`: the errors that a request can end with
"""
