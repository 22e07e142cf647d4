"""The paper's three learners."""
