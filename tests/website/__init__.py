"""Tests of the docs as a site."""
