"""Learners made of several copies of another learner."""
