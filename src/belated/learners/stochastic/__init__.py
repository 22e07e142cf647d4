"""Bandits for losses that are drawn from one law for each arm."""
