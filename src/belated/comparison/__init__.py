"""Comparing several learners on the same games."""
