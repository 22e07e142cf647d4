"""Learners that are told the loss of every arm."""
