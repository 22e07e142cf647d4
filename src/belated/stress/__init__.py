"""Searching for the games in which a learner does worst."""
