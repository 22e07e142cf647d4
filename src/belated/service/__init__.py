"""The decision service: ask now, tell later, lose nothing."""
