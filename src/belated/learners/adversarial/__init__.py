"""Bandits against losses that anybody may choose."""
