"""Bandits with the Tsallis entropy."""
