"""Experts that guess the losses that have not come yet."""
