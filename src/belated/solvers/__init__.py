"""The argmin of eq:frameworkprediction for each learner of the paper: fast solvers and safe ones."""
