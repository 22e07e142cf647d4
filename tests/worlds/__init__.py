"""Tests of random worlds."""
