"""Playing learners against losses and delays, and accounting for the outcome."""
