"""Arithmetic that the kernels share: exact sums, vector lanes, the random stream, weights."""
