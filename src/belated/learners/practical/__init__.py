"""Our own learners: nothing need be known beforehand."""
