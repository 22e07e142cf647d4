"""Ask for a decision, tell its outcome whenever it comes."""
