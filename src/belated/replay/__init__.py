"""Replaying a learner along given losses, delays and plays."""
