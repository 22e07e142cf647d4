"""Work beside the requests, in small pieces: what is old is folded, archived and deleted.

- `retention`: folds old tickets into checkpoints, and deletes what is not needed any more
- `sealing`: gives a problem a checkpoint and keeps its rows, so that contexts can be blanked
- `archive`: rows of the journal as Parquet files
"""
