"""The fast twins: compiled solvers and the random stream. Importing them imports numba."""
