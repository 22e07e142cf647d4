"""The argmin of eq:frameworkprediction for the learners of the paper, by fast and by safe solvers."""
