"""Asks of the decision service, and of nothing at all: apps, and clients that wait."""
