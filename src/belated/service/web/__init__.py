"""The HTTP side of the decision service."""
