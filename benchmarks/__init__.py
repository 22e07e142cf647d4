"""python -m benchmarks: how long things take, beside what others take, in one process."""
