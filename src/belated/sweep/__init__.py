"""Sweeps: grids of runs on all cores or on a Dask cluster, each stored when it is done.

- `grid`: every scenario with every learner, option and seed, each run with a key.
- `sweep`: carries out what is not stored yet, and makes the table.
- `sweep_store`: the SQLite file that keeps finished runs.
- `workers`: the processes or the executor that runs are handed to.
"""
