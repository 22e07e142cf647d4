"""Sweeps: grids of runs on all cores or on a Dask cluster, each stored when it is done.

- `grid`: the runs of a sweep: every scenario with every learner, option and seed, each with a key.
- `sweep`: makes the runs that are not stored yet, and the table of all runs.
- `sweep_store`: the SQLite file that keeps finished runs.
- `workers`: the processes or the executor that runs are submitted to.
"""
