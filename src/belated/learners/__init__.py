"""One file a learner, and the registry of them all. Importing a learner imports numba."""
