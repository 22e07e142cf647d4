"""Sweeps: grids of runs on all cores or on a Dask cluster, each stored when it is done."""
