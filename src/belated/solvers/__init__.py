"""The argmin of eq:frameworkprediction for the learners of the paper: fast solvers and safe ones."""
